//! Operations on webhooks.

mod add;
mod deliver;
mod remove;

pub use add::{AddWebhook, DEFAULT_KINDS, KINDS};
pub use deliver::{ClaimDeliveries, RecordAttempt};
pub use remove::RemoveWebhook;
