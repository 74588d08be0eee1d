//! Test utilities: a small HTTP server ([`http`]), a faulty network ([`proxy`]), clocks that run
//! faster ([`FastClock`], [`JumpingClock`]), and the log of `strace` ([`trace`]).
//!
//! It depends on the lowest layers alone, so that every crate above can be tested with it.

mod clock;
pub mod http;
pub mod proxy;
pub mod trace;

pub use clock::{FastClock, JumpingClock};
