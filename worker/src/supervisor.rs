//! The supervisor: starts all threads, obeys signals, reports, and shuts the worker down.

mod shutdown;
mod start;
mod supervise;

pub use start::{End, Parts, run};
