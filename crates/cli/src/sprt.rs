//! `chuhe sprt`: the sequential probability ratio test of a match's counts.

use std::io::Write;

use anyhow::{Context as _, Result};
use serde::Serialize;
use stats::{Counts, Decision, EloModel, Hypotheses, Rounded, Sprt};

use crate::Finding;

/// Run an SPRT on the counts of a match: log-likelihood ratio, decision, and Elo
///
/// The Elo and its 95 % interval are corrected for stopping by the result, in logistic Elo.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Game pairs as `LL,LD,DD,WD,WW` (DD includes one loss and one win), or single games as
    /// `L,D,W`
    #[arg(long, value_name = "COUNTS")]
    counts: Counts,
    /// Elo model of the hypotheses: normalized or logistic
    #[arg(long, default_value_t = EloModel::Normalized)]
    model: EloModel,
    /// Elo of H0
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    elo0: f64,
    /// Elo of H1
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    elo1: f64,
    /// Probability of accepting H1 under H0
    #[arg(long, default_value_t = 0.05)]
    alpha: f64,
    /// Probability of accepting H0 under H1
    #[arg(long, default_value_t = 0.05)]
    beta: f64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    llr: f64,
    lower: f64,
    upper: f64,
    elo: f64,
    elo_low: f64,
    elo_high: f64,
    los: f64,
    decision: Decision,
    games: u64,
    score: f64,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let hypotheses = Hypotheses::new(self.elo0, self.elo1).context("--elo0, --elo1")?;
        let test =
            Sprt::new(self.model, hypotheses).with_error_rates(self.alpha, self.beta).context("--alpha, --beta")?;
        let llr = test.llr(self.counts)?;
        let estimate = test.estimate(self.counts);
        let bounds = test.bounds();
        let answer = Answer {
            llr,
            lower: bounds.lower,
            upper: bounds.upper,
            elo: estimate.elo,
            elo_low: estimate.elo_low,
            elo_high: estimate.elo_high,
            los: estimate.los,
            decision: test.decide(llr),
            games: self.counts.games(),
            score: self.counts.counted_score(),
        };
        if self.json {
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
            return Ok(Finding::Holds);
        }
        writeln!(out, "llr {} in {bounds}: {}", Rounded { number: llr, places: 4 }, answer.decision)?;
        writeln!(out, "elo {estimate}")?;
        writeln!(out, "los {}", likelihood(answer.los))?;
        writeln!(out, "score {:.2} % of {} games", 100.0 * answer.score, answer.games)?;
        if answer.decision == Decision::Continue {
            let outlook = test.outlook(self.counts)?;
            let (games, chance) = (outlook.games_to_go, likelihood(outlook.chance_of_h1));
            writeln!(out, "about {games:.0} games to go; {chance} chance of accepting H1, at this rate")?;
        }
        Ok(Finding::Holds)
    }
}

/// A probability in percent, never 0 or 100: results do not prove that much.
fn likelihood(share: f64) -> String {
    match format!("{:.1}", 100.0 * share).as_str() {
        "100.0" => "> 99.9 %".to_owned(),
        "0.0" => "< 0.1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}
