//! The record of a game.
//!
//! A game is a function of its shard's header and its number. The record holds the search's
//! decisions: the accepted attempt of the opening, the moves and their scores, and the end of the
//! game.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use xiangqi::{
    Fen, Move,
    rules::{Game, Outcome, RuleSet},
};

use crate::digest::Digest;

/// A search's evaluation for the side to move: hundredths of a pawn, with verdicts and mates
/// beyond.
pub type Score = i32;

/// The greatest distance of a score from zero: mate on the board.
pub const MAX_SCORE: Score = 32_000;

/// The reason for which a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The rules.
    Rules(xiangqi::rules::Reason),
    /// Adjudication: both sides' scores agreed on a win for long enough.
    AdjudicatedWin,
    /// Adjudication: both sides' scores were near zero for long enough.
    AdjudicatedDraw,
    /// The ply cap. Such a draw says nothing about the position.
    PlyCap,
    /// A late move, in a match under a clock. It says nothing about the position either.
    TimeLoss,
}

impl Reason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Self> {
        let rules = xiangqi::rules::Reason::ALL.into_iter().map(Self::Rules);
        // Shards hold indices into this list: new reasons are appended.
        rules.chain([Self::AdjudicatedWin, Self::AdjudicatedDraw, Self::PlyCap, Self::TimeLoss])
    }

    /// Whether the outcome is a label for the game's positions: the rules decided it, or scores
    /// that both sides agreed on.
    #[must_use]
    pub const fn is_label(self) -> bool {
        !matches!(self, Self::PlyCap | Self::TimeLoss)
    }

    /// The name in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rules(reason) => reason.name(),
            Self::AdjudicatedWin => "adjudicated_win",
            Self::AdjudicatedDraw => "adjudicated_draw",
            Self::PlyCap => "ply_cap",
            Self::TimeLoss => "time_loss",
        }
    }
}

/// The error for a text that names no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no game ends for this reason")]
pub struct ParseReasonError;

impl FromStr for Reason {
    type Err = ParseReasonError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all().find(|reason| reason.name() == text).ok_or(ParseReasonError)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The opening of a game: the parameters of its walk, and the resulting moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The rules of the game.
    pub rules: RuleSet,
    /// The position before the first move.
    pub start: Fen,
    /// The seed of the walk.
    pub seed: u64,
    /// The number of the accepted attempt.
    pub attempt: u64,
    /// The random moves.
    pub moves: Vec<Move>,
}

impl Opening {
    /// The game after the opening.
    ///
    /// # Panics
    ///
    /// If the moves are not those of an opening.
    #[must_use]
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start.clone(), self.rules);
        for &mv in &self.moves {
            game.push(mv).expect("the moves of an opening are legal, and the game is not over after them");
        }
        game
    }
}

/// A searched move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// The legal move.
    pub mv: Move,
    /// The search's score for the side that moves; none if the search ended without one.
    pub score: Option<Score>,
}

/// A game of self-play. Its number, seed and digest are derived, not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The opening, before any search.
    pub opening: Opening,
    /// The moves after the opening.
    pub moves: Vec<ScoredMove>,
    /// The outcome, by the rules, adjudication or the ply cap.
    pub outcome: Outcome,
    /// The reason for the outcome.
    pub reason: Reason,
}

impl Record {
    /// The digest of the decoded record, in whatever file it is stored.
    ///
    /// It hashes the text `chuhe record 1`, rule set, start, outcome and reason as text, each ended
    /// by a zero byte. Little-endian numbers follow. Seed and attempt have 8 bytes each. Then come
    /// the number of opening moves (4) and each move (2, [`Move::to_bits`]). Last are the number of
    /// further moves (4) and each with its score (2 + 2). −32768 stands for no score.
    ///
    /// # Panics
    ///
    /// If a score is out of bounds.
    #[must_use]
    pub fn digest(&self) -> Digest {
        const UNSCORED: i16 = i16::MIN;
        let opening = &self.opening;
        let mut hasher = Sha256::new();
        let start = opening.start.to_string();
        let words = ["chuhe record 1", opening.rules.name(), &start, self.outcome.name(), self.reason.name()];
        for word in words {
            hasher.update(word);
            hasher.update([0]);
        }
        hasher.update(opening.seed.to_le_bytes());
        hasher.update(opening.attempt.to_le_bytes());
        hasher.update((opening.moves.len() as u32).to_le_bytes());
        for mv in &opening.moves {
            hasher.update(mv.to_bits().to_le_bytes());
        }
        hasher.update((self.moves.len() as u32).to_le_bytes());
        for ScoredMove { mv, score } in &self.moves {
            let score =
                score.map_or(UNSCORED, |score| i16::try_from(score).expect("scores are kept within sixteen bits"));
            hasher.update(mv.to_bits().to_le_bytes());
            hasher.update(score.to_le_bytes());
        }
        <[u8; 32]>::from(hasher.finalize()).into()
    }
}

/// The digest of a run of games: the SHA-256 of their digests in order.
#[derive(Clone, Default)]
pub struct RunDigest(Sha256);

impl RunDigest {
    /// Adds the next game.
    pub fn add(&mut self, record: &Record) {
        self.0.update(record.digest().as_bytes());
    }

    /// The digest of the games added.
    #[must_use]
    pub fn digest(&self) -> Digest {
        <[u8; 32]>::from(self.0.clone().finalize()).into()
    }
}
