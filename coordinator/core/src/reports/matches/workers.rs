//! Results of each worker's pairs in a match, and outliers.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    model::{AccountId, JobId, WorkerId},
    store::{
        Connection, StoreError,
        reports::matches::{self as rows, NamedWorker, PlayedPairs},
    },
};

/// Standard deviations from which a worker is an outlier.
const OUTLIER: f64 = 3.0;

/// Workers shown, by number of pairs.
const MAX_SHOWN: usize = 50;

/// Outliers shown besides.
const MAX_OUTLIERS: usize = 150;

/// Rows per page of the whole list.
const ROWS: usize = 100;

/// The results of a worker's pairs, without names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tally {
    worker: WorkerId,
    account: AccountId,
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

/// The results of a worker's pairs.
#[derive(Clone, Debug, Serialize)]
pub struct Worker {
    /// The worker's id.
    pub worker: WorkerId,
    /// Name of the owner's account.
    pub account: String,
    /// The machine's name.
    pub name: String,
    /// Number of its pairs.
    pub pairs: i64,
    /// Number of pairs by twice the candidate's points, from 0 to 4.
    pub counts: [i64; 5],
    /// The candidate's score, from 0 to 1.
    pub score: f64,
    /// Difference from all others, in standard deviations.
    pub deviation: f64,
    /// Whether the deviation exceeds the bound of outliers.
    pub is_outlier: bool,
}

/// The results of each worker's pairs, by number of pairs.
pub(super) async fn tallies(connection: &mut Connection<'_>, job: JobId) -> Result<Vec<Tally>, StoreError> {
    let mut all: BTreeMap<WorkerId, Tally> = BTreeMap::new();
    for PlayedPairs { worker, account, pairs } in rows::played(connection, job).await? {
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

/// Computes each worker's difference from all others.
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

/// The workers with the most pairs, followed by outliers among the rest.
pub(super) fn notable(all: &[Tally]) -> Vec<Tally> {
    let (most, rest) = all.split_at(all.len().min(MAX_SHOWN));
    let outliers = rest.iter().filter(|tally| tally.is_outlier()).take(MAX_OUTLIERS);
    most.iter().chain(outliers).cloned().collect()
}

/// A page of the whole list.
pub(super) fn page(all: &[Tally], page: usize) -> Vec<Tally> {
    all.iter().skip(page.saturating_mul(ROWS)).take(ROWS).cloned().collect()
}

/// Adds the current names.
pub(super) async fn named(connection: &mut Connection<'_>, tallies: &[Tally]) -> Result<Vec<Worker>, StoreError> {
    let workers = tallies.iter().map(|tally| (tally.worker, tally.account));
    let names = rows::names(connection, workers).await?.into_iter();
    let names: BTreeMap<WorkerId, NamedWorker> = names.map(|named| (named.worker, named)).collect();
    let name = |tally: &Tally, of: fn(&NamedWorker) -> &String| {
        names.get(&tally.worker).map_or_else(String::new, |named| of(named).clone())
    };
    let worker = |tally: &Tally| Worker {
        worker: tally.worker,
        account: name(tally, |named| &named.account),
        name: name(tally, |named| &named.name),
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
        Tally {
            worker: WorkerId(worker),
            account: AccountId(1),
            pairs: counts.iter().sum(),
            counts,
            score: 0.5,
            deviation: 0.0,
        }
    }

    #[test]
    fn a_score_has_a_mean_and_a_variance() {
        assert_eq!(mean(&[1, 0, 0, 0, 1]), (0.5, 0.25));
        assert_eq!(mean(&[0, 0, 9, 0, 0]), (0.5, 0.0));
    }

    #[test]
    fn an_outlier_is_shown_however_few_its_pairs() {
        let mut all: Vec<Tally> = (0..400).map(|worker| tally(worker, [4, 20, 50, 20, 4])).collect();
        all.push(tally(400, [0, 0, 0, 4, 16]));
        compare(&mut all);
        let shown = notable(&all);
        assert_eq!(shown.len(), MAX_SHOWN + 1);
        assert!(shown[MAX_SHOWN].worker == WorkerId(400) && shown[MAX_SHOWN].deviation > 5.0, "{:?}", shown[MAX_SHOWN]);
        assert!(shown[..MAX_SHOWN].iter().all(|tally| !tally.is_outlier()));
        assert_eq!((page(&all, 4).len(), page(&all, 5).len()), (1, 0), "the whole list ends");
        assert_eq!((page(&all, 0).len(), page(&all, usize::MAX).len()), (ROWS, 0));
    }
}
