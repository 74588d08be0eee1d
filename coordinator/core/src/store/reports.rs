//! Read models: rows of reports, for pages and the API. None of them changes anything.

pub mod accounts;
pub mod campaign;
pub mod data;
pub mod games;
pub mod health;
pub mod log;
pub mod marks;
pub mod matches;
pub mod net;
pub mod overview;
pub mod people;
pub mod standing;
pub mod trust;
pub mod workers;

/// Rows per page.
pub const ROWS: i64 = 50;
