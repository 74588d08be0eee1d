//! Messages for the screen.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Bound on messages that wait: the screen may not be reading.
const MAX_MESSAGES: usize = 1000;

/// Queue of messages, each a line.
#[derive(Debug, Default)]
pub(crate) struct Messages(Mutex<VecDeque<String>>);

impl Messages {
    /// Queues a message.
    pub(crate) fn log(&self, message: impl Into<String>) {
        let mut messages = self.lock();
        messages.push_back(message.into());
        if messages.len() > MAX_MESSAGES {
            messages.pop_front();
        }
    }

    /// Takes all messages.
    pub(crate) fn take(&self) -> VecDeque<String> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
