//! Other processes that a command starts, one at a time, and that end with it.

use std::{
    io,
    process::{Command, Output, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context as _;

/// The process that runs now. An interrupt or a termination of this process is passed on to it, and
/// this process waits for its end.
#[derive(Debug, Default)]
pub(super) struct Child {
    is_stopped: AtomicBool,
    id: Mutex<Option<u32>>,
}

impl Child {
    /// Begins to watch for signals.
    pub(super) fn watched() -> anyhow::Result<Arc<Self>> {
        let child = Arc::new(Self::default());
        let watcher = Arc::clone(&child);
        ctrlc::set_handler(move || watcher.stop()).context("signals")?;
        Ok(child)
    }

    /// Whether a stop was requested.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Runs a process to its end; `None` if a stop was requested. Its standard error is this
    /// process's.
    pub(super) fn run(&self, command: &mut Command) -> io::Result<Option<Output>> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut id = self.id();
        if self.is_stopped() {
            return Ok(None);
        }
        let child = command.spawn()?;
        *id = Some(child.id());
        drop(id);
        let output = child.wait_with_output();
        *self.id() = None;
        output.map(|output| Some(output).filter(|_| !self.is_stopped()))
    }

    fn stop(&self) {
        let id = self.id();
        self.is_stopped.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        if let Some(id) = id.and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            // It may have ended just now.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        drop(id);
    }

    fn id(&self) -> MutexGuard<'_, Option<u32>> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
