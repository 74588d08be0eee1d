//! Polling of other processes.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Polling interval.
const NAP: Duration = Duration::from_millis(50);

/// Polls until there is a value; none after the timeout.
#[allow(clippy::disallowed_methods, reason = "this is the edge: other processes have the machine's time")]
pub fn try_for<T>(timeout: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if begun.elapsed() > timeout {
            return None;
        }
        thread::sleep(NAP);
    }
}

/// Polls until there is a value; panics with the condition's name after the timeout.
pub fn wait_for<T>(what: &str, timeout: Duration, look: impl FnMut() -> Option<T>) -> T {
    try_for(timeout, look).unwrap_or_else(|| panic!("after {timeout:?} still not: {what}"))
}
