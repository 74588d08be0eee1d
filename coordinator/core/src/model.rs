//! The words of the ledger: ids, states and kinds. They know neither the database nor the wire.

mod ids;
mod lease;
mod states;

pub use ids::*;
pub use lease::Lease;
pub use states::*;
