//! The formatting of search results.

use std::{fmt::Write as _, time::Duration};

use xiangqi::{Move, Position, notation::Notation};

use super::Protocol;
use crate::{
    report::{Line, LineBound, Report},
    score::{self, Score},
};

/// The output format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) protocol: Protocol,
    pub(super) notation: Notation,
    pub(super) show_wdl: bool,
}

impl Style {
    pub(super) fn mv(self, position: &Position, mv: Move) -> String {
        // Coordinate notation does not depend on the pieces, so any position of the line serves.
        position.format_move(mv, self.notation)
    }

    /// Formats a report; `None` before the first result.
    pub(super) fn report(self, position: &Position, report: &Report) -> Option<String> {
        let mut text = String::new();
        let known = report.lines.iter().filter(|line| line.score.abs() < score::INFINITE);
        for (number, line) in known.enumerate() {
            match self.protocol {
                Protocol::Uci => self.uci(&mut text, position, report, number, line),
                // UCCI has no MultiPV.
                Protocol::Ucci if number == 0 => self.ucci(&mut text, position, report, line),
                Protocol::Ucci => {}
            }
        }
        (!text.is_empty()).then(|| text.trim_end().to_owned())
    }

    fn uci(self, text: &mut String, position: &Position, report: &Report, number: usize, line: &Line) {
        let Report { depth, selective_depth, nodes, table_fullness, .. } = report;
        _ = write!(text, "info depth {depth} seldepth {selective_depth} multipv {}", number + 1);
        _ = write!(text, " score {}", uci_score(line.score));
        text.push_str(match line.bound {
            LineBound::Exact => "",
            LineBound::AtLeast => " lowerbound",
            LineBound::AtMost => " upperbound",
        });
        if self.show_wdl {
            let [win, draw, loss] = win_draw_loss(line.score);
            _ = write!(text, " wdl {win} {draw} {loss}");
        }
        let time = report.time.as_millis();
        let nps = per_second(*nodes, report.time);
        _ = write!(text, " nodes {nodes} nps {nps} hashfull {table_fullness} time {time} pv");
        self.variation(text, position, line);
    }

    fn ucci(self, text: &mut String, position: &Position, report: &Report, line: &Line) {
        _ = writeln!(text, "info time {} nodes {}", report.time.as_millis(), report.nodes);
        _ = write!(text, "info depth {} score {} pv", report.depth, line.score);
        self.variation(text, position, line);
    }

    fn variation(self, text: &mut String, position: &Position, line: &Line) {
        for mv in &line.moves {
            _ = write!(text, " {}", self.mv(position, *mv));
        }
        text.push('\n');
    }

    /// Formats the result where the side to move has no legal move, and so has lost.
    pub(super) fn no_legal_move(self) -> String {
        match self.protocol {
            Protocol::Uci => "info depth 0 score mate 0".to_owned(),
            Protocol::Ucci => format!("info depth 0 score {}", score::mated_in(0)),
        }
    }

    /// Formats `bestmove`, the last line of a search.
    pub(super) fn best(self, position: &Position, line: &[Move]) -> String {
        match (self.protocol, line) {
            (Protocol::Uci, []) => "bestmove (none)".to_owned(),
            (Protocol::Ucci, []) => "nobestmove".to_owned(),
            (_, [best]) => format!("bestmove {}", self.mv(position, *best)),
            (_, [best, reply, ..]) => {
                format!("bestmove {} ponder {}", self.mv(position, *best), self.mv(position, *reply))
            }
        }
    }
}

/// Formats a score for UCI. Verdicts are not mates: they are shown as centipawns beyond any
/// evaluation.
fn uci_score(score: Score) -> String {
    match mate_in_moves(score) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {score}"),
    }
}

/// Mate distance in the winner's moves; negative if the side to move is mated.
pub(super) fn mate_in_moves(score: Score) -> Option<Score> {
    if !score::is_decided(score) || score::is_verdict(score) {
        return None;
    }
    let plies = score::MATE - score.abs();
    Some(if score > 0 { (plies + 1) / 2 } else { -((plies + 1) / 2) })
}

/// The WDL model: thousandths of wins, draws and losses by score. For display only.
///
/// Provisional, not fitted to games: three pawns win one game in two, and nine even positions in
/// ten are drawn.
fn win_draw_loss(score: Score) -> [i32; 3] {
    const EVEN_ODDS: f64 = 300.0;
    const SCALE: f64 = 100.0;
    let chance = |score: Score| 1.0 / (1.0 + ((EVEN_ODDS - f64::from(score)) / SCALE).exp());
    let win = (1000.0 * chance(score)).round() as i32;
    let loss = (1000.0 * chance(-score)).round() as i32;
    [win, 1000 - win - loss, loss]
}

pub(super) fn per_second(nodes: u64, time: Duration) -> u128 {
    u128::from(nodes) * 1_000_000 / time.as_micros().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_mates_or_centipawns() {
        for (score, text) in [
            (0, "cp 0"),
            (-20_000, "cp -20000"),
            (score::mate_in(1), "mate 1"),
            (score::mate_in(3), "mate 2"),
            (score::mated_in(0), "mate 0"),
            (score::mated_in(2), "mate -1"),
            (score::mated_in(4), "mate -2"),
            (score::VERDICT - 4, "cp 29996"),
            (6 - score::VERDICT, "cp -29994"),
        ] {
            assert_eq!(uci_score(score), text);
        }
    }

    #[test]
    fn chances_add_up_and_rise_with_the_score() {
        let mut before = [0, 0, 1000];
        for score in (-2000..=2000).step_by(50) {
            let chances = win_draw_loss(score);
            assert_eq!(chances.iter().sum::<i32>(), 1000);
            assert!(chances.iter().all(|chance| (0..=1000).contains(chance)));
            assert!(chances[0] >= before[0] && chances[2] <= before[2]);
            let [win, draw, loss] = win_draw_loss(-score);
            assert_eq!(chances, [loss, draw, win]);
            before = chances;
        }
        assert_eq!(win_draw_loss(score::mate_in(1)), [1000, 0, 0]);
    }
}
