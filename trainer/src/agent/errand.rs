//! Asking until there is an answer.

use std::{sync::Arc, time::Duration};

use client::{Backoff, Clock, Dice, Error};

use super::{halt::Halt, lease::Lease, screen::Screen, wish::Wish};

/// The shortest and the longest wait.
const WAITS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(2));

/// A file that came with another hash so often is not the network's fault.
const MOST_WRONG_FILES: u32 = 5;

/// One question, asked as often as it takes.
pub(super) struct Errand<'a> {
    wish: &'a Wish,
    clock: &'a Arc<dyn Clock>,
    screen: &'a mut Screen,
    backoff: Backoff,
}

impl<'a> Errand<'a> {
    pub(super) fn new(wish: &'a Wish, clock: &'a Arc<dyn Clock>, screen: &'a mut Screen) -> Self {
        // Many who lost the same coordinator shall not come back at the same moment.
        let dice = Dice::new(getrandom::u64().unwrap_or_default());
        Self { wish, clock, screen, backoff: Backoff::new(WAITS.0, WAITS.1, dice) }
    }

    /// Asks until there is an answer, as long as a training is not lost in the meantime.
    pub(super) fn of<T>(&mut self, lease: Option<&Lease>, ask: impl Fn() -> Result<T, Error>) -> Result<T, Halt> {
        let mut wrong_files = 0;
        loop {
            match lease {
                Some(lease) => lease.check(self.wish)?,
                None if self.wish.is_stop() => return Err(Halt::Stopped),
                None => {}
            }
            let error = match ask() {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            wrong_files += u32::from(matches!(error, Error::WrongBytes { .. }));
            if !error.may_pass() || wrong_files >= MOST_WRONG_FILES {
                return Err(Halt::of(error));
            }
            let wait = self.backoff.after_failure(error.again_after());
            self.screen.state(&format!("again in {} s: {error}", wait.as_secs().max(1)));
            self.wish.wait(&**self.clock, wait)?;
        }
    }
}
