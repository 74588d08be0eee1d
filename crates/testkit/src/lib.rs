//! For tests: a small web server ([`http`]), a network that does what networks do ([`proxy`]), and clocks that run as fast
//! as one likes ([`FastClock`], [`JumpingClock`]).
//!
//! Only what the two lowest layers know is known here, so that every room above may be tested with it.

mod clock;
pub mod http;
pub mod proxy;

pub use clock::{FastClock, JumpingClock};
