//! Control: commands of the owner by signal or file.

use std::{
    collections::VecDeque,
    fs,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use anyhow::Result;

use crate::{
    events::{Event, Events},
    state,
};

/// A command of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlCommand {
    /// Finish the games at hand; a second one stops.
    Finish,
    /// Stop at once.
    Stop,
    /// Pause.
    Pause,
    /// Resume.
    Resume,
}

/// Queue of commands.
#[derive(Default)]
pub struct Control {
    queue: Mutex<VecDeque<ControlCommand>>,
    /// The supervisor to be woken.
    events: OnceLock<Events>,
}

impl Control {
    /// Queues a command and wakes the supervisor.
    pub fn add(&self, command: ControlCommand) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(command);
        if let Some(events) = self.events.get() {
            events.report(Event::Command);
        }
    }

    /// Attaches the supervisor, which is woken from now on.
    pub(crate) fn attach(&self, events: Events) {
        let _ = self.events.set(events);
    }

    pub(crate) fn take(&self) -> Option<ControlCommand> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

const PAUSE_FILE: &str = "paused";

/// Pauses or resumes the worker with this folder, also across restarts.
///
/// # Errors
///
/// If the folder cannot be written.
pub fn set_paused(root: &Path, paused: bool) -> std::io::Result<()> {
    if paused { fs::write(root.join(PAUSE_FILE), "") } else { state::remove(&root.join(PAUSE_FILE)) }
}

/// Returns whether the worker with this folder is paused.
pub(crate) fn is_paused(root: &Path) -> bool {
    root.join(PAUSE_FILE).exists()
}

/// Installs signal handlers. SIGINT finishes and a second one stops; SIGTERM and SIGHUP stop;
/// SIGUSR1 pauses and SIGUSR2 resumes.
///
/// # Errors
///
/// If the system refuses.
#[cfg(unix)]
pub fn install_signal_handlers(control: Arc<Control>) -> Result<()> {
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2},
        iterator::Signals,
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGUSR2])?;
    if is_not_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            control.add(match signal {
                SIGINT => ControlCommand::Finish,
                SIGUSR1 => ControlCommand::Pause,
                SIGUSR2 => ControlCommand::Resume,
                _ => ControlCommand::Stop,
            });
        }
    })?;
    Ok(())
}

/// Returns whether a signal was not ignored at the start: `nohup` ignores SIGHUP. Without `/proc`
/// the signal keeps its default action.
#[cfg(unix)]
fn is_not_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) == 0)
}

/// Installs a handler of Ctrl-C: the first finishes, the second stops.
///
/// # Errors
///
/// If the system refuses.
#[cfg(not(unix))]
pub fn install_signal_handlers(control: Arc<Control>) -> Result<()> {
    Ok(ctrlc::set_handler(move || control.add(ControlCommand::Finish))?)
}
