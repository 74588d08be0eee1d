//! What all shards of a match say together. Reading them takes its time where a match is large, so it is remembered until
//! something counts anew; when that is, running totals say, which are read at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use stats::{Decision, EloEstimate, Outlook};

use super::workers::{self, Tally};
use crate::{
    campaigns::matches::{self, Standing},
    clock::{SECOND, Time},
    gate,
    service::Service,
    store::{Connection, Outcome},
};

/// So many matches are remembered.
const MOST_MATCHES: usize = 64;

/// So many points of a curve are told: more than a picture shows.
const MOST_POINTS: usize = 400;

/// Of a match with more shards than this, pages may be some seconds old: reading it takes longer than a page may.
const LARGE: i64 = 5_000;
const LARGE_FOR: i64 = 5 * SECOND;

/// A match, as all its shards have it.
pub(super) struct Played {
    pub(super) standing: Standing,
    pub(super) elo: Option<EloEstimate>,
    pub(super) outlook: Option<Outlook>,
    /// The log-likelihood ratio after so many pairs.
    pub(super) curve: Vec<(u64, f64)>,
    /// Those first who played most.
    pub(super) workers: Vec<Tally>,
}

/// Matches that were looked at, by their numbers.
#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<i64, Arc<Place>>>);

type Place = tokio::sync::Mutex<Option<Remembered>>;

struct Remembered {
    mark: Mark,
    at: Time,
    played: Arc<Played>,
}

/// What is another when something else counts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    state: String,
    decision: Option<String>,
    frontier: i64,
    /// By state: shards, games, positions, bytes.
    totals: Vec<(String, i64, i64, i64, i64)>,
}

impl Mark {
    fn is_large(&self) -> bool {
        self.totals.iter().map(|(_, shards, ..)| shards).sum::<i64>() > LARGE
    }
}

impl Memory {
    /// A match as it is, or was a moment ago.
    pub(super) async fn look(&self, service: &Service, job: i64) -> Outcome<Arc<Played>> {
        let place = self.place(job);
        // Who comes while it is read waits, and is given what was read.
        let mut known = place.lock().await;
        let now = service.clock.now();
        let (before, is_young) = match &*known {
            Some(known) => (Some(known.mark.clone()), (0..LARGE_FOR).contains(&(now.0 - known.at.0))),
            None => (None, false),
        };
        let found = service
            .read(move |mut connection| {
                let before = before.clone();
                Box::pin(async move {
                    let mark = mark(&mut connection, job).await?;
                    let is_known = before.is_some_and(|before| before == mark || (is_young && before.is_large()));
                    if is_known { Ok(None) } else { Ok(Some((mark, read(&mut connection, job).await?))) }
                })
            })
            .await?;
        if let Some((mark, played)) = found {
            *known = Some(Remembered { mark, at: now, played: Arc::new(played) });
        }
        // What was not read is known.
        known.as_ref().map(|known| Arc::clone(&known.played)).ok_or_else(|| sqlx::Error::RowNotFound.into())
    }

    fn place(&self, job: i64) -> Arc<Place> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_MATCHES && !all.contains_key(&job) {
            all.pop_first();
        }
        Arc::clone(all.entry(job).or_default())
    }
}

async fn mark(connection: &mut Connection<'_>, job: i64) -> Outcome<Mark> {
    let query = "SELECT state, decision, frontier FROM jobs WHERE id = $1 AND gate IS NOT NULL";
    let (state, decision, frontier) = sqlx::query_as(query).bind(job).fetch_one(connection.raw()).await?;
    let query = "SELECT state, CAST(SUM(shards) AS BIGINT), CAST(SUM(games) AS BIGINT),
                        CAST(SUM(positions) AS BIGINT), CAST(SUM(bytes) AS BIGINT)
                 FROM totals WHERE job = $1 GROUP BY state ORDER BY state";
    let totals = sqlx::query_as(query).bind(job).fetch_all(connection.raw()).await?;
    Ok(Mark { state, decision, frontier, totals })
}

async fn read(connection: &mut Connection<'_>, job: i64) -> Outcome<Played> {
    let (standing, pairs) = matches::standing_and_pairs(connection, job).await?;
    let is_tested = standing.timed.is_none();
    // As far as the test went.
    let pairs = pairs.get(..standing.verdict.pairs as usize).filter(|_| is_tested).unwrap_or_default();
    let curve = gate::curve(&standing.test, standing.batch_pairs, pairs, MOST_POINTS).unwrap_or_default();
    let elo = match standing.timed {
        Some(timed) => timed.elo,
        None => (standing.verdict.pairs > 0).then(|| standing.test.estimate(standing.verdict.counts)),
    };
    let is_going_on = is_tested && standing.verdict.decision == Decision::Continue && standing.verdict.pairs > 0;
    let outlook = is_going_on.then(|| standing.test.outlook(standing.verdict.counts).ok()).flatten();
    Ok(Played {
        elo: elo.filter(|elo| elo.elo_low.is_finite() && elo.elo_high.is_finite()),
        outlook: outlook.filter(|outlook| outlook.games_to_go.is_finite()),
        curve,
        workers: workers::tallies(connection, job).await?,
        standing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_matches_are_remembered() {
        let memory = Memory::default();
        let first = memory.place(1);
        assert!(Arc::ptr_eq(&first, &memory.place(1)));
        for job in 2..200 {
            memory.place(job);
        }
        assert_eq!(memory.0.lock().unwrap().len(), MOST_MATCHES);
        assert!(!Arc::ptr_eq(&first, &memory.place(1)), "the oldest is forgotten first");
    }
}
