//! What workers ask and are told.

use dataset::{Digest, Header};
use serde::{Deserialize, Serialize};

/// The coordinator, to whoever asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its name, for people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The oldest version of a worker that it takes games from.
    pub least_worker: String,
    /// What it says now to be the time, in seconds since 1970.
    pub time: i64,
    /// Whether accounts are by invitation only.
    pub invitation_only: bool,
    /// Under which licence games are contributed.
    pub licence: String,
    /// Where nets, books and shards may be had as well; their names are hashes, so whoever has them can check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
}

/// The owner of a token, and what it has contributed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Me {
    /// The account's name.
    pub account: String,
    /// Its role.
    pub role: Role,
    /// What was contributed since midnight (UTC).
    pub today: Contribution,
    /// What was contributed at all.
    pub total: Contribution,
    /// Its place among all who contributed validated games, from 1; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Where people can see it, relative to the server's address.
    pub page: String,
}

/// Validated work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// Games.
    pub games: u64,
    /// Their positions with a move of the search.
    pub positions: u64,
}

/// What an account may do. Each role may do what those before it may.
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

    /// Its word.
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

/// A text that names no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role is volunteer, trainer, maintainer or admin")]
pub struct ParseRoleError;

impl std::str::FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, ParseRoleError> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or(ParseRoleError)
    }
}

/// A machine that offers to play: `POST` [`path::WORKERS`](super::path::WORKERS).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What its owner calls it: a name by which it is known when it comes again.
    pub name: String,
    /// The worker's version.
    pub version: String,
    /// The nodes of its engine's bench, which it has just counted.
    pub bench_signature: u64,
    /// How many threads play.
    pub threads: u32,
    /// How much memory it may use, in mebibytes.
    pub memory_mebibytes: u64,
    /// Operating system and processor family, such as `linux-x86_64`.
    pub system: String,
    /// The instruction set of its evaluation.
    pub instruction_set: String,
}

/// A machine that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Its number.
    pub worker: i64,
}

/// A worker asks for games to play: `POST` [`path::LEASES`](super::path::LEASES).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The worker's number.
    pub worker: i64,
    /// A word made up for this question: who asks again with it, because no answer came, is told the same.
    pub nonce: String,
    /// How many threads will play.
    pub threads: u32,
    /// How many nodes a second they had in the last games, all together; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_per_second: Option<u64>,
    /// For how many seconds of work is asked, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_seconds: Option<u32>,
    /// The shards of which it was told in [`Notice`]s: it need not be told again. At most [`Self::MOST_HEARD`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<Digest>,
}

impl Ask {
    /// No more shards are named in it.
    pub const MOST_HEARD: usize = 100;
}

/// What a worker is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Games to play, or why there are none.
    #[serde(flatten)]
    pub work: Work,
    /// What it should know. It is told again until the worker says in [`Ask::heard`] that it heard: an answer may be lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// Games to play, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "one is made at a time")]
pub enum Work {
    /// Games.
    Games(Lease),
    /// Nothing now.
    Wait {
        /// Ask again after so many seconds.
        seconds: u32,
        /// One sentence for people.
        reason: String,
    },
}

/// Games that a worker has taken on. It says all that is asked of a worker, and only what is said here: with any other
/// word in it, a lease is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// By which it is named in later requests: a secret between the two.
    pub token: String,
    /// What the games are a function of; [`Header::first_game`] is the first of the lease. With an opponent they are
    /// a match's games, of which both of a pair are always in one lease.
    pub terms: Header,
    /// How many.
    pub games: u64,
    /// After so many seconds others may be given the games.
    pub seconds: u32,
    /// Whether people watch: then the worker may post what it sees of one game at a time ([`Live`]), at most once a second.
    /// Nothing hangs on it.
    #[serde(default)]
    pub live: bool,
}

impl Lease {
    /// The numbers of the games.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<u64> {
        self.terms.first_game..self.terms.first_game.saturating_add(self.games)
    }

    /// The nets that play, by their hashes.
    pub fn nets(&self) -> impl Iterator<Item = Digest> {
        let opponent = self.terms.opponent.as_ref().and_then(|opponent| opponent.net);
        self.terms.net.into_iter().chain(opponent)
    }
}

/// What a worker should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about: `rejected` (a shard of this worker counts for nothing), `message`.
    pub kind: String,
    /// The shard, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Digest>,
    /// The word for what is wrong: as in a [`Problem`](super::problem::Problem).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One sentence for people.
    pub text: String,
}

/// A worker shows that it gets on: `POST` [`path::renewal`](super::path::renewal).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renew {
    /// How many games of the lease are finished.
    pub finished: u64,
}

/// The lease goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewed {
    /// After so many seconds others may be given the games.
    pub seconds: u32,
}

/// A worker will not play the rest of a lease: `POST` [`path::giving_back`](super::path::giving_back).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveBack {
    /// From this game on, nothing is played.
    pub from: u64,
}

/// Games have arrived, and are there to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// What became of them.
    pub status: ReceiptStatus,
    /// The shard's name.
    pub shard: Digest,
    /// What the worker should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// What became of uploaded games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptStatus {
    /// They are there, and will be looked at.
    Received,
    /// The same bytes were there already.
    Duplicate,
}

/// Something went wrong on a worker: `POST` [`path::FAILURES`](super::path::FAILURES).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The worker's number, if it has one yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<i64>,
    /// What kind it is.
    pub kind: FailureKind,
    /// The worker's version.
    pub version: String,
    /// What happened, for people; at most 4,000 characters.
    pub detail: String,
}

/// What can go wrong on a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It broke off.
    Panic,
    /// It does not compute as it should.
    SelfTest,
    /// It got on with nothing.
    Stall,
    /// The disk is full, or cannot be written.
    Storage,
    /// Something else.
    Other,
}

impl FailureKind {
    /// Its word.
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

/// What people who watch a game see: `POST` [`path::live`](super::path::live).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The game's number.
    pub game: u64,
    /// The position it began from.
    pub start: String,
    /// All moves so far, as `h2e2 h9g7`.
    pub moves: String,
    /// How many nodes each side has searched in the game, Red first: its clock, where nodes are what is limited.
    pub nodes: [u64; 2],
    /// What is left on each side's clock, Red first, in milliseconds; none where no clock runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<[u64; 2]>,
    /// The score for the side that is to move and searches, in hundredths of a pawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
    /// How deep it looked.
    pub depth: u32,
    /// How many nodes a second.
    pub nodes_per_second: u64,
    /// The moves that it expects, its own first.
    #[serde(default)]
    pub variation: String,
    /// How the game ended, if it is over: outcome and reason, as a shard has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<(String, String)>,
}

impl Live {
    /// No text in it is longer, in bytes.
    pub const MOST_TEXT: usize = 16 << 10;
}
