//! Sleep of the machine. The monotonic clock stands still meanwhile, and the server's does not.

use std::{sync::Arc, time::Duration};

use client::Clock;

use super::state::Work;

/// Less is a correction of the wall clock.
const MIN_SLEEP: Duration = Duration::from_secs(30);

/// Compares the clocks.
pub(crate) struct SleepDetector {
    clock: Arc<dyn Clock>,
    seen: (Duration, Duration),
}

impl SleepDetector {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let seen = (clock.now(), clock.since_1970());
        Self { clock, seen }
    }

    /// Returns how long the machine has slept since the last look.
    pub(crate) fn slept(&mut self) -> Option<Duration> {
        let (now, since_1970) = (self.clock.now(), self.clock.since_1970());
        let (before, before_1970) = std::mem::replace(&mut self.seen, (now, since_1970));
        // Later than the wall clock was read, so that a wait between both counts as awake.
        let awake = self.clock.now().saturating_sub(before);
        since_1970.saturating_sub(before_1970).checked_sub(awake).filter(|slept| *slept >= MIN_SLEEP)
    }
}

impl Work {
    /// Moves the expiry of all leases after a sleep. The finished games of expired leases are
    /// submitted, and the others dropped. Returns the number of these leases.
    pub(crate) fn wake(&self, slept: Duration) -> usize {
        let now = self.clock().now();
        self.update(|state| {
            let mut expired = 0;
            for job in &mut state.jobs {
                job.expires = job.expires.saturating_sub(slept);
                job.next_heartbeat = job.next_heartbeat.saturating_sub(slept);
                if job.expires <= now {
                    job.drop_games();
                    expired += 1;
                }
            }
            expired
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct TwoClocks(Mutex<(u64, u64)>);

    impl Clock for TwoClocks {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.lock().unwrap().0)
        }

        fn since_1970(&self) -> Duration {
            Duration::from_secs(self.0.lock().unwrap().1)
        }
    }

    #[test]
    fn a_sleep_is_the_time_that_only_the_wall_clock_has_counted() {
        let clock = Arc::new(TwoClocks::default());
        let mut detector = SleepDetector::new(clock.clone());
        let mut pass = |now: u64, since_1970: u64| {
            let mut times = clock.0.lock().unwrap();
            *times = (times.0 + now, times.1 + since_1970);
            drop(times);
            detector.slept()
        };
        assert_eq!(pass(2, 2), None);
        assert_eq!(pass(2, 2 + 29), None, "a correction");
        assert_eq!(pass(2, 2 + 3600), Some(Duration::from_hours(1)));
        assert_eq!(pass(2, 2), None);
        assert_eq!(pass(900, 0), None, "the clock was set back");
    }
}
