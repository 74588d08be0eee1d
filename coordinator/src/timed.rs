//! Matches under a clock: how strong nets are where time counts, as people use them.
//!
//! Their games are functions of the machine that played them, so nobody can prove them: they are leased to trusted
//! workers alone, never played again by others, and whatever shows them says so. All pairs are played; what comes of them
//! decides nothing, promotes nobody, and no net learns from it.

use dataset::{Clock, Digest, EvaluationFilter, GameSettings, Header, OpeningPolicy, Opponent};
use protocol::{api::problem::Code, campaign::Gate};
use serde::{Deserialize, Serialize};
use stats::{Counts, EloEstimate, Pentanomial};
use xiangqi::rules::RuleSet;

use crate::{
    campaigns::{matches, nets},
    clock::Time,
    events::{Event, note},
    store::{Connection, Failure, Outcome},
    work::counting,
};

/// The word for these jobs.
pub const KIND: &str = "timed";

/// Who plays, for how long, and from where.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The net that is asked about; none for the plain evaluation.
    #[serde(default)]
    pub a: Option<Digest>,
    /// The one it is compared with; none for the plain evaluation.
    #[serde(default)]
    pub b: Option<Digest>,
    /// What both may use.
    pub clock: Clock,
    /// How many pairs of games they play.
    #[serde(default = "usual::pairs")]
    pub pairs: u32,
    /// The rulebook.
    #[serde(default, with = "dataset::as_text")]
    pub rules: RuleSet,
    /// The size of each one's transposition table, in mebibytes.
    #[serde(default = "usual::hash")]
    pub hash_mebibytes: u32,
    /// From where games begin.
    #[serde(default = "usual::openings")]
    pub openings: OpeningPolicy,
    /// After how many plies a game is a draw.
    #[serde(default = "usual::ply_cap")]
    pub ply_cap: u32,
    /// The seed of the openings.
    #[serde(default = "usual::seed")]
    pub seed: u64,
}

/// What is meant where nothing is said.
pub mod usual {
    use super::{EvaluationFilter, OpeningPolicy};

    /// Pairs of games.
    #[must_use]
    pub const fn pairs() -> u32 {
        100
    }

    /// Mebibytes of a table.
    #[must_use]
    pub const fn hash() -> u32 {
        64
    }

    /// Openings as gates have them.
    #[must_use]
    pub const fn openings() -> OpeningPolicy {
        OpeningPolicy { book: None, plies: 8, filter: Some(EvaluationFilter { nodes: 1_000, bound: 150 }) }
    }

    /// Plies of a game.
    #[must_use]
    pub const fn ply_cap() -> u32 {
        400
    }

    /// A seed.
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

    /// How it is counted: all of it, pair by pair.
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

/// Lets two nets play under a clock. The job's number.
///
/// # Errors
///
/// If a value is not allowed, or a net or book is not here.
pub async fn begin(
    connection: &mut Connection<'_>,
    now: Time,
    plan: &Plan,
    bench_signature: u64,
    by: Option<i64>,
) -> Outcome<i64> {
    let invalid = |detail: &str| Err(Failure::refused(Code::Invalid, detail));
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
    let text =
        format!("{} pairs under the clock {}; nobody can prove them, and nobody is promoted", plan.pairs, plan.clock);
    note(connection, now, Event { kind: KIND, account: by, subject: format!("job:{job}"), text }).await?;
    Ok(job)
}

/// What came of a match under a clock.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Result {
    /// What both may use.
    pub clock: Clock,
    /// Always: nobody can play these games again and get the same.
    pub unprovable: bool,
    /// Elo with its interval; none before the first pair.
    pub elo: Option<EloEstimate>,
    /// In how many of the games the one who is asked about lost on time, and the other.
    pub time_losses: [u64; 2],
}

/// What came of a match, of which these pairs count; none if no clock runs in it.
///
/// # Errors
///
/// If the database fails.
pub(crate) async fn result(
    connection: &mut Connection<'_>,
    job: i64,
    header: &Header,
    counts: Pentanomial,
) -> Outcome<Option<Result>> {
    let Some(clock) = header.clock else { return Ok(None) };
    let elo = (counts.games() > 0).then(|| Counts::from(counts).logistic_elo());
    let time_losses = counting::time_losses(connection, job).await?;
    Ok(Some(Result { clock, unprovable: true, elo, time_losses }))
}
