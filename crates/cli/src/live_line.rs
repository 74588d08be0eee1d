//! The progress of a command as one updated line, on a terminal only.

use std::io::{self, IsTerminal as _, Write as _};

/// A line on standard error. It ends when it is dropped, so that an error begins a new one.
pub(crate) struct LiveLine {
    is_terminal: bool,
    is_open: bool,
}

impl LiveLine {
    pub(crate) fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), is_open: false }
    }

    /// Replaces the line.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) -> io::Result<()> {
        if self.is_terminal {
            write!(io::stderr(), "\r\x1b[K{}", line())?;
            self.is_open = true;
        }
        Ok(())
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        if self.is_open {
            let _ = writeln!(io::stderr());
        }
    }
}
