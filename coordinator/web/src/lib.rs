//! The coordinator's web: an API for programs, and pages for people.
//!
//! * [`app`]: the state of all handlers; [`router`]: all routes.
//! * [`http`]: the interface for programs, with admission control and connections; `answer`: its
//!   responses and problems.
//! * [`engine`]: the engine for browsers; `file`: files that never change; `zipping`: compression.
//! * [`limits`]: rate limits and permits; [`memory`]: what pages keep in memory.
//! * [`pages`]: the interface for people; [`live`]: live view of a match.

mod answer;
pub mod app;
pub mod engine;
mod file;
pub mod http;
pub mod limits;
pub mod live;
pub mod memory;
pub mod pages;
pub mod router;
mod zipping;
