//! A lease: a range of games for one worker.

use std::ops::Range;

use serde::Serialize;

use super::{
    ids::{AccountId, JobId, LeaseId, LeaseToken, ShardId, WorkerId},
    states::{LeaseKind, LeaseState},
};
use crate::clock::Time;

/// Maximum games per lease.
pub const MAX_GAMES_PER_LEASE: i64 = 4_096;

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its id.
    pub id: LeaseId,
    /// The job of its games.
    pub job: JobId,
    /// The worker that plays them.
    pub worker: WorkerId,
    /// The worker's account.
    pub account: AccountId,
    /// Its kind.
    pub kind: LeaseKind,
    /// Its state.
    pub state: LeaseState,
    /// The first game.
    pub first: i64,
    /// Number of games.
    pub games: i64,
    /// Number of games that are finished, as the worker says.
    pub finished: i64,
    /// Number of missing games that its account has paid for.
    pub charged: i64,
    /// The shard that it audits.
    pub audited: Option<ShardId>,
    /// Duration from each renewal, in milliseconds.
    pub duration: i64,
    /// The time of the grant.
    pub created: Time,
    /// The time of the last upload; 0 before the first.
    pub delivered: Time,
    /// The time at which it expires.
    pub expires: Time,
}

impl Lease {
    /// Numbers of its games.
    #[must_use]
    pub const fn numbers(&self) -> Range<i64> {
        self.first..self.first + self.games
    }
}

/// A lease to grant.
#[derive(Clone, Debug)]
pub struct NewLease {
    /// Its secret token.
    pub token: LeaseToken,
    /// The job of its games.
    pub job: JobId,
    /// The worker that plays them.
    pub worker: WorkerId,
    /// The worker's account.
    pub account: AccountId,
    /// The nonce of the request.
    pub nonce: String,
    /// Its kind.
    pub kind: LeaseKind,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// The shard that it audits.
    pub audited: Option<ShardId>,
    /// Duration from each renewal, in milliseconds.
    pub duration: i64,
    /// The time of the grant.
    pub created: Time,
    /// How often its games were leased, with this time.
    pub attempts: i64,
}

/// Games of active leases. The finished ones come from heartbeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Playing {
    /// Leased games.
    pub games: i64,
    /// Those that their workers have finished.
    pub finished: i64,
}

/// Active leases that limit new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseLoad {
    /// The worker's.
    pub of_worker: i64,
    /// The account's, over all its workers.
    pub of_account: i64,
    /// The nodes of the account's, and of its uploads that wait for validation.
    pub lent_nodes: i64,
    /// The account's uploads that wait for validation.
    pub waiting: i64,
}
