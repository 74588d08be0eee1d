//! The words that worker, trainer and coordinator exchange.
//!
//! What one program writes and another reads is declared here once, with what it may say. The crate reads and writes
//! texts, never files or sockets, and knows nothing of boards, nets or data: whoever uses a text gives it its effect.
//!
//! * [`recipe`]: how a net is to be trained.
//! * [`net`]: what made one.

pub mod net;
pub mod recipe;
