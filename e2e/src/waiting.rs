//! Waiting for what other processes do.

use std::{
    thread,
    time::{Duration, Instant},
};

/// So often it is looked.
const NAP: Duration = Duration::from_millis(50);

/// Looks until there is something, for so long; none if there never was.
#[allow(clippy::disallowed_methods, reason = "this is the edge: other processes have the machine's time")]
pub fn try_for<T>(longest: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if begun.elapsed() > longest {
            return None;
        }
        thread::sleep(NAP);
    }
}

/// The same; it is named for whoever reads that it never came.
pub fn wait_for<T>(what: &str, longest: Duration, look: impl FnMut() -> Option<T>) -> T {
    try_for(longest, look).unwrap_or_else(|| panic!("after {longest:?} still not: {what}"))
}
