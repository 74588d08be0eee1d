//! A game that claims a result, judged by the rules.

use super::{ReadError, Replay, Transcript};
use crate::rules::{Outcome, RuleSet};

/// Whether the claimed result is that of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Agreement {
    /// The same result, or none in both.
    Agrees,
    /// Another result.
    Differs,
    /// Only one of the two has a result: resignation, time, adjudication; or `*`.
    Undecided,
}

/// A game with its claim and its verdict.
#[derive(Clone, Debug)]
pub struct JudgedGame {
    /// The rules by which it was judged.
    pub rules: RuleSet,
    /// The game, until the rules or its moves ended it.
    pub replay: Replay,
    /// The result that the text claims; the inner option is empty if it is not over.
    pub claimed: Option<Option<Outcome>>,
    /// The comparison of claim and verdict.
    pub agreement: Agreement,
}

impl Transcript {
    /// Judges the game by these rules, or by those of its tag `Rules`, or by the default ones.
    ///
    /// # Errors
    ///
    /// If a move before the end is not legal.
    pub fn judge(&self, rules: Option<RuleSet>) -> Result<JudgedGame, ReadError> {
        let tagged = || self.tag("Rules").and_then(|name| name.parse().ok());
        let rules = rules.or_else(tagged).unwrap_or_default();
        let replay = self.play(rules)?;
        let claimed = self.claimed();
        let verdict = replay.game.status().ending().map(|ending| ending.outcome);
        // In a decider, Black wins a draw.
        let drawn_for_black = self.tag("Termination").is_some_and(|text| text.ends_with(DRAW_WINS_BLACK));
        let agreement = match (claimed, verdict) {
            (None, _) | (Some(Some(_)), None) | (Some(None), Some(_)) => Agreement::Undecided,
            (Some(Some(Outcome::BlackWins)), Some(Outcome::Draw)) if drawn_for_black => Agreement::Agrees,
            (Some(claimed), verdict) if claimed == verdict => Agreement::Agrees,
            _ => Agreement::Differs,
        };
        Ok(JudgedGame { rules, replay, claimed, agreement })
    }
}

/// The end of the tag `Termination` in a decider, where Black wins a game that the rules draw.
pub const DRAW_WINS_BLACK: &str = "a draw is Black's win";
