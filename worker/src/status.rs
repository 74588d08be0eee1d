//! Status: what people see of the worker.

mod account;
mod messages;
pub mod outlook;
mod snapshot;

pub(crate) use account::Account;
pub(crate) use messages::Messages;
pub(crate) use snapshot::{ASKING_REASON, View};
pub use snapshot::{Contributions, Doing, JobSnapshot, Snapshot};
