//! Progress of a running match: one updated line on a terminal, plain lines elsewhere.

use std::{io, time::Duration};

use selfplay::{FaultReport, Standing};
use stats::{Counts, Sprt};

use super::{answer::elo_of, record::round};
use crate::{live::LiveView, live_line::LiveLine, progress::clock};

/// Pairs per line without a terminal.
const PAIRS_PER_LINE: u64 = 10;

/// Prints progress to standard error.
pub(super) struct Progress<'a> {
    pairs: u64,
    test: Option<Sprt>,
    line: LiveLine<'a>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(pairs: u64, test: Option<Sprt>, live: Option<&'a LiveView<'a>>) -> Self {
        Self { pairs, test, line: LiveLine::with_view(live) }
    }

    /// Prints a permanent line.
    pub(super) fn announce(&mut self, line: &str) -> io::Result<()> {
        self.line.announce(line)
    }

    pub(super) fn fault(&mut self, name: &str, fault: &FaultReport, game: Option<&str>) -> io::Result<()> {
        let round = round(fault.pair, fault.second);
        self.announce(&format!("game {round}: {} by {name} after ply {}: {}", fault.kind, fault.ply, fault.detail))?;
        match game {
            Some(game) => self.announce(game.trim_end()),
            None => Ok(()),
        }
    }

    pub(super) fn show(&mut self, standing: &Standing, elapsed: Duration) -> io::Result<()> {
        let is_due = standing.pairs.pairs().is_multiple_of(PAIRS_PER_LINE);
        let Self { pairs, test, line } = self;
        line.show_or_print(is_due, || text(*pairs, test.as_ref(), standing, elapsed))
    }

    /// Ends the updated line.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.line.end()
    }
}

/// Describes the standing after some of the pairs.
fn text(pairs: u64, test: Option<&Sprt>, standing: &Standing, elapsed: Duration) -> String {
    let [losses, draws, wins] = *standing.games.cells();
    let counts = Counts::from(standing.pairs);
    let elo = elo_of(test, counts);
    let mut parts = vec![format!(
        "games {}/{}  W/D/L {wins}/{draws}/{losses}  elo {:+.1} ± {:.1}  pairs {}",
        standing.games.games(),
        2 * pairs,
        elo.elo,
        elo.error(),
        standing.pairs,
    )];
    let done = standing.pairs.pairs();
    let mut pairs_left = pairs.saturating_sub(done) as f64;
    if let Some(test) = test {
        if let Some(llr) = standing.llr {
            parts.push(format!("llr {llr:+.2} in {:.2}", test.bounds()));
        }
        if let Ok(outlook) = test.outlook(counts) {
            pairs_left = pairs_left.min(outlook.games_to_go / 2.0);
        }
    }
    if !standing.faults.is_empty() {
        parts.push(format!("faults {}", standing.faults.len()));
    }
    parts.push(format!("left {}", clock(elapsed.as_secs_f64() / done.max(1) as f64 * pairs_left)));
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use stats::{EloModel, Hypotheses, Pentanomial};

    use super::*;

    /// The line of a sequential test had the Elo of a match of fixed length.
    #[test]
    fn the_line_has_the_elo_of_the_result() {
        let pairs = Pentanomial::new([0, 20, 60, 120, 300]);
        let standing = Standing { pairs, ..Standing::default() };
        let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 10.0).unwrap());
        let shown = |test: Option<&Sprt>| {
            let elo = elo_of(test, pairs.into());
            let shown = format!("  elo {:+.1} ± {:.1}  ", elo.elo, elo.error());
            let line = text(500, test, &standing, Duration::from_secs(9));
            assert!(line.contains(&shown), "{shown}: {line}");
            shown
        };
        assert_ne!(shown(None), shown(Some(&test)), "the early end of a test is corrected for");
    }
}
