//! Operations on accounts.

mod change;
mod create;
mod delete;
mod invite;
mod register;
mod set_password;

pub use change::ChangeAccount;
pub use create::CreateAccount;
pub use delete::DeleteAccount;
pub use invite::{Invite, RedeemInvitation};
pub use register::RegisterAccount;
pub use set_password::SetPassword;
