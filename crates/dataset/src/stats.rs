//! What is in some shards, counted.

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

/// Counts of everything.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Files.
    pub shards: u64,
    /// Games.
    pub games: u64,
    /// Games that were played under a clock: nobody can prove them, and they are no training data.
    pub timed_games: u64,
    /// Positions with a move of the search: plies without those of the openings.
    pub positions: u64,
    /// All plies.
    pub plies: u64,
    /// Positions without a score.
    pub unscored: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// How many of these there are to a position.
    pub bytes_per_position: f64,
    /// Games by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Games by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Games whose moves are those of another.
    pub duplicate_games: u64,
    /// Positions, pieces and turn, that are there already.
    pub duplicate_positions: u64,
    /// Positions by their score for the side to move, in hundreds of units rounded down; beyond ±2,000 in one class.
    pub scores: BTreeMap<i32, u64>,
    /// Positions by how many pieces are on the board.
    pub pieces: BTreeMap<u32, u64>,
    /// Games by their plies, in twenties.
    pub lengths: BTreeMap<usize, u64>,
}

/// Counts shards. Keys of positions take eight bytes each.
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

    /// What was counted.
    #[must_use]
    pub fn finish(mut self) -> Stats {
        self.stats.duplicate_positions = repeated(&mut self.keys);
        let Figures { scores, pieces, unscored } = self.figures;
        self.stats.unscored = unscored;
        let classes = scores.into_iter().enumerate().filter(|(_, count)| *count > 0);
        self.stats.scores = classes.map(|(class, count)| (Figures::least_score(class), count)).collect();
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

/// How many of these are there already when they come; they are sorted.
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
