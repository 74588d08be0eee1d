//! The supervisor: starts all threads, obeys signals and schedule, reports, and shuts the worker
//! down.

mod screen;
mod shutdown;
mod start;
mod supervise;

pub use screen::Screen;
pub use start::{End, Parts, run};
