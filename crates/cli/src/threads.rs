//! How many threads a command uses.

use std::num::NonZeroUsize;

/// More threads than any machine has cores for: a slip of the finger, which would only stand in each other's way.
const MOST: u16 = 1024;

/// Reads a number of threads from the command line.
pub(crate) fn parse(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<u16>() {
        Ok(threads @ 1..=MOST) => Ok(NonZeroUsize::new(threads.into()).expect("it is at least one")),
        _ => Err(format!("the number of threads is between 1 and {MOST}")),
    }
}

/// As many threads as the machine has cores.
pub(crate) fn all() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
