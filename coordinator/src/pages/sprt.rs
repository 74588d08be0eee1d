//! The calculator of sequential tests: what they say of results, and how many games they take.

use askama::Template;
use axum::{Router, extract::Query, response::Response, routing::get};
use serde::Deserialize;
use stats::{Counts, EloModel, Hypotheses, Pentanomial, Sprt};

use super::page::{Page, Visitor, show};
use crate::{http::answer::Answer, service::Service};

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/sprt", get(calculator))
}

/// What is asked, as it stands in the address.
#[derive(Clone, Deserialize)]
#[serde(default)]
struct Asked {
    elo0: String,
    elo1: String,
    alpha: String,
    beta: String,
    model: String,
    counts: String,
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

struct Said {
    llr: f64,
    lower: f64,
    upper: f64,
    decision: stats::Decision,
    elo: f64,
    low: f64,
    high: f64,
    los: f64,
    score: f64,
    expected: f64,
    left: f64,
    chance: f64,
}

#[derive(Template)]
#[template(path = "sprt.html")]
struct SprtPage {
    page: Page,
    asked: Asked,
    fault: Option<String>,
    result: Option<Said>,
}

async fn calculator(visitor: Visitor, Query(asked): Query<Asked>) -> Answer<Response> {
    let page = visitor.page("sprt", visitor.language.words().main.sprt, "");
    let (result, fault) = match calculate(&asked) {
        Ok(result) => (Some(result), None),
        Err(fault) => (None, Some(fault)),
    };
    show(&SprtPage { page, asked, fault, result })
}

fn calculate(asked: &Asked) -> Result<Said, String> {
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
        los: elo.los * 100.0,
        score: counts.score() * 100.0,
        expected: test.expected_games(counts).map_err(failed)?,
        left: outlook.games_to_go,
        chance: outlook.chance_of_h1 * 100.0,
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
            let fault = calculate(&asked).err().expect("it cannot be calculated");
            assert!(!fault.is_empty());
        }
    }
}
