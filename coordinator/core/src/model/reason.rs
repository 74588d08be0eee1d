//! Reasons that the coordinator records: why a campaign waits, a net is disputed, a shard was
//! rejected, an account is in quarantine.

use std::fmt;

use dataset::delivery::Refusal;
use serde::{Deserialize, Serialize, Serializer};
use xiangqi::text::counted;

use super::JobId;

/// A reason with its parameters. Its text is English; pages render it in each language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the texts say what each is")]
pub enum Reason {
    /// Free text of a person or program, or of an older version of this one.
    Text(String),
    AccountDeleted,
    AuditsMissing {
        games: i64,
    },
    CampaignStopped,
    CandidatesRejected {
        candidates: i64,
        generation: i64,
    },
    ChampionRolledBack,
    GameDiffered {
        game: u64,
        job: JobId,
    },
    GamesOpen {
        games: i64,
    },
    GateUnproven {
        pairs: u64,
    },
    GivenUp,
    /// The fault of a game.
    InGame {
        game: u64,
        ply: Option<u64>,
        text: String,
    },
    Inconclusive,
    NoTrainer,
    NotStronger,
    /// The message to workers of an account in quarantine.
    Quarantined(Box<Self>),
    RuledWrong {
        game: u64,
        job: JobId,
    },
    TrainingFailed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::AccountDeleted => f.write_str("the account was deleted"),
            Self::AuditsMissing { games } => {
                let are = if *games == 1 { "is" } else { "are" };
                write!(f, "the gate has a verdict; {games} of its games {are} still to be played again by others")
            }
            Self::CampaignStopped => f.write_str("the campaign was stopped"),
            Self::CandidatesRejected { candidates, generation } => {
                let were = if *candidates == 1 { "was" } else { "were" };
                let candidates = counted(*candidates as usize, "candidate");
                write!(f, "{candidates} of generation {generation} {were} not promoted")
            }
            Self::ChampionRolledBack => f.write_str("its champion was rolled back"),
            Self::GameDiffered { game, job } => {
                write!(f, "game {game} of job {job} came out otherwise when a trusted worker played it")
            }
            Self::GamesOpen { games } => {
                let games = counted(*games as usize, "game");
                write!(f, "{games} of the next training set wait for an audit or a check")
            }
            Self::GateUnproven { pairs } => {
                let pairs = counted(*pairs as usize, "pair");
                write!(f, "after a quarantine its gate has {pairs} left in order, too few for a proof")
            }
            Self::GivenUp => f.write_str("a maintainer gave it up"),
            Self::InGame { game, ply: Some(ply), text } => write!(f, "game {game} ply {ply}: {text}"),
            Self::InGame { game, ply: None, text } => write!(f, "game {game}: {text}"),
            Self::Inconclusive => f.write_str("it is undecided after all pairs of its gate"),
            Self::NoTrainer => f.write_str("no trainer finished it"),
            Self::NotStronger => f.write_str("it is not stronger"),
            Self::Quarantined(reason) => write!(f, "your games are in quarantine: {reason}"),
            Self::RuledWrong { game, job } => {
                write!(f, "game {game} of job {job} came out otherwise when the referee played it")
            }
            Self::TrainingFailed => f.write_str("the training failed"),
        }
    }
}

impl From<&str> for Reason {
    /// Text of a person or program, without control characters: it reaches terminals.
    fn from(text: &str) -> Self {
        Self::Text(text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect())
    }
}

impl From<&Refusal> for Reason {
    fn from(refusal: &Refusal) -> Self {
        match refusal.fault() {
            Some(fault) => {
                let ply = fault.ply.map(|ply| ply as u64);
                Self::InGame { game: fault.game, ply, text: fault.kind.to_string() }
            }
            None => Self::Text(refusal.to_string()),
        }
    }
}

impl Reason {
    /// The content of its column: text as it is, all others as JSON.
    #[must_use]
    pub fn to_column(&self) -> String {
        match self {
            Self::Text(text) if !matches!(parse(text), Some(reason) if reason != *self) => text.clone(),
            other => serde_json::to_string(other).unwrap_or_else(|_| other.to_string()),
        }
    }

    /// Reads a column.
    #[must_use]
    pub fn from_column(text: String) -> Self {
        parse(&text).unwrap_or(Self::Text(text))
    }

    /// Serializes a reason as its English text, for reports.
    pub fn as_text<S: Serializer>(reason: &Option<Self>, serializer: S) -> Result<S::Ok, S::Error> {
        reason.as_ref().map(ToString::to_string).serialize(serializer)
    }
}

fn parse(text: &str) -> Option<Reason> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_every_reason() {
        let mistaken = Reason::NoTrainer.to_column();
        for reason in [
            Reason::NoTrainer,
            Reason::AuditsMissing { games: 3 },
            Reason::GamesOpen { games: 3 },
            Reason::InGame { game: 7, ply: None, text: "the same moves as game 5".to_owned() },
            Reason::Quarantined(Box::new(Reason::GameDiffered { game: 7, job: JobId(2) })),
            Reason::Quarantined(Box::new("by hand".into())),
            "out of memory".into(),
            "".into(),
            // Text that looks like a stored reason stays text.
            mistaken.as_str().into(),
            r#"{"text":"x"}"#.into(),
        ] {
            assert_eq!(Reason::from_column(reason.to_column()), reason, "{reason:?}");
        }
        assert_eq!(Reason::from("by hand").to_column(), "by hand", "text is stored as it is");
        assert_eq!(Reason::from("by\x1b[2Jhand\n").to_string(), "by [2Jhand ", "but for control characters");
    }

    #[test]
    fn the_fault_of_a_game_keeps_its_place() {
        use dataset::verify::{Fault, FaultKind};
        for ply in [None, Some(9)] {
            let fault = Refusal::IllegalMove(Fault { game: 41, ply, kind: FaultKind::IllegalMove });
            let reason = Reason::from(&fault);
            assert_eq!(reason.to_string(), fault.to_string(), "the English text is the validator's");
            assert!(matches!(reason, Reason::InGame { game: 41, .. }));
        }
        assert_eq!(Reason::from(&Refusal::Truncated), Refusal::Truncated.to_string().as_str().into());
    }

    #[test]
    fn one_is_singular() {
        let rejected = |candidates| Reason::CandidatesRejected { candidates, generation: 2 }.to_string();
        assert_eq!(rejected(1), "1 candidate of generation 2 was not promoted");
        assert_eq!(rejected(3), "3 candidates of generation 2 were not promoted");
        let missing = |games| Reason::AuditsMissing { games }.to_string();
        assert!(missing(1).contains("1 of its games is still") && missing(2).contains("2 of its games are still"));
    }

    #[test]
    fn sentences_of_older_versions_are_text() {
        let old = "3 candidates of generation 2 were rejected";
        let read = Reason::from_column(old.to_owned());
        assert_eq!((read.to_string().as_str(), read), (old, old.into()));
    }
}
