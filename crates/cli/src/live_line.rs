//! The progress of a command as one updated line, on a terminal only.

use std::io::{self, IsTerminal as _, Write as _};

use crate::live::LiveView;

/// A line on standard error. It ends when it is dropped, so that an error begins a new one.
pub(crate) struct LiveLine<'a> {
    is_terminal: bool,
    is_open: bool,
    /// A board on the terminal, which then has the line below it.
    view: Option<&'a LiveView<'a>>,
}

impl<'a> LiveLine<'a> {
    pub(crate) fn new() -> Self {
        Self::with_view(None)
    }

    /// A line that belongs to a live view, if there is one.
    pub(crate) fn with_view(view: Option<&'a LiveView<'a>>) -> Self {
        Self { is_terminal: io::stderr().is_terminal(), is_open: false, view }
    }

    /// Replaces the line.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) -> io::Result<()> {
        if let Some(view) = self.view.filter(|view| view.draws()) {
            view.set_standing(&line());
        } else if self.is_terminal {
            write!(io::stderr(), "\r\x1b[K{}", line())?;
            self.is_open = true;
        }
        Ok(())
    }

    /// Replaces the line; without a terminal, prints it if it is due.
    pub(crate) fn show_or_print(&mut self, is_due: bool, line: impl FnOnce() -> String) -> io::Result<()> {
        if is_due && !self.is_terminal && self.view.is_none_or(|view| !view.draws()) {
            return writeln!(io::stderr(), "{}", line());
        }
        self.show(line)
    }

    /// Prints a permanent line.
    pub(crate) fn announce(&mut self, line: &str) -> io::Result<()> {
        self.end()?;
        if let Some(view) = self.view {
            view.release();
        }
        writeln!(io::stderr(), "{line}")
    }

    /// Ends the line.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) { writeln!(io::stderr()) } else { Ok(()) }
    }
}

impl Drop for LiveLine<'_> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
