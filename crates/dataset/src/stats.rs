//! Statistics of shards.

mod figures;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use xiangqi::rules::Outcome;

use crate::{
    record::{Reason, Record},
    shard::{Shard, ShardError, Source},
};

pub use figures::{Figures, PIECE_CLASSES, SCORE_CLASSES};

/// The statistics.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// The number of files.
    pub shards: u64,
    /// The number of games.
    pub games: u64,
    /// The number of games under a clock: they cannot be verified and are not training data.
    pub timed_games: u64,
    /// The number of positions with a searched move: plies without those of the openings.
    pub positions: u64,
    /// The number of plies.
    pub plies: u64,
    /// The number of positions without a score.
    pub unscored: u64,
    /// The size of the files in bytes.
    pub bytes: u64,
    /// The size per position.
    pub bytes_per_position: f64,
    /// Games by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Games by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// The number of games with the moves of an earlier one.
    pub duplicate_games: u64,
    /// The number of positions (pieces and turn) that occurred before.
    pub duplicate_positions: u64,
    /// Positions by their score for the side to move, in hundreds of units, rounded down; one class
    /// each beyond ±2,000.
    pub scores: BTreeMap<i32, u64>,
    /// Positions by the number of pieces.
    pub pieces: BTreeMap<u32, u64>,
    /// Games by their number of plies, in twenties.
    pub lengths: BTreeMap<usize, u64>,
}

/// Collects statistics. It keeps eight bytes per position.
#[derive(Default)]
pub struct Counter {
    stats: Stats,
    games: BTreeSet<[u8; 16]>,
    keys: Vec<u64>,
    figures: Figures,
}

impl Counter {
    /// Adds a shard.
    ///
    /// # Errors
    ///
    /// If a block is damaged.
    pub fn add<S: Source>(&mut self, shard: &Shard<S>) -> Result<(), ShardError> {
        self.stats.shards += 1;
        self.stats.bytes += shard.size();
        if shard.header().clock.is_some() {
            self.stats.timed_games += shard.games();
        }
        for block in 0..shard.index().len() {
            let Self { stats, games, keys, figures } = self;
            shard.block(block)?.read_with(
                |ply| {
                    keys.push(ply.position.key());
                    figures.add(&ply);
                },
                |_, record| stats.add_game(&record, games),
            )?;
        }
        Ok(())
    }

    /// Returns the statistics.
    #[must_use]
    pub fn finish(mut self) -> Stats {
        self.stats.duplicate_positions = repeated(&mut self.keys);
        let Figures { scores, pieces, unscored } = self.figures;
        self.stats.unscored = unscored;
        let classes = scores.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.stats.scores = classes.map(|(class, count)| (Figures::min_score(class), count)).collect();
        let classes = pieces.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.stats.pieces = classes.map(|(pieces, count)| (pieces as u32, count)).collect();
        self.stats.bytes_per_position = self.stats.bytes as f64 / (self.stats.positions as f64).max(1.0);
        for outcome in [Outcome::RedWins, Outcome::BlackWins, Outcome::Draw] {
            self.stats.outcomes.entry(outcome.name()).or_default();
        }
        for reason in Reason::all() {
            self.stats.reasons.entry(reason.name()).or_default();
        }
        self.stats
    }
}

/// Sorts the keys and counts those that repeat another.
pub(crate) fn repeated(keys: &mut [u64]) -> u64 {
    keys.sort_unstable();
    keys.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
}

impl Stats {
    fn add_game(&mut self, record: &Record, games: &mut BTreeSet<[u8; 16]>) {
        let plies = record.opening.moves.len() + record.moves.len();
        self.games += 1;
        self.positions += record.moves.len() as u64;
        self.plies += plies as u64;
        *self.outcomes.entry(record.outcome.name()).or_default() += 1;
        *self.reasons.entry(record.reason.name()).or_default() += 1;
        *self.lengths.entry(plies / 20 * 20).or_default() += 1;
        let mut hasher = Sha256::new();
        hasher.update(record.opening.start.to_string());
        let moves = record.opening.moves.iter().copied().chain(record.moves.iter().map(|scored| scored.mv));
        moves.for_each(|mv| hasher.update(mv.to_bits().to_le_bytes()));
        let digest: [u8; 32] = hasher.finalize().into();
        let half = *digest.first_chunk().expect("a digest is longer than its half");
        self.duplicate_games += u64::from(!games.insert(half));
    }
}
