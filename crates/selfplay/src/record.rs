//! What is kept of a game of self-play.

use std::fmt;

use engine::Score;
use sha2::{Digest as _, Sha256};
use xiangqi::{Move, rules::Outcome};

use crate::openings::Opening;

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
}

impl Reason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Self> {
        let rules = xiangqi::rules::Reason::ALL.into_iter().map(Self::Rules);
        rules.chain([Self::AdjudicatedWin, Self::AdjudicatedDraw, Self::PlyCap])
    }

    /// The word used in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rules(reason) => reason.name(),
            Self::AdjudicatedWin => "adjudicated_win",
            Self::AdjudicatedDraw => "adjudicated_draw",
            Self::PlyCap => "ply_cap",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

/// A SHA-256: of a record, of a run of them, of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Record {
    /// The digest of the decoded record, whatever file it is in.
    ///
    /// What is hashed: the words `chuhe record 1`, then rule set, position at the start, outcome and reason as text,
    /// each ended by a zero byte; then, little-endian, seed and attempt in eight bytes each, the number of the opening's
    /// moves in four and each move in two ([`Move::to_bits`]), the number of further moves in four and each in two with
    /// its score in two, −32768 if it has none.
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
        Digest(hasher.finalize().into())
    }
}

/// The digest of games in order: the SHA-256 of their digests.
#[derive(Clone, Default)]
pub struct RunDigest(Sha256);

impl RunDigest {
    /// Adds the next game.
    pub fn add(&mut self, record: &Record) {
        self.0.update(record.digest().0);
    }

    /// The digest of the games added.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest(self.0.clone().finalize().into())
    }
}
