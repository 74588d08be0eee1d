//! Scores in the comments of runners and engines.

use crate::record::{MAX_SCORE, Score};

/// A search's evaluation, as a comment behind a move states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// For the side that moved, of the position before the move: the score of the search that chose
    /// the move.
    ForMover(Score),
    /// For Red, of the position after the move.
    ForRed(Score),
}

/// The evaluation in a comment, if there is one.
///
/// | comment | of |
/// |---|---|
/// | `+0.31/12 0.104s 23456n`, `+0.31` | our matches and exports |
/// | `-1.20/18 0.5s`, `0.00/9`, `+M7/20 1s, mates` | runners of matches; `M` counts plies |
/// | `[%eval -1.2]`, `[%eval 0.35,20]`, `[%eval #-3]` | analysis servers; `#` counts moves |
///
/// Scores in pawns need a sign or a depth. Mates become scores next to [`MAX_SCORE`].
#[must_use]
pub fn evaluation(comment: &str) -> Option<Evaluation> {
    if let Some((_, rest)) = comment.split_once("[%eval ") {
        let value = rest.split([']', ',', ' ']).next()?;
        let score = match value.strip_prefix('#') {
            Some(moves) => {
                let moves: Score = moves.parse().ok()?;
                mate(moves.checked_abs()?.checked_mul(2)?, moves < 0)
            }
            None => pawns(value)?,
        };
        return Some(Evaluation::ForRed(score));
    }
    let word = comment.split([' ', ',', ';']).next()?;
    let (value, depth) = word.split_once('/').map_or((word, None), |(value, depth)| (value, Some(depth)));
    let has_depth = depth.is_some_and(|depth| !depth.is_empty() && depth.bytes().all(|byte| byte.is_ascii_digit()));
    let is_signed = depth.is_none() && value.starts_with(['+', '-']);
    if !has_depth && !is_signed {
        return None;
    }
    let bare = value.trim_start_matches(['+', '-']);
    let score = match bare.strip_prefix('M') {
        Some(plies) => mate(plies.parse().ok().filter(|plies| *plies >= 0)?, value.starts_with('-')),
        None => pawns(value)?,
    };
    Some(Evaluation::ForMover(score))
}

/// The score of a mate after this number of plies.
fn mate(plies: Score, is_against: bool) -> Score {
    let score = MAX_SCORE - plies.min(MAX_SCORE);
    if is_against { -score } else { score }
}

/// A number of pawns, in hundredths, within the greatest score.
fn pawns(text: &str) -> Option<Score> {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = bare.split_once('.')?;
    let is_number = |text: &str| (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    // Two digits count; a third rounds.
    let thousandths: Score = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let score = whole.parse::<Score>().ok()?.checked_mul(100)?.checked_add((thousandths + 5) / 10)?.min(MAX_SCORE);
    Some(if text.starts_with('-') { -score } else { score })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_runners_are_read() {
        use Evaluation::{ForMover, ForRed};
        for (comment, expected) in [
            ("+0.31/12 0.104s 23456n", Some(ForMover(31))),
            ("-0.05/12 0.104s 23456n", Some(ForMover(-5))),
            ("+319.98/20 0.1s 5n", Some(ForMover(31_998))),
            ("+0.35", Some(ForMover(35))),
            ("-12.5", Some(ForMover(-1_250))),
            ("0.00/30 0.5s, Draw by 3-fold repetition", Some(ForMover(0))),
            ("+0.35/12, a comment", Some(ForMover(35))),
            ("+M7/20 1.2s, mates", Some(ForMover(31_993))),
            ("-M12/9", Some(ForMover(-31_988))),
            ("+999.99/1", Some(ForMover(32_000))),
            ("[%clk 0:01:00] [%eval -1.25]", Some(ForRed(-125))),
            ("[%eval 0.355,20]", Some(ForRed(36))),
            ("[%eval #-3]", Some(ForRed(-31_994))),
            ("[%eval #2]", Some(ForRed(31_996))),
            ("?/12 0.104s 1n", None),
            ("opening", None),
            ("book", None),
            ("", None),
            ("0.35", None),
            ("1.5 minutes", None),
            ("0.104s", None),
            ("+5", None),
            ("-M", None),
            ("+0.3x/5", None),
            ("+0.35/x", None),
            ("--0.35", None),
            ("[%eval x]", None),
            ("[%eval #-2147483648]", None),
        ] {
            assert_eq!(evaluation(comment), expected, "{comment}");
        }
    }
}
