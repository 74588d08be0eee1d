//! Reasons to refuse uploaded bytes.

use std::{fmt, ops::Range};

use xiangqi::rules::RuleSet;

use crate::{
    codec::CodecError,
    digest::Digest,
    entrant::Entrant,
    shard::{ShardError, ends_in_head},
    verify::{Fault, FaultKind},
};

/// The reason why bytes are not the requested games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum Refusal {
    #[error("{0}")]
    NotAShard(String),
    #[error("the bytes end before the shard does")]
    Truncated,
    #[error("{0}")]
    Corrupt(String),
    #[error("{0}")]
    Bomb(String),
    #[error("played by an engine with the bench signature {found}, not {expected}")]
    WrongEngine { expected: u64, found: u64 },
    #[error("{} played as {entrant:?}, not {}", Net(*found), Net(*expected))]
    WrongNet { entrant: Entrant, expected: Option<Digest>, found: Option<Digest> },
    #[error("played under the rules {found}, not {expected}")]
    WrongRules { expected: RuleSet, found: RuleSet },
    #[error("played with other settings than those asked for: {}", fields.join(", "))]
    WrongSettings { fields: Vec<&'static str> },
    #[error("played from openings of another kind than those asked for")]
    WrongOpenings,
    #[error("played from the seed {found}, not {expected}")]
    WrongSeed { expected: u64, found: u64 },
    #[error("{found} games from {first} on, not those from {} up to but not {}", expected.start, expected.end)]
    WrongGames { expected: Range<u64>, first: u64, found: u64 },
    #[error("{0}")]
    WrongOpening(Fault),
    #[error("{0}")]
    IllegalMove(Fault),
    #[error("{0}")]
    BadScore(Fault),
    #[error("{0}")]
    FalseLabel(Fault),
    #[error("{0}")]
    DuplicateGame(Fault),
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAShard(_) => "not_a_shard",
            Self::Truncated => "truncated",
            Self::Corrupt(_) => "corrupt",
            Self::Bomb(_) => "bomb",
            Self::WrongEngine { .. } => "wrong_engine",
            Self::WrongNet { .. } => "wrong_net",
            Self::WrongRules { .. } => "wrong_rules",
            Self::WrongSettings { .. } => "wrong_settings",
            Self::WrongOpenings => "wrong_openings",
            Self::WrongSeed { .. } => "wrong_seed",
            Self::WrongGames { .. } => "wrong_games",
            Self::WrongOpening(_) => "wrong_opening",
            Self::IllegalMove(_) => "illegal_move",
            Self::BadScore(_) => "bad_score",
            Self::FalseLabel(_) => "false_label",
            Self::DuplicateGame(_) => "duplicate_game",
        }
    }

    /// The fault of a game, if one is the reason.
    #[must_use]
    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::WrongOpening(fault)
            | Self::IllegalMove(fault)
            | Self::BadScore(fault)
            | Self::FalseLabel(fault)
            | Self::DuplicateGame(fault) => Some(fault),
            _ => None,
        }
    }

    /// Maps an error of the shard reader.
    pub(super) fn of_bytes(bytes: &[u8], error: &ShardError) -> Self {
        if ends_in_head(bytes) {
            return Self::Truncated;
        }
        match error {
            ShardError::NotAShard | ShardError::Version { .. } | ShardError::Flags { .. } => {
                Self::NotAShard(error.to_string())
            }
            ShardError::NoFooter => Self::Truncated,
            ShardError::BeyondBounds { .. } => Self::Bomb(error.to_string()),
            ShardError::DamagedFooter { offset } => Self::Corrupt(format!("the footer at byte {offset} is damaged")),
            ShardError::Game { game, cause, .. } => {
                Self::of_fault(Fault { game: *game, ply: None, kind: FaultKind::Unreadable(cause.clone()) })
            }
            _ => Self::Corrupt(error.to_string()),
        }
    }

    /// Maps a fault of a game.
    pub(super) fn of_fault(fault: Fault) -> Self {
        match &fault.kind {
            FaultKind::Label { .. } | FaultKind::ContinuesAfterEnd { .. } | FaultKind::Stops { .. } => {
                Self::FalseLabel(fault)
            }
            FaultKind::IllegalMove | FaultKind::Unreadable(CodecError::IllegalMove { .. }) => Self::IllegalMove(fault),
            FaultKind::Score { .. } | FaultKind::Unreadable(CodecError::BeyondScores { .. }) => Self::BadScore(fault),
            FaultKind::Opening
            | FaultKind::Attempt { .. }
            | FaultKind::Start
            | FaultKind::Pair { .. }
            | FaultKind::Unreadable(CodecError::NoOpening { .. } | CodecError::OtherOpening | CodecError::Start(_)) => {
                Self::WrongOpening(fault)
            }
            FaultKind::Duplicate { .. } => Self::DuplicateGame(fault),
            FaultKind::Unreadable(CodecError::TooLong { .. }) => Self::Bomb(fault.to_string()),
            FaultKind::Unreadable(CodecError::Misaligned | CodecError::NoSuchOutcome | CodecError::NoSuchReason) => {
                Self::Corrupt(fault.to_string())
            }
        }
    }
}

/// The name of a net in a sentence.
struct Net(Option<Digest>);

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hash) => write!(f, "the net {hash}"),
            None => f.write_str("the plain evaluation"),
        }
    }
}
