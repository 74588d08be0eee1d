//! What a sequential test says of results, whoever played them, and how many games it takes.

use serde::{Deserialize, Serialize};
use stats::{Counts, EloModel, Hypotheses, Pentanomial, Sprt};

/// What is asked, as it stands in the address.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Asked {
    /// Elo that the candidate must not have to fail.
    pub elo0: String,
    /// Elo that it must have to pass.
    pub elo1: String,
    /// How often it may pass by chance.
    pub alpha: String,
    /// How often it may fail by chance.
    pub beta: String,
    /// logistic, or else normalized.
    pub model: String,
    /// Pairs by the candidate's points, from none to two.
    pub counts: String,
}

impl Default for Asked {
    fn default() -> Self {
        let text = ToOwned::to_owned;
        Self {
            elo0: text("0"),
            elo1: text("10"),
            alpha: text("0.05"),
            beta: text("0.05"),
            model: text("normalized"),
            counts: text("30 180 400 210 36"),
        }
    }
}

/// What is said of it.
#[derive(Clone, Debug, Serialize)]
pub struct Said {
    /// The log-likelihood ratio.
    pub llr: f64,
    /// The test ends below this.
    pub lower: f64,
    /// The test ends above this.
    pub upper: f64,
    /// What it decides.
    pub decision: stats::Decision,
    /// Elo on the scale that was asked for.
    pub elo: f64,
    /// The end of its 95 % interval below.
    pub low: f64,
    /// The end above.
    pub high: f64,
    /// How likely the candidate is stronger.
    pub los: f64,
    /// Its score, in percent.
    pub score: f64,
    /// How many games such a test takes, if results go on like this.
    pub expected: f64,
    /// How many more games it takes.
    pub left: f64,
    /// How likely it passes.
    pub chance: f64,
}

/// What a test says of results.
///
/// # Errors
///
/// In a few words: what cannot be calculated.
pub fn calculate(asked: &Asked) -> Result<Said, String> {
    let number = |name: &str, text: &str| match text.trim().replace('−', "-").parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("{name}: {text:?}?")),
    };
    let model = match asked.model.as_str() {
        "logistic" => EloModel::Logistic,
        _ => EloModel::Normalized,
    };
    let hypotheses = Hypotheses::new(number("Elo 0", &asked.elo0)?, number("Elo 1", &asked.elo1)?);
    let test = Sprt::new(model, hypotheses.map_err(|error| error.to_string())?);
    let test = test.with_error_rates(number("α", &asked.alpha)?, number("β", &asked.beta)?);
    let test = test.map_err(|error| error.to_string())?;
    let cells = asked.counts.split([' ', ',', ';', '\t']).filter(|cell| !cell.is_empty());
    let cells = cells.map(|cell| cell.parse::<u32>().map(u64::from)).collect::<Result<Vec<_>, _>>();
    let cells: [u64; 5] = cells.ok().and_then(|cells| cells.try_into().ok()).ok_or("5 × 0…4294967295?")?;
    let counts = Counts::from(Pentanomial::new(cells));
    if counts.games() == 0 {
        return Err("0 games".to_owned());
    }
    let failed = |error: stats::NoSolution| error.to_string();
    let (llr, bounds) = (test.llr(counts).map_err(failed)?, test.bounds());
    let (elo, outlook) = (test.estimate(counts), test.outlook(counts).map_err(failed)?);
    Ok(Said {
        llr,
        lower: bounds.lower,
        upper: bounds.upper,
        decision: test.decide(llr),
        elo: elo.elo,
        low: elo.elo_low,
        high: elo.elo_high,
        los: elo.los,
        score: counts.score() * 100.0,
        expected: test.expected_games(counts).map_err(failed)?,
        left: outlook.games_to_go,
        chance: outlook.chance_of_h1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_asked_gets_an_answer_or_a_sentence() {
        assert!(calculate(&Asked::default()).is_ok());
        for (elo0, elo1, alpha, counts) in [
            ("x", "10", "0.05", "1 2 3 4 5"),
            ("10", "0", "0.05", "1 2 3 4 5"),
            ("0", "10", "2", "1 2 3 4 5"),
            ("0", "10", "0.05", "1 2 3"),
            ("0", "10", "0.05", "0 0 0 0 0"),
            ("0", "10", "0.05", "-1 0 0 0 0"),
            ("0", "NaN", "0.05", "1 2 3 4 5"),
            ("0", "1e300", "0.05", "1 2 3 4 5"),
        ] {
            let text = ToOwned::to_owned;
            let asked = Asked {
                elo0: text(elo0),
                elo1: text(elo1),
                alpha: text(alpha),
                counts: text(counts),
                ..Asked::default()
            };
            let fault = calculate(&asked).expect_err("it cannot be calculated");
            assert!(!fault.is_empty());
        }
    }
}
