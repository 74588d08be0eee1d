//! The SPRT calculator.

use serde::{Deserialize, Serialize};
use stats::{Counts, EloModel, Hypotheses, Pentanomial, Sprt, SprtError};

/// Query parameters of the calculator.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct SprtQuery {
    /// Elo of H0: the candidate fails.
    pub elo0: String,
    /// Elo of H1: the candidate passes.
    pub elo1: String,
    /// Error rate α: a pass by chance.
    pub alpha: String,
    /// Error rate β: a failure by chance.
    pub beta: String,
    /// Elo model: logistic; any other text means normalized.
    pub model: String,
    /// Pairs by the candidate's points, from 0 to 2.
    pub counts: String,
}

impl Default for SprtQuery {
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

/// The verdict on the results.
#[derive(Clone, Debug, Serialize)]
pub struct SprtReport {
    /// Log-likelihood ratio (LLR) of H1 over H0.
    pub llr: f64,
    /// LLR at or below which the candidate fails.
    pub lower: f64,
    /// LLR at or above which the candidate passes.
    pub upper: f64,
    /// Decision of the test on these results.
    pub decision: stats::Decision,
    /// Estimate of the Elo difference in the chosen model.
    pub elo: f64,
    /// Lower end of the 95 % interval of `elo`.
    pub low: f64,
    /// Upper end of the 95 % interval of `elo`.
    pub high: f64,
    /// Likelihood of superiority (LOS).
    pub los: f64,
    /// The candidate's score in percent.
    pub score: f64,
    /// Expected number of games at this rate.
    pub expected: f64,
    /// Expected number of further games.
    pub left: f64,
    /// Probability that the candidate passes.
    pub chance: f64,
}

/// An invalid field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not a number: `elo0`, `elo1`, `alpha` or `beta`.
    Number(&'static str),
    /// Hypotheses out of order or out of range.
    Hypotheses,
    /// An invalid error rate: `alpha` or `beta`.
    Rate(&'static str),
    /// The pairs are not five whole numbers.
    Pairs,
    /// There are no games.
    NoGames,
    /// No distribution exists: the hypotheses are too extreme for these results.
    Extreme,
}

impl Fault {
    /// The field's name in the address.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Number(field) | Self::Rate(field) => field,
            Self::Hypotheses | Self::Extreme => "elo1",
            Self::Pairs | Self::NoGames => "counts",
        }
    }

    /// The correction in English or Chinese.
    #[must_use]
    pub fn sentence(self, chinese: bool) -> String {
        let name = match self.field() {
            "elo0" => "Elo 0",
            "elo1" => "Elo 1",
            "alpha" => "α",
            "beta" => "β",
            _ if chinese => "局对",
            _ => "Pairs",
        };
        let [english, in_chinese] = match self {
            Self::Number(_) => ["a number, for example 0.05 or 10", "请填写数字，例如 0.05 或 10"],
            Self::Hypotheses => {
                ["a number above Elo 0; both between −2000 and 2000", "应大于 Elo 0，且两者均在 −2000 与 2000 之间"]
            }
            Self::Rate(_) => ["a number above 0 and below 0.5, for example 0.05", "应大于 0 且小于 0.5，例如 0.05"],
            Self::Pairs => {
                ["five whole numbers, for example 30 180 400 210 36", "请填写五个整数，例如 30 180 400 210 36"]
            }
            Self::NoGames => ["at least one pair must have been played", "至少应有一个局对"],
            Self::Extreme => [
                "nearer to what was played: for such extremes nothing can be calculated",
                "请填写更接近实际成绩的值，过于极端时无法计算",
            ],
        };
        if chinese { format!("{name}：{in_chinese}。") } else { format!("{name}: {english}.") }
    }
}

/// Evaluates the results.
///
/// # Errors
///
/// The first invalid field.
pub fn calculate(query: &SprtQuery) -> Result<SprtReport, Fault> {
    let number = |field: &'static str, text: &str| match text.trim().replace('−', "-").parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(Fault::Number(field)),
    };
    let model = match query.model.as_str() {
        "logistic" => EloModel::Logistic,
        _ => EloModel::Normalized,
    };
    let hypotheses = Hypotheses::new(number("elo0", &query.elo0)?, number("elo1", &query.elo1)?);
    let test = Sprt::new(model, hypotheses.map_err(|_| Fault::Hypotheses)?);
    let test = test.with_error_rates(number("alpha", &query.alpha)?, number("beta", &query.beta)?);
    let test = test.map_err(|error| match error {
        SprtError::ErrorRate { name: "beta", .. } => Fault::Rate("beta"),
        SprtError::ErrorRate { .. } => Fault::Rate("alpha"),
        _ => Fault::Hypotheses,
    })?;
    let cells = query.counts.split([' ', ',', ';', '\t']).filter(|cell| !cell.is_empty());
    let cells = cells.map(|cell| cell.parse::<u32>().map(u64::from)).collect::<Result<Vec<_>, _>>();
    let cells: [u64; 5] = cells.ok().and_then(|cells| cells.try_into().ok()).ok_or(Fault::Pairs)?;
    let counts = Counts::from(Pentanomial::new(cells));
    if counts.games() == 0 {
        return Err(Fault::NoGames);
    }
    let failed = |_: stats::NoSolution| Fault::Extreme;
    let (llr, bounds) = (test.llr(counts).map_err(failed)?, test.bounds());
    let (elo, outlook) = (test.estimate(counts), test.outlook(counts).map_err(failed)?);
    Ok(SprtReport {
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
    fn every_query_gets_a_result_or_a_fault() {
        assert!(calculate(&SprtQuery::default()).is_ok());
        for (elo0, elo1, alpha, counts, field) in [
            ("x", "10", "0.05", "1 2 3 4 5", "elo0"),
            ("10", "0", "0.05", "1 2 3 4 5", "elo1"),
            ("0", "10", "2", "1 2 3 4 5", "alpha"),
            ("0", "10", "0.05", "1 2 3", "counts"),
            ("0", "10", "0.05", "0 0 0 0 0", "counts"),
            ("0", "10", "0.05", "-1 0 0 0 0", "counts"),
            ("0", "NaN", "0.05", "1 2 3 4 5", "elo1"),
            ("0", "1e300", "0.05", "1 2 3 4 5", "elo1"),
        ] {
            let text = ToOwned::to_owned;
            let query = SprtQuery {
                elo0: text(elo0),
                elo1: text(elo1),
                alpha: text(alpha),
                counts: text(counts),
                ..SprtQuery::default()
            };
            let fault = calculate(&query).expect_err("it cannot be calculated");
            assert_eq!(fault.field(), field);
            assert!([false, true].iter().all(|chinese| !fault.sentence(*chinese).is_empty()));
        }
    }
}
