//! Adjudication: games that end early by the players' scores.
//!
//! It is a function of the recorded scores and these thresholds, so every reader of a record gets
//! the same result.

use serde::{Deserialize, Serialize};
use xiangqi::{Color, rules::Outcome};

use crate::record::{Reason, Score};

/// Win adjudication: both players agree that one of them wins, for some plies in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WinRule {
    /// The winner's score, at least.
    pub score: Score,
    /// The number of plies in a row, both players' counted.
    pub plies: u32,
}

/// Draw adjudication: both players' scores are near zero for some plies in a row, late enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawRule {
    /// The scores' distance from zero, at most.
    pub score: Score,
    /// The number of plies in a row, both players' counted.
    pub plies: u32,
    /// The first ply of the game at which it applies, the opening counted.
    pub from_ply: u32,
}

/// The adjudication rules; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// The rule for wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win: Option<WinRule>,
    /// The rule for draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawRule>,
}

impl Adjudication {
    /// Returns the outcome after the last of these scores, if they decide one.
    ///
    /// `scores` are those of all moves after an opening of `opening_plies` plies, each for the side
    /// that moved. Moves without a score break every streak. `mover` made the last move.
    #[must_use]
    pub fn verdict(
        &self,
        scores: impl DoubleEndedIterator<Item = Option<Score>> + ExactSizeIterator + Clone,
        opening_plies: usize,
        mover: Color,
    ) -> Option<(Outcome, Reason)> {
        // From the last to the first, for Red.
        let mut sign = if mover == Color::Red { 1 } else { -1 };
        let plies = opening_plies + scores.len();
        let for_red = scores.rev().map(move |score| {
            let for_red = score.map(|score| sign * score);
            sign = -sign;
            for_red
        });
        let streak = |holds: &dyn Fn(Score) -> bool, enough: u32| {
            enough > 0
                && for_red.clone().take_while(|score| score.is_some_and(holds)).take(enough as usize).count()
                    == enough as usize
        };
        if let Some(WinRule { score: min, plies }) = self.win {
            if streak(&|score| score >= min, plies) {
                return Some((Outcome::RedWins, Reason::AdjudicatedWin));
            }
            if streak(&|score| score <= -min, plies) {
                return Some((Outcome::BlackWins, Reason::AdjudicatedWin));
            }
        }
        if let Some(rule) = self.draw
            && plies >= rule.from_ply as usize
            && streak(&|score| score.abs() <= rule.score, rule.plies)
        {
            return Some((Outcome::Draw, Reason::AdjudicatedDraw));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Adjudication = Adjudication {
        win: Some(WinRule { score: 1000, plies: 4 }),
        draw: Some(DrawRule { score: 5, plies: 3, from_ply: 10 }),
    };

    fn verdict(scores: &[Score], opening_plies: usize, mover: Color) -> Option<(Outcome, Reason)> {
        RULES.verdict(scores.iter().copied().map(Some), opening_plies, mover)
    }

    #[test]
    fn wins_need_both_players_and_time() {
        let won = |outcome| Some((outcome, Reason::AdjudicatedWin));
        assert_eq!(verdict(&[0, 1000, -1000, 1500, -2000], 0, Color::Black), won(Outcome::RedWins));
        assert_eq!(verdict(&[0, 1000, -1000, 1500, -2000], 0, Color::Red), won(Outcome::BlackWins));
        assert_eq!(verdict(&[1000, -1000, 1500], 0, Color::Red), None);
        assert_eq!(verdict(&[1000, -999, 1500, -2000], 0, Color::Black), None);
        assert_eq!(verdict(&[1000, 1000, 1500, 2000], 0, Color::Black), None);
        let unscored = [Some(1000), None, Some(1500), Some(-2000)];
        assert_eq!(RULES.verdict(unscored.into_iter(), 0, Color::Black), None);
    }

    #[test]
    fn draws_need_a_minimum_ply() {
        let drawn = Some((Outcome::Draw, Reason::AdjudicatedDraw));
        assert_eq!(verdict(&[5, -5, 0], 7, Color::Red), drawn);
        assert_eq!(verdict(&[5, -5, 0], 6, Color::Red), None);
        assert_eq!(verdict(&[6, -5, 0], 7, Color::Red), None);
        assert_eq!(Adjudication::default().verdict([Some(0); 500].into_iter(), 0, Color::Red), None);
    }
}
