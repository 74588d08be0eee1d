//! What is kept of a game.
//!
//! A game is a function of its shard's header and its number; the record holds what a search decided: the attempt that
//! was kept of the opening's walks, the moves and their scores, and how it ended.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use xiangqi::{
    Fen, Move,
    rules::{Game, Outcome, RuleSet},
};

use crate::digest::Digest;

/// What a search says of a position, for the side to move: hundredths of a pawn, beyond which lie verdicts and mates.
pub type Score = i32;

/// No score is further from even: mate on the board.
pub const MOST_SCORE: Score = 32_000;

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// By the rules.
    Rules(xiangqi::rules::Reason),
    /// Both sides had long said that it was won.
    AdjudicatedWin,
    /// Both sides had long said that nothing was left in it.
    AdjudicatedDraw,
    /// It grew too long. Its draw says nothing about the position.
    PlyCap,
    /// A player's move came late, in a match under time. That says nothing about the position either.
    TimeLoss,
}

impl Reason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Self> {
        let rules = xiangqi::rules::Reason::ALL.into_iter().map(Self::Rules);
        // Shards hold their places in this list: whatever is new comes last.
        rules.chain([Self::AdjudicatedWin, Self::AdjudicatedDraw, Self::PlyCap, Self::TimeLoss])
    }

    /// Whether the rules say so, or scores that both sides agreed on: whether the outcome says something of the game's
    /// positions.
    #[must_use]
    pub const fn is_label(self) -> bool {
        !matches!(self, Self::PlyCap | Self::TimeLoss)
    }

    /// The word used in commands and files.
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

/// A text that names no reason.
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

/// Where a game began: what a walk is a function of, and the moves it led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The rules of the game.
    pub rules: RuleSet,
    /// The position before the first move.
    pub start: Fen,
    /// The seed of the walk.
    pub seed: u64,
    /// The number of the attempt that was kept.
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
            game.push(mv).expect("the moves of an opening are legal, and the game goes on after them");
        }
        game
    }
}

/// A move that was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// The search's score for the side that moves; none if the search ended before it had one.
    pub score: Option<Score>,
}

/// A game of self-play. Its number, seed and digest can be derived and are no part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it began.
    pub opening: Opening,
    /// The moves after the opening.
    pub moves: Vec<ScoredMove>,
    /// Who won.
    pub outcome: Outcome,
    /// Why it ended.
    pub reason: Reason,
}

impl Record {
    /// The digest of the decoded record, whatever file it is in.
    ///
    /// What is hashed: the words `chuhe record 1`, then rule set, position at the start, outcome and reason as text,
    /// each ended by a zero byte; then, little-endian, seed and attempt in eight bytes each, the number of the
    /// opening's moves in four and each move in two ([`Move::to_bits`]), the number of further moves in four and each
    /// in two with its score in two, −32768 if it has none.
    ///
    /// # Panics
    ///
    /// If a score is none that searches give.
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

/// The digest of games in order: the SHA-256 of their digests.
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
