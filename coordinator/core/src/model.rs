//! The words of the ledger: ids, states, kinds, rows, events and refusals. They know neither the
//! database nor the wire.

mod account;
mod campaign;
mod event;
mod ids;
mod lease;
mod reason;
mod refusal;
mod states;

pub use account::{Account, AccountKey, Identity, Session, Token};
pub use campaign::{Campaign, CampaignKey, NewNet, Training};
pub use event::{AccountChange, Event, Stall};
pub use ids::*;
pub use lease::Lease;
pub use reason::Reason;
pub use refusal::Refusal;
pub use states::*;
