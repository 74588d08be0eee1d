//! For tests: a small web server ([`http`]), a network that does what networks do ([`proxy`]), clocks that run as fast
//! as one likes ([`FastClock`], [`JumpingClock`]), and what `strace` wrote down ([`trace`]).
//!
//! Only what the two lowest layers know is known here, so that every room above may be tested with it.

mod clock;
pub mod http;
pub mod proxy;
pub mod trace;

pub use clock::{FastClock, JumpingClock};
