//! Status: what people see of the worker.

mod account;
pub mod outlook;
mod publisher;
mod snapshot;

pub(crate) use account::Account;
pub(crate) use publisher::Publisher;
pub use publisher::Screen;
pub(crate) use snapshot::{ASKING_REASON, View};
pub use snapshot::{Contributions, Doing, JobSnapshot, Snapshot};
