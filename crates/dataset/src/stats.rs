//! What is in some shards, counted.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use xiangqi::rules::Outcome;

use crate::{
    codec::Ply,
    record::{Reason, Record, Score},
    shard::{Shard, ShardError, Source},
};

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
}

/// Where the table of scores ends.
const MOST_CLASS: Score = 20;

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
            let Self { stats, games, keys } = self;
            let mut by_score = [0; 2 * MOST_CLASS as usize + 2];
            let mut by_pieces = [0; 33];
            let mut unscored = 0;
            shard.block(block)?.read_with(
                |Ply { position, scored, .. }| {
                    keys.push(position.key());
                    by_pieces[position.occupied().count() as usize] += 1;
                    match scored.score {
                        Some(score) => by_score[(class_of(score) + MOST_CLASS + 1) as usize] += 1,
                        None => unscored += 1,
                    }
                },
                |_, record| stats.add_game(&record, games),
            )?;
            stats.unscored += unscored;
            for (class, count) in by_score.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                *stats.scores.entry((class as Score - MOST_CLASS - 1) * 100).or_default() += count;
            }
            for (pieces, count) in by_pieces.into_iter().enumerate().filter(|(_, count)| *count > 0) {
                *stats.pieces.entry(pieces as u32).or_default() += count;
            }
        }
        Ok(())
    }

    /// What was counted.
    #[must_use]
    pub fn finish(mut self) -> Stats {
        self.keys.sort_unstable();
        self.stats.duplicate_positions = self.keys.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
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

fn class_of(score: Score) -> Score {
    score.div_euclid(100).clamp(-MOST_CLASS - 1, MOST_CLASS)
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
