//! Timed matches: the strength of nets under a clock, as people use them.
//!
//! Their games depend on the machine and are `unprovable`. They are leased to trusted workers only,
//! never audited, and marked wherever they are shown. All pairs are played. The result decides no
//! gate, and no net is trained on the games.

pub mod result;

use dataset::{Clock, Digest, EvaluationFilter, GameSettings, Header, OpeningPolicy, Opponent};
use protocol::campaign::Gate;
use serde::Deserialize;
use xiangqi::rules::RuleSet;

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
    pub(crate) fn header(&self, bench_signature: u64) -> Header {
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

    /// Checks the values.
    pub(crate) fn check(&self, header: &Header) -> Result<(), String> {
        Header::from_bytes(&header.to_bytes()).map_err(|error| error.to_string())?;
        if !(1..=100_000).contains(&self.pairs) {
            return Err("a timed match has 1 to 100,000 pairs".to_owned());
        }
        let (hash, plies) = (self.hash_mebibytes, self.openings.plies);
        if !(1..=1_024).contains(&hash) || !(1..=2_000).contains(&self.ply_cap) || plies > 200 {
            let detail = "`hash_mebibytes` is 1 to 1,024, `ply_cap` 1 to 2,000, `openings.plies` at most 200";
            return Err(detail.to_owned());
        }
        Ok(())
    }

    /// A gate that counts all pairs.
    pub(crate) fn gate(&self) -> Gate {
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
