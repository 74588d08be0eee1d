//! A comparison of games that two shards have, and the facts about contested shards.

use std::ops::Range;

use dataset::{Digest, Header};

use super::{
    ids::{AccountId, ComparisonId, JobId, ShardId},
    states::{AuditState, ComparisonState, LeaseKind, ObjectState, ShardState},
};

/// A comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Its id.
    pub id: ComparisonId,
    /// The job of the games.
    pub job: JobId,
    /// The shard that was there first.
    pub left: ShardId,
    /// The other shard.
    pub right: ShardId,
    /// Numbers of the common games.
    pub numbers: Range<i64>,
    /// Its state.
    pub state: ComparisonState,
    /// The game that differs: the first one, or one whose result is known.
    pub game: Option<i64>,
}

/// Two files to compare.
#[derive(Clone, Debug)]
pub struct ToCompare {
    /// Id for reporting the result.
    pub comparison: ComparisonId,
    /// Hash of the left shard.
    pub left: String,
    /// Hash of the right shard.
    pub right: String,
    /// First common game.
    pub first: i64,
    /// Number of common games.
    pub games: i64,
    /// The game of the left shard that a referee played again.
    pub left_checked: Option<i64>,
    /// The game of the right shard that a referee played again.
    pub right_checked: Option<i64>,
}

/// A game with two different results, which no trusted worker was asked to play.
#[derive(Clone, Copy, Debug)]
pub struct Dispute {
    /// The comparison.
    pub comparison: ComparisonId,
    /// The job of the game.
    pub job: JobId,
    /// The first game that differs.
    pub game: i64,
}

/// A game with two different results that a referee plays.
#[derive(Clone, Debug)]
pub struct DisputedGame {
    /// The comparison.
    pub comparison: ComparisonId,
    /// The first game that differs.
    pub game: i64,
    /// Hash of one shard.
    pub one: Digest,
    /// Hash of the other.
    pub other: Digest,
    /// The header that determines the game.
    pub header: Header,
}

/// The facts about a contested shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardEvidence {
    /// Its id.
    pub id: ShardId,
    /// The job of its games.
    pub job: JobId,
    /// The account that played it.
    pub account: AccountId,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// Its state.
    pub state: ShardState,
    /// Whether its replay succeeded.
    pub is_validated: bool,
    /// Its bytes.
    pub object: ObjectState,
    /// Its audit.
    pub audit: AuditState,
    /// Number of its games that were verified by audits.
    pub audited_games: i64,
    /// Whether its worker is trusted.
    pub is_trusted: bool,
    /// Whether its account's confirmations are void.
    pub is_distrusted: bool,
    /// The kind of its lease.
    pub kind: LeaseKind,
    /// The shard that its lease audits.
    pub audited: Option<ShardId>,
    /// The game that a referee played again, to the same moves.
    pub checked_game: Option<i64>,
}

impl ShardEvidence {
    /// Whether all of its games were verified.
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        self.audited_games == self.numbers.end - self.numbers.start
    }
}

/// Rows about contested shards.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The shards.
    pub shards: Vec<ShardEvidence>,
    /// Their comparisons.
    pub comparisons: Vec<Comparison>,
    /// The shards all of whose comparisons are among these.
    pub complete: Vec<ShardId>,
}
