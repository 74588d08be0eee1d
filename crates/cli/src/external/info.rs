//! `info` lines of a search.

use engine::score::{MATE, MAX_EVALUATION, Score};

/// The latest information on an engine's best line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    pub(super) score: Option<Score>,
    pub(super) depth: u32,
    pub(super) nodes: u64,
    /// The moves of the line, in the engine's notation.
    pub(super) line: Vec<String>,
}

impl Info {
    /// Updates the fields that an `info` line sets; invalid numbers are ignored.
    pub(super) fn update(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace().peekable();
        if words.next() != Some("info") {
            return;
        }
        let mut new = self.clone();
        while let Some(word) = words.next() {
            match word {
                "multipv" if words.peek().is_some_and(|number| *number != "1") => return,
                "depth" => new.depth = words.peek().and_then(|text| text.parse().ok()).unwrap_or(new.depth),
                "nodes" => new.nodes = words.peek().and_then(|text| text.parse().ok()).unwrap_or(new.nodes),
                "score" => {
                    let (unit, value) = match words.peek().copied() {
                        Some(unit @ ("cp" | "mate")) => {
                            words.next();
                            (unit, words.peek())
                        }
                        // UCCI has no unit.
                        other => ("cp", other.as_ref().and(words.peek())),
                    };
                    if let Some(value) = value.and_then(|text| text.parse::<i64>().ok()) {
                        new.score = Some(if unit == "mate" { of_mate(value) } else { of_centipawns(value) });
                    }
                }
                // The rest is the principal variation, or text for people.
                "pv" => {
                    new.line = words.map(str::to_owned).collect();
                    break;
                }
                "string" => break,
                _ => {}
            }
        }
        *self = new;
    }
}

fn of_centipawns(value: i64) -> Score {
    value.clamp(-i64::from(MAX_EVALUATION), i64::from(MAX_EVALUATION)) as Score
}

/// Converts a mate in the winner's moves, relative to the side to move, to plies: a win takes one
/// ply less than twice the moves.
fn of_mate(moves: i64) -> Score {
    let moves = moves.clamp(-60, 60) as Score;
    if moves > 0 { MATE - (2 * moves - 1) } else { -MATE - 2 * moves }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> Info {
        let mut info = Info::default();
        for line in lines {
            info.update(line);
        }
        info
    }

    #[test]
    fn the_last_word_counts() {
        let lines = [
            "info depth 8 seldepth 12 multipv 1 score cp 60 nodes 6737 nps 306227 tbhits 0 time 22 pv h1g3 h8h6",
            "info depth 9 seldepth 12 multipv 1 score cp -25 upperbound nodes 17778 time 50 pv h1g3",
            "info depth 9 multipv 2 score cp 900 nodes 18000 pv a1a2",
            "info depth 10 currmove h1g3 currmovenumber 1",
            "info string depth 99 score cp 99",
        ];
        let line = vec!["h1g3".to_owned()];
        assert_eq!(after(&lines), Info { score: Some(-25), depth: 10, nodes: 17778, line });
    }

    #[test]
    fn mates_ucci_and_nonsense() {
        assert_eq!(after(&["info score mate 1"]).score, Some(MATE - 1));
        assert_eq!(after(&["info score mate -1"]).score, Some(2 - MATE));
        assert_eq!(after(&["info score mate -99999999"]).score, Some(120 - MATE));
        assert_eq!(after(&["info depth 6 score -4 pv b0c2"]).score, Some(-4));
        assert_eq!(after(&["info depth x score cp", "info score", "info depth", "bestmove", ""]), Info::default());
        assert_eq!(after(&["info score cp 999999999999"]).score, Some(MAX_EVALUATION));
    }
}
