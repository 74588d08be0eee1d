//! The messages of workers.

use dataset::{Digest, Header};
use serde::{Deserialize, Serialize};

/// The public description of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its name, for people.
    pub name: String,
    /// The coordinator's version.
    pub version: String,
    /// The minimum version of a worker.
    pub least_worker: String,
    /// Its clock, in seconds since 1970.
    pub time: i64,
    /// Whether accounts require an invitation.
    pub invitation_only: bool,
    /// The licence of contributed games.
    pub licence: String,
    /// The address of a mirror of nets, books and shards; their names are hashes, so downloads can
    /// be verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
}

/// The account of a token, and its contribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Me {
    /// The account's name.
    pub account: String,
    /// Its role.
    pub role: Role,
    /// The contribution since midnight (UTC).
    pub today: Contribution,
    /// The contribution in total.
    pub total: Contribution,
    /// The rank among contributors of validated games, from 1; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// The account's page, relative to the server's address.
    pub page: String,
}

/// Validated work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// The number of games.
    pub games: u64,
    /// The number of their positions with a searched move.
    pub positions: u64,
}

/// The permissions of an account; each role includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Contribute games.
    Volunteer,
    /// Train nets.
    Trainer,
    /// Run campaigns, promote nets, settle disputes.
    Maintainer,
    /// Manage accounts and settings.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Volunteer, Self::Trainer, Self::Maintainer, Self::Admin];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volunteer => "volunteer",
            Self::Trainer => "trainer",
            Self::Maintainer => "maintainer",
            Self::Admin => "admin",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a text that names no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role is volunteer, trainer, maintainer or admin")]
pub struct ParseRoleError;

impl std::str::FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, ParseRoleError> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or(ParseRoleError)
    }
}

/// A worker registers its machine: `POST` [`path::WORKERS`](super::path::WORKERS).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The machine's name, under which it is recognised when it registers again.
    pub name: String,
    /// The worker's version.
    pub version: String,
    /// The node count of its engine's bench, freshly measured.
    pub bench_signature: u64,
    /// The number of playing threads.
    pub threads: u32,
    /// The memory limit, in mebibytes.
    pub memory_mebibytes: u64,
    /// Operating system and processor family, such as `linux-x86_64`.
    pub system: String,
    /// The instruction set of its evaluation kernels.
    pub instruction_set: String,
}

/// A registered machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// The worker's id.
    pub worker: i64,
}

/// A worker acquires leases: `POST` [`path::LEASES`](super::path::LEASES).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The worker's id.
    pub worker: i64,
    /// The idempotency key: a retry with the same nonce, after a lost response, gets the same
    /// response.
    pub nonce: String,
    /// The number of threads that will play.
    pub threads: u32,
    /// Their total nodes per second in the last games; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_per_second: Option<u64>,
    /// The requested amount of work in seconds, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_seconds: Option<u32>,
    /// The acknowledged [`Notice`]s, by their shards; they are not sent again. At most
    /// [`Self::MAX_ACKNOWLEDGED`].
    #[serde(default, rename = "heard", skip_serializing_if = "Vec::is_empty")]
    pub acknowledged: Vec<Digest>,
}

impl Ask {
    /// The bound on acknowledged notices in one request.
    pub const MAX_ACKNOWLEDGED: usize = 100;
}

/// The response to a request for leases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// A lease, or the reason why there is none.
    #[serde(flatten)]
    pub work: Work,
    /// Notices to the worker. They are sent again until [`Ask::acknowledged`] names them, because a
    /// response may be lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// A lease, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "one is made at a time")]
pub enum Work {
    /// A lease.
    Games(Lease),
    /// No work is available.
    Wait {
        /// The seconds to wait before the next request.
        seconds: u32,
        /// One sentence for people.
        reason: String,
    },
}

/// Games leased to a worker. The type holds everything a worker is asked to do: leases with unknown
/// fields are rejected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The secret that names the lease in later requests.
    pub token: String,
    /// The parameters of the games; [`Header::first_game`] is the first of the lease. With an
    /// opponent they are a match's games, and both of a pair are always in one lease.
    pub terms: Header,
    /// The number of games.
    pub games: u64,
    /// The lease's duration in seconds, after which the games may be leased to others.
    pub seconds: u32,
    /// Whether there are spectators: then the worker may post one game's state at a time
    /// ([`Live`]), at most once a second. It is optional.
    #[serde(default)]
    pub live: bool,
}

impl Lease {
    /// The numbers of the games.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<u64> {
        self.terms.first_game..self.terms.first_game.saturating_add(self.games)
    }

    /// The hashes of the nets that play.
    pub fn nets(&self) -> impl Iterator<Item = Digest> {
        let opponent = self.terms.opponent.as_ref().and_then(|opponent| opponent.net);
        self.terms.net.into_iter().chain(opponent)
    }
}

/// A notice to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The kind: `rejected` (a shard of this worker does not count) or `message`.
    pub kind: String,
    /// The shard, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Digest>,
    /// The code of the fault, as in a [`Problem`](super::problem::Problem).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One sentence for people.
    pub text: String,
}

/// A worker renews a lease (a heartbeat with progress): `POST`
/// [`path::renewal`](super::path::renewal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renew {
    /// The number of finished games of the lease.
    pub finished: u64,
}

/// The lease was renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewed {
    /// The remaining duration in seconds, after which the games may be leased to others.
    pub seconds: u32,
    /// The minimum interval until the next renewal, in seconds; it grows with the fleet. Without it
    /// the next renewal is due after two thirds of [`Self::seconds`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_seconds: Option<u32>,
}

/// A worker releases the rest of a lease: `POST` [`path::release`](super::path::release).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveBack {
    /// The first game that will not be played.
    pub from: u64,
}

/// The receipt of uploaded games, which are durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The status of the games.
    pub status: ReceiptStatus,
    /// The SHA-256 of the shard's bytes, which names it.
    pub shard: Digest,
    /// Notices to the worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// The status of uploaded games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptStatus {
    /// Stored, and to be validated.
    Received,
    /// The same bytes were stored before.
    Duplicate,
}

/// A failure on a worker: `POST` [`path::FAILURES`](super::path::FAILURES).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The worker's id, if it has one yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<i64>,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The worker's version.
    pub version: String,
    /// The description, for people; at most 4,000 characters.
    pub detail: String,
}

/// The kinds of failures on a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It panicked.
    Panic,
    /// Its results differ from the reference.
    SelfTest,
    /// It makes no progress.
    Stall,
    /// The disk is full, or cannot be written.
    Storage,
    /// Something else.
    Other,
}

impl FailureKind {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::SelfTest => "self_test",
            Self::Stall => "stall",
            Self::Storage => "storage",
            Self::Other => "other",
        }
    }
}

/// The state of a game for its spectators: `POST` [`path::live`](super::path::live).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The number of the game in its job.
    pub game: u64,
    /// The position before the first move, as FEN.
    pub start: String,
    /// All moves so far, as `h2e2 h9g7`.
    pub moves: String,
    /// The nodes that each side has searched in the game, Red first: the budget where nodes are
    /// limited.
    pub nodes: [u64; 2],
    /// The remaining time of each side, Red first, in milliseconds; none without a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<[u64; 2]>,
    /// The score for the side that is to move and searches, in hundredths of a pawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
    /// The completed depth of the last search, in plies.
    pub depth: u32,
    /// The nodes per second.
    pub nodes_per_second: u64,
    /// The principal variation of the last search.
    #[serde(default)]
    pub variation: String,
    /// The end of the game: outcome and reason, as in a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<(String, String)>,
}

impl Live {
    /// The bound on each text, in bytes.
    pub const MAX_TEXT_BYTES: usize = 16 << 10;
}
