//! The output, shared by session and search.

use std::{
    fmt::Display,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

pub(super) struct Output<W>(Arc<Mutex<W>>);

impl<W: Write> Output<W> {
    pub(super) fn new(writer: W) -> Self {
        Self(Arc::new(Mutex::new(writer)))
    }

    /// Writes lines atomically and flushes.
    pub(super) fn line(&self, text: &dyn Display) -> io::Result<()> {
        let text = format!("{text}\n");
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(text.as_bytes())?;
        writer.flush()
    }
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
