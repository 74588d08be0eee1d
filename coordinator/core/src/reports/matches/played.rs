//! Cache of the figures of a match, from all its shards (stale-while-revalidate).
//!
//! Reading a large match takes long, so its figures are cached. Running totals, which are read at
//! once, reveal when they are stale. During a new read, callers get the stale figures.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use stats::{Decision, EloEstimate, Outlook};
use tokio::{sync::watch, time::timeout};

use super::workers::{self, Tally};
use crate::{
    clock::{SECOND, Time},
    gate,
    matches::{self, Standing},
    model::{JobId, Refusal},
    query,
    service::Service,
    store::{
        Connection, StoreError,
        reports::matches::{self as rows, Mark},
    },
};

/// Matches in the cache.
const MAX_MATCHES: usize = 64;

/// Points of a curve: more than a plot shows.
const MAX_POINTS: usize = 400;

/// How long a caller waits for fresh figures.
#[derive(Clone, Copy, Debug)]
pub struct ReadTimeouts {
    /// Without cached figures.
    pub first: Duration,
    /// With stale figures.
    pub later: Duration,
}

impl Default for ReadTimeouts {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), later: Duration::from_millis(200) }
    }
}

/// Shards of a large match, whose figures may be some seconds old: reading takes longer than a page
/// may.
const LARGE_SHARDS: i64 = 5_000;
const LARGE_MAX_AGE_MS: i64 = 5 * SECOND;

/// The figures of a match, from all its shards.
pub(super) struct Played {
    pub(super) standing: Standing,
    pub(super) elo: Option<EloEstimate>,
    pub(super) outlook: Option<Outlook>,
    /// The log-likelihood ratio by number of pairs.
    pub(super) curve: Vec<(u64, f64)>,
    /// By number of pairs, the most first.
    pub(super) workers: Vec<Tally>,
}

/// The cache.
#[derive(Default)]
pub struct Memory {
    /// Entries by job.
    entries: Mutex<BTreeMap<JobId, Arc<Entry>>>,
    timeouts: ReadTimeouts,
    on_change: OnceLock<OnChange>,
}

/// Called after callers got stale figures and fresh ones are there.
type OnChange = Arc<dyn Fn() + Send + Sync>;

/// An entry of the cache. At most one task reads it, and blocks no other caller.
#[derive(Default)]
struct Entry {
    known: Mutex<Option<Remembered>>,
    reading: Mutex<Option<Reading>>,
    /// Whether a caller got stale figures during the read.
    is_stale: AtomicBool,
}

/// A read under way, with the mark at its start. `done` notifies the waiting callers.
#[derive(Clone)]
struct Reading {
    mark: Mark,
    done: watch::Receiver<Option<Result<(), String>>>,
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

impl Entry {
    fn known(&self) -> Option<Remembered> {
        locked(&self.known).clone()
    }

    /// Starts a read of the match, or joins the one under way.
    fn read(self: &Arc<Self>, service: &Service, job: JobId, mark: &Mark, on_change: &OnChange) -> Reading {
        let mut reading = locked(&self.reading);
        // A read whose task died counts as over.
        if let Some(reading) = reading.as_ref().filter(|reading| reading.done.has_changed().is_ok()) {
            return reading.clone();
        }
        let (notify, done) = watch::channel(None);
        let begun = Reading { mark: mark.clone(), done };
        *reading = Some(begun.clone());
        let (entry, service, mark, on_change) =
            (Arc::clone(self), service.clone(), mark.clone(), Arc::clone(on_change));
        tokio::spawn(async move {
            let at = service.clock.now();
            let found = service.report(query!(|connection| read(&mut connection, job).await));
            let found = found.await.map(|played| Remembered { mark, at, played: Arc::new(played) });
            let ended = found.as_ref().map(drop).map_err(ToString::to_string);
            if let Ok(remembered) = found {
                *locked(&entry.known) = Some(remembered);
            }
            locked(&entry.reading).take();
            notify.send_replace(Some(ended));
            if entry.is_stale.swap(false, Ordering::Relaxed) {
                on_change();
            }
        });
        begun
    }

    /// Reads the match until its figures have this mark.
    async fn read_until(
        self: &Arc<Self>,
        service: &Service,
        job: JobId,
        mark: &Mark,
        on_change: &OnChange,
    ) -> Result<(), StoreError> {
        loop {
            let mut reading = self.read(service, job, mark, on_change);
            let outcome = reading.done.wait_for(Option::is_some).await.map(|outcome| outcome.clone());
            let broken = |error: String| StoreError::Corrupt(format!("match {job}: {error}"));
            outcome.ok().flatten().unwrap_or_else(|| Err("its read broke off".to_owned())).map_err(broken)?;
            if reading.mark == *mark {
                return Ok(());
            }
        }
    }
}

impl Memory {
    /// A cache with given timeouts.
    #[must_use]
    pub fn with_timeouts(timeouts: ReadTimeouts) -> Self {
        Self { timeouts, ..Self::default() }
    }

    /// Sets the notification of late figures, before the first read: pages with stale ones reload.
    pub fn set_on_change(&self, on_change: impl Fn() + Send + Sync + 'static) {
        drop(self.on_change.set(Arc::new(on_change)));
    }

    /// Reads a match's figures: fresh if possible in time, otherwise stale.
    ///
    /// # Errors
    ///
    /// If the match does not exist, or has no cached figures and reading it takes long: the caller
    /// may retry.
    pub(super) async fn read(&self, service: &Service, job: JobId) -> Result<Arc<Played>, StoreError> {
        let mark = service.report(query!(|connection| rows::mark(&mut connection, job).await)).await?;
        let entry = self.entry(job);
        let on_change = self.on_change.get_or_init(|| Arc::new(|| ()));
        let known = entry.known();
        let now = service.clock.now();
        if let Some(known) = &known {
            let is_young = (0..LARGE_MAX_AGE_MS).contains(&(now.0 - known.at.0));
            if known.mark == mark || (is_young && known.mark.shards() > LARGE_SHARDS) {
                return Ok(Arc::clone(&known.played));
            }
        }
        let wait = if known.is_some() { self.timeouts.later } else { self.timeouts.first };
        match timeout(wait, entry.read_until(service, job, &mark, on_change)).await {
            Ok(read) => read?,
            Err(_) => entry.is_stale.store(true, Ordering::Relaxed),
        }
        let known = entry.known().ok_or(Refusal::BeingCounted)?;
        Ok(Arc::clone(&known.played))
    }

    fn entry(&self, job: JobId) -> Arc<Entry> {
        let mut all = locked(&self.entries);
        if all.len() >= MAX_MATCHES && !all.contains_key(&job) {
            all.pop_first();
        }
        Arc::clone(all.entry(job).or_default())
    }
}

async fn read(connection: &mut Connection<'_>, job: JobId) -> Result<Played, StoreError> {
    let (standing, pairs) = matches::standing_and_pairs(connection, job).await?;
    // Up to the end of the test.
    let pairs = pairs.get(..standing.verdict.pairs as usize).filter(|_| standing.sequential).unwrap_or_default();
    let curve = gate::curve(&standing.test, standing.batch_pairs, pairs, MAX_POINTS).unwrap_or_default();
    let is_undecided =
        standing.sequential && standing.verdict.decision == Decision::Continue && standing.verdict.pairs > 0;
    let outlook = is_undecided.then(|| standing.test.outlook(standing.verdict.counts).ok()).flatten();
    Ok(Played {
        elo: standing.elo(),
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
    fn the_cache_is_bounded() {
        let memory = Memory::default();
        let first = memory.entry(JobId(1));
        assert!(Arc::ptr_eq(&first, &memory.entry(JobId(1))));
        for job in 2..200 {
            memory.entry(JobId(job));
        }
        assert_eq!(memory.entries.lock().unwrap().len(), MAX_MATCHES);
        assert!(!Arc::ptr_eq(&first, &memory.entry(JobId(1))), "the oldest is forgotten first");
    }
}
