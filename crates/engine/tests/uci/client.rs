//! A client of a session, without a process.

use std::{
    io::{self, Write},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use engine::{
    Settings,
    uci::{Session, Setup},
};
use nnue::Kernel;

/// The engine's output.
#[derive(Clone, Default)]
pub(crate) struct Output(Arc<(Mutex<String>, Condvar)>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().push_str(str::from_utf8(bytes).unwrap());
        self.0.1.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Waits for a line that begins with `start`; times out if the search hangs.
    pub(crate) fn wait_for(&self, start: &str) -> String {
        let found = |text: &str| text.lines().find(|line| line.starts_with(start)).map(str::to_owned);
        let (text, written) = &*self.0;
        let timeout = Duration::from_mins(1);
        let (text, _) =
            written.wait_timeout_while(text.lock().unwrap(), timeout, |text| found(text).is_none()).unwrap();
        found(&text).unwrap_or_else(|| panic!("no `{start}` in:\n{text}"))
    }

    /// Takes the output since the last call.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.0.0.lock().unwrap())
    }
}

pub(crate) struct Client {
    pub(crate) session: Session<Output>,
    pub(crate) output: Output,
}

pub(crate) fn setup() -> Setup {
    let settings = Settings { hash_mebibytes: 2, ..Settings::default() };
    Setup { max_hash_mebibytes: 64, max_threads: 4, ..Setup::new(settings, Kernel::best()) }
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with(setup())
    }

    pub(crate) fn with(setup: Setup) -> Self {
        let output = Output::default();
        Self { session: Session::new(output.clone(), setup), output }
    }

    pub(crate) fn send(&mut self, line: &str) {
        assert!(self.session.execute_line(line).unwrap().is_continue(), "{line}");
    }

    /// Sends lines, waits for the search to end by its limits, and returns the output.
    pub(crate) fn request(&mut self, lines: &str) -> String {
        self.output.take();
        lines.lines().for_each(|line| self.send(line.trim()));
        self.session.finish();
        self.output.take()
    }

    pub(crate) fn fen(&self) -> String {
        self.session.game().fen().to_string()
    }
}

/// Returns the word after `key` in the last line that has it.
pub(crate) fn last_word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut words = text.lines().rev().find(|line| line.contains(&format!("{key} ")))?.split(' ');
    words.find(|word| *word == key)?;
    words.next()
}
