//! The number of threads of a command.

use std::num::NonZeroUsize;

/// More threads than any machine has cores: certainly a typing error.
const MAX_THREADS: u16 = 1024;

/// Parses a number of threads.
pub(crate) fn parse(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<u16>() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(NonZeroUsize::new(threads.into()).expect("it is at least one")),
        _ => Err(format!("the number of threads is between 1 and {MAX_THREADS}")),
    }
}

/// The number of cores.
pub(crate) fn all() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
