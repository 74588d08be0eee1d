//! What a worker's owner wants while it runs: by signals, or by a file.

use std::{
    collections::VecDeque,
    fs,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use anyhow::Result;

use crate::{desk::Desk, state};

/// One wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Finish the games at hand; a second time: stop.
    Finish,
    /// Stop now.
    Stop,
    /// Rest.
    Pause,
    /// Go on.
    Resume,
}

/// Wishes in their order.
#[derive(Default)]
pub struct Wishes {
    wanted: Mutex<VecDeque<Wish>>,
    /// Where somebody waits for them.
    desk: OnceLock<Arc<Desk>>,
}

impl Wishes {
    /// Adds a wish. A worker that runs hears it at once.
    pub fn add(&self, wish: Wish) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).push_back(wish);
        self.ring();
    }

    /// From now on whoever waits at this desk hears of wishes.
    pub(crate) fn heard_at(&self, desk: &Arc<Desk>) {
        let _ = self.desk.set(Arc::clone(desk));
        self.ring();
    }

    fn ring(&self) {
        if let Some(desk) = self.desk.get() {
            desk.change(|state| state.wished = true);
        }
    }

    pub(crate) fn take(&self) -> Option<Wish> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    #[allow(clippy::unused_self, reason = "a pause is one of the wishes, though a file keeps it")]
    pub(crate) fn is_paused(&self, root: &Path) -> bool {
        root.join(PAUSED).exists()
    }

    #[allow(clippy::unused_self, reason = "a pause is one of the wishes, though a file keeps it")]
    pub(crate) fn set_paused(&self, root: &Path, paused: bool) {
        // Who cannot write there cannot play either, and is told so.
        let _ = set_paused(root, paused);
    }
}

const PAUSED: &str = "paused";

/// Lets the worker with this folder rest, now and after its next start, or go on.
///
/// # Errors
///
/// If the folder cannot be written.
pub fn set_paused(root: &Path, paused: bool) -> std::io::Result<()> {
    if paused { fs::write(root.join(PAUSED), "") } else { state::remove(&root.join(PAUSED)) }
}

/// Hears the system's signals: the first interrupt finishes, the second stops, as the wish to terminate and the end of the
/// terminal do; two others pause and resume.
///
/// # Errors
///
/// If the system does not allow it.
#[cfg(unix)]
pub fn hear_signals(wishes: Arc<Wishes>) -> Result<()> {
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2},
        iterator::Signals,
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGUSR2])?;
    if hears(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            wishes.add(match signal {
                SIGINT => Wish::Finish,
                SIGUSR1 => Wish::Pause,
                SIGUSR2 => Wish::Resume,
                _ => Wish::Stop,
            });
        }
    })?;
    Ok(())
}

/// Whether a signal was not to be ignored when the program began: `nohup` wants it to outlive its terminal. Where the
/// system does not say so the signal does what it always does.
#[cfg(unix)]
fn hears(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) == 0)
}

/// Hears Ctrl-C: the first finishes, the second stops.
///
/// # Errors
///
/// If the system does not allow it.
#[cfg(not(unix))]
pub fn hear_signals(wishes: Arc<Wishes>) -> Result<()> {
    Ok(ctrlc::set_handler(move || wishes.add(Wish::Finish))?)
}
