//! Operations on leases.

mod acquire;
mod expire;
mod release;
mod renew;

pub use acquire::{AcquireLease, Caller};
pub use expire::ExpireLeases;
pub use release::ReleaseLease;
pub use renew::RenewLease;
