//! A shard: games that a worker uploaded.

use std::ops::Range;

use dataset::{Digest, Header};

use super::{
    figures::Figures,
    ids::{AccountId, JobId, LeaseId, ShardId, WorkerId},
    states::{AuditState, LeaseKind, ObjectState, ShardState},
};
use crate::clock::Time;

/// A shard to record.
#[derive(Clone, Debug)]
pub struct NewShard {
    /// The SHA-256 of the file.
    pub hash: Digest,
    /// The job of its games.
    pub job: JobId,
    /// The bench signature of the job's engine.
    pub bench_signature: i64,
    /// Its lease.
    pub lease: LeaseId,
    /// The worker that played it.
    pub worker: WorkerId,
    /// The worker's account.
    pub account: AccountId,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// Number of positions with a move of the search.
    pub positions: i64,
    /// Size of the file.
    pub bytes: i64,
    /// Its state.
    pub state: ShardState,
}

/// The share of an account in a gate.
#[derive(Clone, Copy, Debug)]
pub struct GateShare {
    /// Games that it was lent or has delivered.
    pub own: i64,
    /// The time of the gate's last lease to any account.
    pub last_leased: Time,
}

/// An upload of a lease before another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierUpload {
    /// The SHA-256 of the file.
    pub hash: Digest,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// Its state.
    pub state: ShardState,
}

/// A claimed shard.
#[derive(Clone, Debug)]
pub struct ToValidate {
    /// Id for reporting the result.
    pub shard: ShardId,
    /// Hash of its object.
    pub hash: Digest,
    /// The header that determines its games.
    pub header: Header,
    /// Numbers of its games.
    pub games: Range<u64>,
}

/// A shard that gets its verdict.
#[derive(Clone, Debug)]
pub struct ShardToValidate {
    /// Its id.
    pub id: ShardId,
    /// The worker that played it.
    pub worker: WorkerId,
    /// The worker's account.
    pub account: AccountId,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// Its state.
    pub state: ShardState,
    /// The time of an earlier verdict.
    pub validated: Option<Time>,
    /// The kind of its lease.
    pub kind: LeaseKind,
    /// Whether its worker is trusted.
    pub is_trusted: bool,
    /// Games of the account that other accounts reproduced.
    pub clean_games: i64,
    /// Nodes that the account has proven.
    pub proven_nodes: i64,
    /// How the match is judged, as JSON.
    pub gate: Option<String>,
}

/// The result of a successful validation.
#[derive(Clone, Debug, Default)]
pub struct ValidationReport {
    /// Number of positions with a move of the search.
    pub positions: u64,
    /// Games by outcome, as JSON.
    pub outcomes: String,
    /// Games by reason, as JSON.
    pub reasons: String,
    /// Match: the candidate's score of each pair, from 0 to 4.
    pub pairs: Option<Vec<u8>>,
    /// Match under a clock: for each pair, the candidate's losses on time plus three times the
    /// opponent's.
    pub time_losses: Option<Vec<u8>>,
    /// The shard's line in manifests.
    pub entry: String,
    /// Statistics of its positions.
    pub figures: Figures,
}

/// A shard that waits for an audit.
#[derive(Clone, Debug)]
pub struct AuditCandidate {
    /// Its id.
    pub id: ShardId,
    /// The job of its games.
    pub job: JobId,
    /// Numbers of its games.
    pub numbers: Range<i64>,
}

/// How far a shard is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The state of its audit.
    pub audit: AuditState,
    /// The account that is to audit it.
    pub auditor: Option<AccountId>,
    /// Until when; 0 if none was looked for.
    pub auditor_until: Time,
    /// Whether a comparison of it waits for its result. Those of a gate are counted together.
    pub is_compared: bool,
    /// Whether a referee checked it.
    pub is_checked: bool,
    /// The time of its verdict.
    pub validated: Option<Time>,
}

/// A shard with counted games of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateShard {
    /// Its id.
    pub id: ShardId,
    /// Its counted games.
    pub counted: i64,
    /// All its games.
    pub games: i64,
    /// Those of them that other accounts reproduced.
    pub audited_games: i64,
    /// Its state.
    pub state: ShardState,
    /// Whether its file is there.
    pub object: ObjectState,
    /// Whether a trusted worker played it.
    pub is_trusted: bool,
    /// Whether it was played on the clock.
    pub is_timed: bool,
    /// How far it is proven.
    pub proof: Proof,
}
