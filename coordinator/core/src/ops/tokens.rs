//! Operations on tokens.

mod create;
mod record_use;
mod revoke;

pub use create::CreateToken;
pub use record_use::RecordTokenUse;
pub use revoke::RevokeToken;
