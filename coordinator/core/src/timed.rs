//! Timed matches: the strength of nets under a clock, as people use them.
//!
//! Their games depend on the machine and are `unprovable`. They are leased to trusted workers only,
//! never audited, and marked wherever they are shown. All pairs are played. The result decides no
//! gate, and no net is trained on the games.

pub mod result;

use dataset::{Clock, Digest, EvaluationFilter, GameSettings, Header, OpeningPolicy, Opponent};
use protocol::{api::problem::Code, campaign::Gate};
use serde::Deserialize;
use xiangqi::rules::RuleSet;

use crate::{
    campaigns::{matches, nets},
    clock::Time,
    events::{Event, record_event},
    model::JobId,
    store::{Connection, StoreError},
};

pub use result::TimedResult;

/// The kind of these jobs.
pub const KIND: &str = "timed";

/// The parameters of a timed match.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The net under test; none for the plain evaluation.
    #[serde(default)]
    pub a: Option<Digest>,
    /// The reference net; none for the plain evaluation.
    #[serde(default)]
    pub b: Option<Digest>,
    /// The clock of both sides.
    pub clock: Clock,
    /// Number of pairs.
    #[serde(default = "defaults::pairs")]
    pub pairs: u32,
    /// The rulebook that decides repetitions.
    #[serde(default, with = "dataset::as_text")]
    pub rules: RuleSet,
    /// Size of each player's transposition table, in mebibytes.
    #[serde(default = "defaults::hash")]
    pub hash_mebibytes: u32,
    /// The opening policy.
    #[serde(default = "defaults::openings")]
    pub openings: OpeningPolicy,
    /// The number of plies after which a game is drawn.
    #[serde(default = "defaults::ply_cap")]
    pub ply_cap: u32,
    /// The seed of the openings.
    #[serde(default = "defaults::seed")]
    pub seed: u64,
}

/// Defaults of [`Plan`].
pub mod defaults {
    use super::{EvaluationFilter, OpeningPolicy};

    /// Number of pairs.
    #[must_use]
    pub const fn pairs() -> u32 {
        100
    }

    /// Mebibytes of a transposition table.
    #[must_use]
    pub const fn hash() -> u32 {
        64
    }

    /// The openings of gates.
    #[must_use]
    pub const fn openings() -> OpeningPolicy {
        OpeningPolicy { book: None, plies: 8, filter: Some(EvaluationFilter { nodes: 1_000, bound: 150 }) }
    }

    /// Maximum plies of a game.
    #[must_use]
    pub const fn ply_cap() -> u32 {
        400
    }

    /// Seed of the openings.
    #[must_use]
    pub const fn seed() -> u64 {
        1
    }
}

impl Plan {
    fn header(&self, bench_signature: u64) -> Header {
        Header {
            bench_signature,
            net: self.a,
            opponent: Some(Opponent { net: self.b, soft_nodes: None, hard_nodes: 0 }),
            clock: Some(self.clock),
            parameters: dataset::Overrides::default(),
            opponent_parameters: dataset::Overrides::default(),
            rules: self.rules,
            settings: GameSettings {
                hash_mebibytes: self.hash_mebibytes as usize,
                soft_nodes: None,
                hard_nodes: 0,
                adjudication: dataset::Adjudication::default(),
                ply_cap: self.ply_cap,
            },
            openings: self.openings,
            seed: self.seed,
            first_game: 0,
        }
    }

    /// A gate that counts all pairs.
    fn gate(&self) -> Gate {
        Gate {
            batch_pairs: 1,
            most_pairs: self.pairs,
            nodes: 0,
            hash_mebibytes: self.hash_mebibytes as usize,
            random_plies: self.openings.plies,
            filter: self.openings.filter,
            book: self.openings.book,
            ply_cap: self.ply_cap,
            audit_percent: 0,
            ..Gate::default()
        }
    }
}

/// Creates a timed match and returns its job.
///
/// # Errors
///
/// If a value is invalid, or a net or book does not exist.
pub async fn begin(
    connection: &mut Connection<'_>,
    now: Time,
    plan: &Plan,
    bench_signature: u64,
    by: Option<i64>,
) -> Result<i64, StoreError> {
    let invalid = |detail: &str| Err(StoreError::rejected(Code::Invalid, detail));
    let header = plan.header(bench_signature);
    if let Err(error) = Header::from_bytes(&header.to_bytes()) {
        return invalid(&error.to_string());
    }
    if !(1..=100_000).contains(&plan.pairs) {
        return invalid("a timed match has 1 to 100,000 pairs");
    }
    if !(1..=1_024).contains(&plan.hash_mebibytes) || !(1..=2_000).contains(&plan.ply_cap) || plan.openings.plies > 200
    {
        return invalid("`hash_mebibytes` is 1 to 1,024, `ply_cap` 1 to 2,000, `openings.plies` at most 200");
    }
    for net in [plan.a, plan.b].into_iter().flatten() {
        nets::must_exist(connection, net).await?;
    }
    if let Some(book) = plan.openings.book {
        nets::book_must_exist(connection, book).await?;
    }
    let job = matches::create(connection, now, KIND, &header, &plan.gate()).await?;
    let event = Event::Timed { job: JobId(job), pairs: plan.pairs, clock: plan.clock.to_string() };
    record_event(connection, now, by, event).await?;
    Ok(job)
}
