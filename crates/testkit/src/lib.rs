//! Test utilities.
//!
//! * [`http`]: a small server; [`proxy`]: a faulty network.
//! * [`FastClock`] and [`JumpingClock`]: clocks that run faster.
//! * [`Gate`] holds threads back; [`trace`]: the log of `strace`.
//!
//! It depends on the lowest layers alone, so that every crate above can be tested with it.

mod clock;
mod gate;
pub mod http;
pub mod proxy;
pub mod trace;

pub use clock::{FastClock, JumpingClock};
pub use gate::Gate;
