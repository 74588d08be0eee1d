//! The reference vectors, every number of them.
//!
//! Values have nine digits and are met to [`TOLERANCE`] relative. Values that are zero up to the
//! reference's rounding are met to an absolute floor, given with each column.

use std::collections::BTreeMap;

use stats::{Counts, EloModel, Hypotheses, Sprt};

const TOLERANCE: f64 = 1e-6;

/// Elo has a floor of a billionth: the reference gives 8e-14 and -4e-13 where the counts are
/// symmetric and Elo is 0.
const ELO_FLOOR: f64 = 1e-9;

/// Probabilities have a floor of 1e-10. The reference ends its series at terms of 1e-9. In the row
/// of kind E it is off by 8e-12, where the true value (by 40-digit arithmetic) is 5.637e-8.
const PROBABILITY_FLOOR: f64 = 1e-10;

/// No floor: the value is met at its own size, even if it is 1e-7.
const NONE: f64 = 0.0;

/// One line of the file, by column.
struct Row(BTreeMap<&'static str, &'static str>);

impl Row {
    fn text(&self, column: &str) -> &'static str {
        self.0[column]
    }

    fn number(&self, column: &str) -> Option<f64> {
        (!self.text(column).is_empty()).then(|| self.text(column).parse().expect("a number"))
    }

    fn counts(&self) -> Counts {
        let cells: Vec<&str> = (0..5).map(|i| self.text(["c0", "c1", "c2", "c3", "c4"][i])).collect();
        cells.join(",").trim_end_matches(',').parse().expect("counts")
    }

    fn sprt(&self) -> Sprt {
        let number = |column| self.number(column).expect("a number");
        let model: EloModel = self.text("elo_model").parse().expect("a model");
        let hypotheses = Hypotheses::new(number("elo0"), number("elo1")).expect("hypotheses");
        Sprt::new(model, hypotheses).with_error_rates(number("alpha"), number("beta")).expect("error rates")
    }
}

fn rows() -> Vec<Row> {
    let mut lines = include_str!("data/sprt_vectors.csv").lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').collect();
    // The note is the last column, so that its commas do not split it.
    lines.map(|line| Row(header.iter().copied().zip(line.splitn(header.len(), ',')).collect())).collect()
}

/// Our bound of logistic Elo; the reference's is another for matches of fixed length.
const BOUND: f64 = 1000.0;

/// The largest relative error of each column, by the names of the columns.
#[derive(Default)]
struct Report(BTreeMap<&'static str, (f64, usize)>);

impl Report {
    fn compare(&mut self, row: &Row, column: &'static str, found: f64, floor: f64) {
        let Some(mut expected) = row.number(column) else { return };
        if column == "elo_logistic" {
            expected = expected.clamp(-BOUND, BOUND);
        }
        let error = (found - expected).abs();
        let relative = if error <= floor { 0.0 } else { error / expected.abs() };
        assert!(relative <= TOLERANCE, "{} {column}: expected {expected}, found {found}", row.text("id"));
        let (worst, rows) = self.0.entry(column).or_default();
        *worst = worst.max(relative);
        *rows += 1;
    }
}

/// The likelihood ratio of normalised Elo near equality, from the estimate t and the number of
/// games n alone, both per game:
///
/// n/2 · ln((1 + (t − t0)²)/(1 + (t − t1)²)).
fn closed_form(counts: Counts, sprt: &Sprt) -> f64 {
    let per_deviation = 800.0 / std::f64::consts::LN_10;
    let observations: f64 = counts.cells().iter().map(|&count| if count == 0 { 1e-3 } else { count as f64 }).sum();
    let games = if counts.cells().len() == 5 { 2.0 * observations } else { observations };
    let estimate = counts.normalized_elo().elo;
    let misfit = |elo: f64| ((estimate - elo) / per_deviation).powi(2).ln_1p();
    games / 2.0 * (misfit(sprt.hypotheses().elo0()) - misfit(sprt.hypotheses().elo1()))
}

#[test]
fn every_column_agrees() {
    let mut report = Report::default();
    for row in &rows() {
        let (counts, sprt) = (row.counts(), row.sprt());
        let (bounds, logistic) = (sprt.bounds(), counts.logistic_elo());
        report.compare(row, "lower_bound", bounds.lower, NONE);
        report.compare(row, "upper_bound", bounds.upper, NONE);
        report.compare(row, "games", counts.games() as f64, NONE);
        report.compare(row, "score", counts.score(), NONE);
        report.compare(row, "nelo_point", counts.normalized_elo().elo, ELO_FLOOR);
        report.compare(row, "elo_logistic", logistic.elo, ELO_FLOOR);
        // Where all results are equal, the reference's interval is of its thousandths of a result
        // alone; ours is wider.
        let are_equal = counts.cells().iter().filter(|&&count| count > 0).count() == 1;
        let wider = |found: f64, expected: Option<f64>| {
            assert!(expected.is_none_or(|expected| found > expected), "{}: {found} {expected:?}", row.text("id"));
        };
        if are_equal {
            wider(logistic.error(), row.number("elo95"));
        } else if logistic.elo_low > -BOUND && logistic.elo_high < BOUND {
            report.compare(row, "elo95", logistic.error(), NONE);
        }
        if row.number("LLR_exact").is_some() {
            report.compare(row, "LLR_exact", sprt.llr(counts).expect("a solution"), NONE);
        }
        report.compare(row, "LLR_closed_form_alt", closed_form(counts, &sprt), NONE);
        let estimate = sprt.estimate(counts);
        if are_equal {
            let width = row.number("sprt_ci_hi").zip(row.number("sprt_ci_lo")).map(|(high, low)| (high - low) / 2.0);
            wider(estimate.error(), width.filter(|width| *width > 0.0));
            continue;
        }
        report.compare(row, "sprt_elo", estimate.elo, ELO_FLOOR);
        report.compare(row, "sprt_ci_lo", estimate.elo_low, ELO_FLOOR);
        report.compare(row, "sprt_ci_hi", estimate.elo_high, ELO_FLOOR);
        report.compare(row, "sprt_LOS", estimate.los, PROBABILITY_FLOOR);
    }
    for (column, (worst, rows)) in &report.0 {
        println!("{column:20} {rows:3} rows, largest relative error {worst:.1e}");
        assert!(*rows >= 10, "{column}: only {rows} rows were compared");
    }
    assert_eq!(report.0.len(), 13);
}

#[test]
fn extreme_hypotheses_are_an_error() {
    let mut errors = 0;
    for row in rows().iter().filter(|row| row.text("id").starts_with('E')) {
        let error = row.sprt().llr(row.counts()).expect_err("no distribution exists");
        assert_eq!((error.model, error.elo), (row.sprt().model(), row.sprt().hypotheses().elo0()));
        assert!(row.sprt().decision(row.counts()).is_err() && row.sprt().outlook(row.counts()).is_err());
        errors += 1;
    }
    assert!(errors > 0);
}
