//! The words of the ledger: ids, states, kinds, rows, events and refusals. They know neither the
//! database nor the wire.

mod event;
mod ids;
mod lease;
mod reason;
mod refusal;
mod states;

pub use event::{AccountChange, Event, Stall};
pub use ids::*;
pub use lease::Lease;
pub use reason::Reason;
pub use refusal::Refusal;
pub use states::*;
