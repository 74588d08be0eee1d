//! Ending games early, by what the players think of them.
//!
//! An adjudication is a function of the recorded scores and these thresholds: whoever has the record decides the same.

use serde::{Deserialize, Serialize};
use xiangqi::{Color, rules::Outcome};

use crate::record::{Reason, Score};

/// A game is won when both players have said so for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WinRule {
    /// How good the position is for the winner, at least.
    pub score: Score,
    /// For how many plies in a row, both players' taken together.
    pub plies: u32,
}

/// A game is drawn when neither player has had anything for a while, late enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawRule {
    /// How far from even the scores are, at most.
    pub score: Score,
    /// For how many plies in a row, both players' taken together.
    pub plies: u32,
    /// Not before so many plies of the game, its opening included.
    pub from_ply: u32,
}

/// When games end by their scores; never, by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// When they are won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win: Option<WinRule>,
    /// When they are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawRule>,
}

impl Adjudication {
    /// What the scores say after the last of them, if they say anything.
    ///
    /// `scores` are those of all moves since the opening, of `opening_plies` plies, each for the side that moved; none
    /// for moves without one, which both rules take as a disagreement. `mover` made the last of them.
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
        if let Some(WinRule { score: least, plies }) = self.win {
            if streak(&|score| score >= least, plies) {
                return Some((Outcome::RedWins, Reason::AdjudicatedWin));
            }
            if streak(&|score| score <= -least, plies) {
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
    fn draws_need_a_late_hour() {
        let drawn = Some((Outcome::Draw, Reason::AdjudicatedDraw));
        assert_eq!(verdict(&[5, -5, 0], 7, Color::Red), drawn);
        assert_eq!(verdict(&[5, -5, 0], 6, Color::Red), None);
        assert_eq!(verdict(&[6, -5, 0], 7, Color::Red), None);
        assert_eq!(Adjudication::default().verdict([Some(0); 500].into_iter(), 0, Color::Red), None);
    }
}
