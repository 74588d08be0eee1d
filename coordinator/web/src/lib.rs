//! The coordinator's web: an API for programs, and pages for people.
//!
//! * [`app`]: the state of all handlers; [`router`]: all routes.
//! * [`http`]: the interface for programs, with admission control and connections.
//! * [`pages`]: the interface for people; [`live`]: live view of a match.

pub mod app;
pub mod http;
pub mod live;
pub mod pages;
pub mod router;
