//! A lease: a range of games for one worker.

use super::{
    ids::{AccountId, JobId, LeaseId, ShardId, WorkerId},
    states::{LeaseKind, LeaseState},
};
use crate::clock::Time;

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
