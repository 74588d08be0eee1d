//! The operations: each change of the ledger as a value with a name, one file for each.
//!
//! A handler, an admin command, the scheduler and a test build the same value and run it by
//! [`Service::run`](crate::service::Service::run). An operation reads rows by the repositories of
//! its transaction, decides by [`rules`](crate::rules), and stores the result.

pub mod accounts;
pub mod campaigns;
pub mod disputes;
mod holders;
pub mod leases;
pub mod live;
pub mod matches;
pub mod nets;
pub mod retention;
pub mod sessions;
pub mod settings;
mod standing;
pub mod tokens;
pub mod trainings;
pub mod uploads;
pub mod validation;
pub mod webhooks;
pub mod workers;
