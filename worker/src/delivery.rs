//! Delivery of finished games: their owner from the end of a game until the server has acknowledged
//! it.
//!
//! The `writer` appends what game threads queue; no game waits for a disk. The `sender` submits
//! closed leases.

mod queue;
mod receipts;
mod retry;
mod sender;
mod state;
mod submitting;
mod writer;

pub(crate) use queue::Change;
pub(crate) use retry::Duty;
pub(crate) use sender::Sender;
pub(crate) use state::{Delivery, DeliveryState, Figures};
pub(crate) use submitting::Submitter;
pub(crate) use writer::Writer;
