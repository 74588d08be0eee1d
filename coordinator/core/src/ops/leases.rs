//! Operations on leases.

mod acquire;
mod expire;
mod extend;
mod release;
mod renew;

pub use acquire::{AcquireLease, Caller};
pub use expire::ExpireLeases;
pub use extend::ExtendLeases;
pub use release::ReleaseLease;
pub use renew::RenewLease;
