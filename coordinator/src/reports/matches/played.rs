//! What all shards of a match say together. Reading them takes its time where a match is large, so it is remembered until
//! something counts anew; when that is, running totals say, which are read at once. While it is read anew, whoever looks is
//! told what was known.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use protocol::api::problem::Code;
use stats::{Decision, EloEstimate, Outlook};
use tokio::{sync::watch, time::timeout};

use super::workers::{self, Tally};
use crate::{
    campaigns::matches::{self, Standing},
    clock::{SECOND, Time},
    gate,
    service::Service,
    store::{Connection, Failure, Outcome},
};

/// So many matches are remembered.
const MOST_MATCHES: usize = 64;

/// So many points of a curve are told: more than a picture shows.
const MOST_POINTS: usize = 400;

/// How long whoever looks waits for what is new.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// If nothing is known yet.
    pub first: Duration,
    /// If something is known.
    pub later: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), later: Duration::from_millis(200) }
    }
}

/// What is said while nothing is known of a match.
pub(crate) const BEING_COUNTED: &str = "the match's games are being counted: ask again in a moment";

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

/// Matches that were looked at.
#[derive(Default)]
pub struct Memory {
    /// By their numbers.
    places: Mutex<BTreeMap<i64, Arc<Place>>>,
    patience: Patience,
}

/// What is known of a match. Whoever reads it anew is alone in that, and holds up nobody who only looks.
#[derive(Default)]
struct Place {
    known: Mutex<Option<Remembered>>,
    reading: Mutex<Option<Reading>>,
    /// Whether somebody was told what is not so any more, while it was read.
    is_behind: AtomicBool,
}

/// A match being read, as it was when that began. Those who wait are told how it ended.
#[derive(Clone)]
struct Reading {
    mark: Mark,
    told: watch::Receiver<Option<Result<(), String>>>,
}

#[derive(Clone)]
struct Remembered {
    mark: Mark,
    at: Time,
    played: Arc<Played>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    fn known(&self) -> Option<Remembered> {
        locked(&self.known).clone()
    }

    /// Reads the match anew, unless somebody does so already.
    fn read(self: &Arc<Self>, service: &Service, job: i64, mark: &Mark) -> Reading {
        let mut reading = locked(&self.reading);
        // One that broke off without a word is over.
        if let Some(reading) = reading.as_ref().filter(|reading| reading.told.has_changed().is_ok()) {
            return reading.clone();
        }
        let (tell, told) = watch::channel(None);
        let begun = Reading { mark: mark.clone(), told };
        *reading = Some(begun.clone());
        let (place, service, mark) = (Arc::clone(self), service.clone(), mark.clone());
        tokio::spawn(async move {
            let at = service.clock.now();
            let found = service.read(move |mut connection| Box::pin(async move { read(&mut connection, job).await }));
            let found = found.await.map(|played| Remembered { mark, at, played: Arc::new(played) });
            let ended = found.as_ref().map(drop).map_err(ToString::to_string);
            if let Ok(remembered) = found {
                *locked(&place.known) = Some(remembered);
            }
            locked(&place.reading).take();
            tell.send_replace(Some(ended));
            // Pages that were told what was known look again.
            if place.is_behind.swap(false, Ordering::Relaxed) {
                service.pages.live.tell("changed", r#"["games"]"#);
            }
        });
        begun
    }

    /// Reads the match until it is as this mark has it.
    async fn read_until(self: &Arc<Self>, service: &Service, job: i64, mark: &Mark) -> Outcome<()> {
        loop {
            let mut reading = self.read(service, job, mark);
            let told = reading.told.wait_for(Option::is_some).await.map(|told| told.clone());
            let broken = |error: String| Failure::Broken(format!("match {job}: {error}"));
            told.ok().flatten().unwrap_or_else(|| Err("whoever read it broke off".to_owned())).map_err(broken)?;
            if reading.mark == *mark {
                return Ok(());
            }
        }
    }
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
    /// One for those who wait so long.
    #[must_use]
    pub fn with_patience(patience: Patience) -> Self {
        Self { patience, ..Self::default() }
    }

    /// A match as it is, or was a moment ago. Where it takes long to read what is new, what was known is told meanwhile.
    ///
    /// # Errors
    ///
    /// If it is no match, or nothing is known of it yet and reading it takes long: then whoever asks may ask again.
    pub(super) async fn look(&self, service: &Service, job: i64) -> Outcome<Arc<Played>> {
        let mark =
            service.read(move |mut connection| Box::pin(async move { mark(&mut connection, job).await })).await?;
        let place = self.place(job);
        let known = place.known();
        let now = service.clock.now();
        if let Some(known) = &known {
            let is_young = (0..LARGE_FOR).contains(&(now.0 - known.at.0));
            if known.mark == mark || (is_young && known.mark.is_large()) {
                return Ok(Arc::clone(&known.played));
            }
        }
        let patience = if known.is_some() { self.patience.later } else { self.patience.first };
        match timeout(patience, place.read_until(service, job, &mark)).await {
            Ok(read) => read?,
            Err(_) => place.is_behind.store(true, Ordering::Relaxed),
        }
        let known = place.known().ok_or_else(|| Failure::refused(Code::Busy, BEING_COUNTED))?;
        Ok(Arc::clone(&known.played))
    }

    fn place(&self, job: i64) -> Arc<Place> {
        let mut all = locked(&self.places);
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
        assert_eq!(memory.places.lock().unwrap().len(), MOST_MATCHES);
        assert!(!Arc::ptr_eq(&first, &memory.place(1)), "the oldest is forgotten first");
    }
}
