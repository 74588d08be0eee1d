//! Status: what people see of the worker.

mod account;
pub mod outlook;
mod snapshot;

pub(crate) use account::Account;
pub(crate) use snapshot::{ASKING_REASON, View};
pub use snapshot::{Contributions, Doing, JobSnapshot, Snapshot};
