//! What each worker's pairs brought the candidate of a match, and who differs from all others.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::AssertSqlSafe;

use crate::store::{Connection, Outcome};

/// From how many standard deviations on a worker's results are worth a look.
const OUTLIER: f64 = 3.0;

/// So many of those who played most are shown.
const MOST: usize = 50;

/// So many of those who differ are shown besides.
const MOST_OUTLIERS: usize = 150;

/// So many are on a page of the whole list.
const ROWS: usize = 100;

/// What a worker's pairs brought the candidate, by numbers alone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tally {
    worker: i64,
    account: i64,
    pairs: i64,
    counts: [i64; 5],
    score: f64,
    deviation: f64,
}

impl Tally {
    fn is_outlier(&self) -> bool {
        self.deviation.abs() > OUTLIER
    }
}

/// What a worker's pairs brought the candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Worker {
    /// Its number.
    pub worker: i64,
    /// Whose it is.
    pub account: String,
    /// Its name.
    pub name: String,
    /// How many pairs.
    pub pairs: i64,
    /// Pairs by the candidate's score.
    pub counts: [i64; 5],
    /// The candidate's score, from 0 to 1.
    pub score: f64,
    /// How many standard deviations that is from all others.
    pub deviation: f64,
    /// Whether that is worth a look.
    pub is_outlier: bool,
}

/// What each worker's pairs brought, those first who played most.
pub(super) async fn tallies(connection: &mut Connection<'_>, job: i64) -> Outcome<Vec<Tally>> {
    let query = "SELECT worker, account, pairs FROM shards
                 WHERE job = $1 AND state = 'validated' AND pairs IS NOT NULL";
    let rows: Vec<(i64, i64, Vec<u8>)> = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    let mut all: BTreeMap<i64, Tally> = BTreeMap::new();
    for (worker, account, pairs) in rows {
        let new = Tally { worker, account, pairs: 0, counts: [0; 5], score: 0.5, deviation: 0.0 };
        let tally = all.entry(worker).or_insert(new);
        tally.pairs += pairs.len() as i64;
        for pair in pairs {
            tally.counts[usize::from(pair.min(4))] += 1;
        }
    }
    let mut all: Vec<Tally> = all.into_values().collect();
    compare(&mut all);
    all.sort_by(|a, b| b.pairs.cmp(&a.pairs).then(a.worker.cmp(&b.worker)));
    Ok(all)
}

/// How far each is from all others.
fn compare(all: &mut [Tally]) {
    let total = all.iter().fold([0; 5], |total, tally| std::array::from_fn(|cell| total[cell] + tally.counts[cell]));
    for tally in all {
        tally.score = mean(&tally.counts).0;
        let others: [i64; 5] = std::array::from_fn(|cell| total[cell] - tally.counts[cell]);
        let (n, m) = (tally.pairs as f64, others.iter().sum::<i64>() as f64);
        if n >= 4.0 && m >= 4.0 {
            let variance = mean(&total).1;
            let deviation = (variance * (1.0 / n + 1.0 / m)).sqrt();
            tally.deviation = if deviation > 0.0 { (tally.score - mean(&others).0) / deviation } else { 0.0 };
        }
    }
}

/// Mean and variance of a pair's score, from 0 to 1.
fn mean(counts: &[i64; 5]) -> (f64, f64) {
    let pairs = counts.iter().sum::<i64>().max(1) as f64;
    let sum = |power: i32| (0..5).map(|cell| counts[cell] as f64 * (cell as f64 / 4.0).powi(power)).sum::<f64>();
    let mean = sum(1) / pairs;
    (mean, (sum(2) / pairs - mean * mean).max(0.0))
}

/// Those who played most, and behind them those of the rest who differ.
pub(super) fn worth_a_look(all: &[Tally]) -> Vec<Tally> {
    let (most, rest) = all.split_at(all.len().min(MOST));
    let outliers = rest.iter().filter(|tally| tally.is_outlier()).take(MOST_OUTLIERS);
    most.iter().chain(outliers).cloned().collect()
}

/// A page of all.
pub(super) fn page(all: &[Tally], page: usize) -> Vec<Tally> {
    all.iter().skip(page.saturating_mul(ROWS)).take(ROWS).cloned().collect()
}

/// The same with what they are called now.
pub(super) async fn named(connection: &mut Connection<'_>, tallies: &[Tally]) -> Outcome<Vec<Worker>> {
    let list = |of: fn(&Tally) -> i64| {
        let numbers: Vec<String> = tallies.iter().map(|tally| of(tally).to_string()).collect();
        if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") }
    };
    // Numbers only: nothing that anybody wrote is in the text.
    let query = format!("SELECT id, name FROM workers WHERE id IN ({})", list(|tally| tally.worker));
    let machines: Vec<(i64, String)> = sqlx::query_as(AssertSqlSafe(query)).fetch_all(connection.raw()).await?;
    let query = format!("SELECT id, name FROM accounts WHERE id IN ({})", list(|tally| tally.account));
    let accounts: Vec<(i64, String)> = sqlx::query_as(AssertSqlSafe(query)).fetch_all(connection.raw()).await?;
    let (machines, accounts): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (machines.into_iter().collect(), accounts.into_iter().collect());
    let name = |names: &BTreeMap<i64, String>, id| names.get(&id).cloned().unwrap_or_default();
    let worker = |tally: &Tally| Worker {
        worker: tally.worker,
        account: name(&accounts, tally.account),
        name: name(&machines, tally.worker),
        pairs: tally.pairs,
        counts: tally.counts,
        score: tally.score,
        deviation: tally.deviation,
        is_outlier: tally.is_outlier(),
    };
    Ok(tallies.iter().map(worker).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(worker: i64, counts: [i64; 5]) -> Tally {
        Tally { worker, account: 1, pairs: counts.iter().sum(), counts, score: 0.5, deviation: 0.0 }
    }

    #[test]
    fn a_score_has_a_mean_and_a_variance() {
        assert_eq!(mean(&[1, 0, 0, 0, 1]), (0.5, 0.25));
        assert_eq!(mean(&[0, 0, 9, 0, 0]), (0.5, 0.0));
    }

    #[test]
    fn who_differs_is_shown_however_little_it_played() {
        let mut all: Vec<Tally> = (0..400).map(|worker| tally(worker, [4, 20, 50, 20, 4])).collect();
        all.push(tally(400, [0, 0, 0, 4, 16]));
        compare(&mut all);
        let shown = worth_a_look(&all);
        assert_eq!(shown.len(), MOST + 1);
        assert!(shown[MOST].worker == 400 && shown[MOST].deviation > 5.0, "{:?}", shown[MOST]);
        assert!(shown[..MOST].iter().all(|tally| !tally.is_outlier()));
        assert_eq!((page(&all, 4).len(), page(&all, 5).len()), (1, 0), "the whole list ends");
        assert_eq!((page(&all, 0).len(), page(&all, usize::MAX).len()), (ROWS, 0));
    }
}
