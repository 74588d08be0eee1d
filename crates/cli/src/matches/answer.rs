//! The answer of a match: text, or one JSON object.

use std::{io::Write, time::Duration};

use anyhow::Result;
use selfplay::{Entrant, FaultReport, Standing};
use serde::Serialize;
use stats::{Counts, EloEstimate, Pentanomial, Rounded, Sprt};

use super::{record, terms::Terms};

#[derive(Serialize)]
struct Answer<'a> {
    a: &'a str,
    b: &'a str,
    wins: u64,
    draws: u64,
    losses: u64,
    pentanomial: Pentanomial,
    elo: f64,
    elo_error: f64,
    /// Only with a test.
    llr: Option<f64>,
    decision: Option<stats::Decision>,
    faults: usize,
    fault_list: Vec<FaultAnswer<'a>>,
    #[serde(flatten)]
    terms: &'a Terms,
    seconds: f64,
    /// Why the match was aborted, if it was.
    broken_off: Option<String>,
}

#[derive(Serialize)]
struct FaultAnswer<'a> {
    /// As in the records: pair and game, both from 1.
    round: String,
    engine: &'a str,
    kind: &'static str,
    ply: usize,
    detail: &'a str,
}

/// The Elo of a match, while it is played and after it.
pub(super) fn elo_of(test: Option<&Sprt>, counts: Counts) -> EloEstimate {
    test.map_or_else(|| counts.logistic_elo(), |test| test.estimate(counts))
}

/// The result of a match.
pub(super) struct Report<'a> {
    pub(super) standing: &'a Standing,
    pub(super) names: &'a [String; 2],
    pub(super) terms: &'a Terms,
    pub(super) test: Option<&'a Sprt>,
    pub(super) time: Duration,
    pub(super) broken_off: Option<String>,
}

impl Report<'_> {
    pub(super) fn write(self, json: bool, out: &mut impl Write) -> Result<()> {
        let Self { standing, names, terms, test, time, broken_off } = self;
        let counts = Counts::from(standing.pairs);
        let elo = elo_of(test, counts);
        let [losses, draws, wins] = *standing.games.cells();
        if json {
            let answer = Answer {
                a: &names[0],
                b: &names[1],
                wins,
                draws,
                losses,
                pentanomial: standing.pairs,
                elo: elo.elo,
                elo_error: elo.error(),
                llr: standing.llr,
                decision: standing.decision,
                faults: standing.faults.len(),
                fault_list: standing.faults.iter().map(|fault| FaultAnswer::new(fault, names)).collect(),
                terms,
                seconds: time.as_secs_f64(),
                broken_off,
            };
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
            return Ok(());
        }
        writeln!(out, "games {}: {wins} won, {draws} drawn, {losses} lost", standing.games.games())?;
        writeln!(out, "pentanomial {}", standing.pairs)?;
        writeln!(out, "elo {} ± {:.1}", Rounded { number: elo.elo, places: 1 }, elo.error())?;
        if let (Some(test), Some(llr), Some(decision)) = (test, standing.llr, standing.decision) {
            writeln!(out, "llr {} in {}: {decision}", Rounded { number: llr, places: 3 }, test.bounds())?;
        }
        writeln!(out, "faults {}", standing.faults.len())?;
        Ok(())
    }
}

impl<'a> FaultAnswer<'a> {
    fn new(fault: &'a FaultReport, names: &'a [String; 2]) -> Self {
        Self {
            round: record::round(fault.pair, fault.second),
            engine: &names[usize::from(fault.entrant == Entrant::B)],
            kind: fault.kind.name(),
            ply: fault.ply,
            detail: &fault.detail,
        }
    }
}
