//! Operations on sessions.

mod begin;
mod end;

pub use begin::{BeginSession, LIFETIME_MS};
pub use end::EndSession;
