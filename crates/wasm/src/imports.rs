//! The functions of the host that the module calls.

use std::time::Duration;

#[allow(unsafe_code, reason = "the functions of the host, which can be called with any arguments")]
#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Takes a line of text in the module's memory.
    safe fn write(text: *const u8, bytes: usize);
    /// Takes a file in the module's memory.
    safe fn take(file: *const u8, bytes: usize);
    /// Milliseconds since any fixed moment.
    safe fn now() -> f64;
    /// Whether the search is to stop: not 0.
    safe fn stop() -> u32;
}

/// Hands a line to the host.
pub(crate) fn write_line(text: &str) {
    write(text.as_ptr(), text.len());
}

/// Hands a file to the host.
pub(crate) fn hand_over(file: &[u8]) {
    take(file.as_ptr(), file.len());
}

/// The time since any fixed moment.
pub(crate) fn time() -> Duration {
    Duration::from_secs_f64((now() / 1000.0).max(0.0))
}

/// Whether the search is to stop.
pub(crate) fn is_stopped() -> bool {
    stop() != 0
}
