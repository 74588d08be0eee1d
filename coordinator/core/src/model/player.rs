//! A worker that asks for games.

use std::sync::Arc;

use super::{
    Reason, Standing,
    ids::{AccountId, TokenId, WorkerId},
    states::AccountState,
};
use crate::clock::Time;

/// The active workers. They are counted now and then, since that takes a while.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// Number of workers of the last hour.
    pub workers: i64,
    /// Number of workers of the last ten minutes that have fulfilled a lease, to which leases are
    /// sized; none before the first count.
    pub active: Option<i64>,
    /// The accounts that may audit, with a worker that has the engine and asked for games in the
    /// last ten minutes.
    pub auditors: Arc<[Auditor]>,
    /// The time of the count.
    pub at: Time,
}

/// An account that may audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auditor {
    /// The account.
    pub account: AccountId,
    /// Nodes of its accepted games.
    pub proven_nodes: i64,
    /// Whether a worker of it is trusted.
    pub is_trusted: bool,
}

/// The key of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerKey {
    /// Whether its results are authoritative.
    pub is_trusted: bool,
    /// The token of its last request. The requests of a trusted worker have this one.
    pub token: Option<TokenId>,
}

/// A worker that asks for games, and its account.
#[derive(Clone, Debug)]
pub struct Player {
    /// Its id.
    pub id: WorkerId,
    /// Its account.
    pub account: AccountId,
    /// The bench signature of its engine.
    pub bench_signature: i64,
    /// Number of its threads, as last claimed.
    pub threads: i64,
    /// Nodes per second of all these threads, as last claimed.
    pub nodes_per_second: Option<i64>,
    /// Whether its results are authoritative, and with which token.
    pub key: WorkerKey,
    /// The message with which the worker is blocked.
    pub blocked: Option<Reason>,
    /// The account's state.
    pub state: AccountState,
    /// The account's message for its workers.
    pub message: Option<Reason>,
    /// Whether it has fulfilled a lease.
    pub has_delivered: bool,
    /// The account's standing.
    pub standing: Standing,
}
