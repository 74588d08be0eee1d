//! A worker that asks for games.

use super::{
    Reason,
    ids::{AccountId, WorkerId},
    states::AccountState,
};

/// A worker that asks for games, and its account.
#[derive(Clone, Debug)]
pub struct Player {
    /// Its id.
    pub id: WorkerId,
    /// Its account.
    pub account: AccountId,
    /// The bench signature of its engine.
    pub bench_signature: i64,
    /// Whether its results are authoritative.
    pub is_trusted: bool,
    /// The message with which the worker is blocked.
    pub blocked: Option<Reason>,
    /// The account's state.
    pub state: AccountState,
    /// The account's message for its workers.
    pub message: Option<Reason>,
    /// Whether it has fulfilled a lease.
    pub has_delivered: bool,
}
