//! The provider: acquires leases ahead of need, fetches their nets and books, and resumes the
//! leases of an earlier run.

mod files;

use std::{collections::BTreeSet, fs, io, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use client::{Backoff, Client, Clock, Error, JitterRng};
use dataset::{AtomicFile, Digest, Header};
use nnue::Kernel;
use protocol::api::{
    problem::Code,
    work::{Answer, Ask, Failure, FailureKind, Lease, Machine, Work},
};
use selfplay::{Timer, selfplay::Run};

use crate::{
    job::{Job, SavedLease},
    journal::Journal,
    nonce::random_id,
    sentence::sentence,
    shared::{Shared, Shutdown, State},
    speed::Speed,
    state::{self, Folder},
};

const MAX_GAMES_PER_LEASE: u64 = 1 << 20;
/// Memory of a thread beside its tables: search, evaluator and records, as measured in
/// docs/BENCHMARKS.md.
const MEBIBYTES_PER_THREAD: u64 = 24;
/// Memory of the process without games: the program, its own net, and the outbox in transit.
const MEBIBYTES_PER_PROCESS: u64 = 32;
/// Minimum interval of retries after errors that only people can mend.
const OPERATOR_RETRY_INTERVAL: Duration = Duration::from_hours(1);

/// Acquires leases.
pub(crate) struct Provider {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    pub(crate) folder: Arc<Folder>,
    pub(crate) machine: Machine,
    pub(crate) kernel: Kernel,
    /// The provider ends after this number of leases.
    pub(crate) max_leases: Option<u64>,
    pub(crate) mirror: Option<String>,
    pub(crate) backoff: Backoff,
}

/// The worker's clock for games under time control.
struct ClockTimer(Arc<dyn Clock>);

impl Timer for ClockTimer {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

/// Reasons not to play a lease.
enum Unplayable {
    /// This worker never can.
    Permanent(String),
    /// The worker is shutting down.
    Shutdown,
}

/// Memory budget of a lease: threads, MiB per thread, and MiB for the process.
struct ThreadSlots {
    count: usize,
    mebibytes_per_thread: u64,
    process_mebibytes: u64,
}

impl ThreadSlots {
    /// Returns why other threads are idle.
    fn idle_reason(&self, machine: &Machine) -> Option<String> {
        let Machine { threads, memory_mebibytes, .. } = machine;
        let idle = (*threads as usize).checked_sub(self.count).filter(|idle| *idle > 0)?;
        Some(format!(
            "{idle} of {threads} threads rest: these games need {} MiB a thread and {} MiB beside, and \
             {memory_mebibytes} MiB are allowed (`--memory`).",
            self.mebibytes_per_thread, self.process_mebibytes
        ))
    }
}

impl Provider {
    /// Acquires leases until the shutdown.
    pub(crate) fn run(mut self) {
        if let Err(error) = self.resume_leases() {
            self.shared.update(|state| state.fatal = Some(format!("{error:#}")));
            return;
        }
        let mut leases = 0;
        while self.max_leases.is_none_or(|max| leases < max) {
            self.shared.wait(Duration::MAX / 4, |state| is_shutting_down(state) || needs_more_games(state));
            if self.is_shutting_down() {
                return;
            }
            match self.register().and_then(|worker| self.request_lease(worker)) {
                Ok(Some(lease)) => {
                    self.shared.update(|state| state.wait_reason = None);
                    if self.accept(lease) {
                        self.backoff.reset();
                        leases += 1;
                    }
                }
                Ok(None) => self.backoff.reset(),
                Err(error) => self.back_off(&error),
            }
        }
        // The last lease ends the worker.
        self.shared.wait(Duration::MAX / 4, |state| is_shutting_down(state) || state.jobs.is_empty());
        self.shared.update(|state| state.shutdown = state.shutdown.max(Shutdown::Finish));
    }

    fn is_shutting_down(&self) -> bool {
        self.shared.read(is_shutting_down)
    }

    fn sleep(&self, time: Duration) {
        self.shared.wait(time, is_shutting_down);
    }

    fn register(&mut self) -> Result<i64, Error> {
        if let Some(worker) = self.shared.read(|state| state.worker) {
            return Ok(worker);
        }
        self.mirror = self.client.server()?.mirror;
        let worker = self.client.register(&self.machine)?.worker;
        self.shared.update(|state| state.worker = Some(worker));
        Ok(worker)
    }

    /// Requests a lease. Idempotent retry: the nonce is on disk before the request, so that after a
    /// crash the same lease is returned.
    fn request_lease(&self, worker: i64) -> Result<Option<(String, Lease)>, Error> {
        let asking = self.folder.join("asking");
        let storage = |source| Error::Storage { path: asking.clone(), source };
        let name = match fs::read_to_string(&asking) {
            Ok(name) if is_nonce(&name) && !self.folder.lease(&name).exists() => name,
            _ => {
                let name = random_id();
                AtomicFile::replace(&asking, name.as_bytes()).map_err(storage)?;
                name
            }
        };
        // Threads without memory are not claimed.
        let (speed, slots) = self.shared.read(|state| (state.speed.per_thread(), state.thread_slots));
        let threads = slots.map_or(self.machine.threads, |slots| slots as u32);
        let nodes_per_second = speed.map(|(_, nodes)| (nodes * f64::from(threads)) as u64);
        let acknowledged: Vec<_> =
            self.shared.read(|state| state.unacked_notices.iter().take(Ask::MAX_ACKNOWLEDGED).copied().collect());
        let ask = Ask {
            worker,
            nonce: name.clone(),
            threads,
            nodes_per_second,
            most_seconds: None,
            acknowledged: acknowledged.clone(),
        };
        let Answer { work, notices } = match self.client.ask(&ask) {
            Err(error) if error.code() == Some(Code::NotFound) => {
                // The server no longer knows this machine: it registers again.
                self.shared.update(|state| state.worker = None);
                return Err(error);
            }
            Err(error @ Error::Unexpected { .. }) => {
                // A retry with this nonce would return the same unreadable response.
                state::remove(&asking).map_err(storage)?;
                return Err(error);
            }
            answer => answer?,
        };
        self.shared.update(|state| {
            state.receive_notices(notices);
            // The request acknowledged these. Notices in the response are not yet acknowledged.
            state.unacked_notices.retain(|shard| !acknowledged.contains(shard));
        });
        match work {
            Work::Games(lease) => Ok(Some((name, lease))),
            Work::Wait { seconds, reason } => {
                state::remove(&asking).map_err(storage)?;
                self.shared.update(|state| {
                    state.wait_reason = Some(sentence(format!("The server has no games now: {reason}")));
                });
                self.sleep(Duration::from_secs(u64::from(seconds.clamp(1, 3600))));
                Ok(None)
            }
        }
    }

    /// Backoff: records why there are no games, and sleeps.
    fn back_off(&mut self, error: &Error) {
        let mut requested = error.retry_after();
        let is_strange = matches!(error, Error::Unexpected { .. });
        let get = "Get the newest chuhe-worker and start it; what this one has played is kept.";
        let why = match error.code() {
            _ if is_strange => format!("{} This worker may be too old. {get}", sentence(error.to_string())),
            Some(Code::TooOld) => format!("{} {get}", sentence(error.to_string())),
            Some(Code::Blocked) => sentence(format!("The server has blocked this worker: {error}")),
            Some(Code::BadToken | Code::NoToken) => {
                format!("{} `chuhe-worker configure` takes another token.", sentence(error.to_string()))
            }
            _ => sentence(format!("No games could be had: {error}")),
        };
        if is_strange
            || matches!(
                error.code(),
                Some(Code::TooOld | Code::Blocked | Code::BadToken | Code::NoToken | Code::Forbidden)
            )
        {
            requested = Some(requested.unwrap_or_default().max(OPERATOR_RETRY_INTERVAL));
        }
        let wait = self.backoff.after_failure(requested);
        self.shared.update(|state| state.wait_reason = Some(why));
        self.sleep(wait);
    }

    /// Saves and adds a new lease. A lease that cannot be played here is released.
    fn accept(&mut self, (name, lease): (String, Lease)) -> bool {
        let now = self.shared.clock.since_1970().as_secs();
        let server = self.client.server_address().to_string();
        let until = now.saturating_add(u64::from(lease.seconds));
        let saved = SavedLease { server, until, renewed: false, closed: false, lease };
        let written = serde_json::to_vec(&saved)
            .map_err(io::Error::from)
            .and_then(|bytes| AtomicFile::write(self.folder.lease(&name), &bytes))
            .and_then(|()| state::remove(&self.folder.join("asking")));
        if let Err(error) = written {
            self.shared.update(|state| state.wait_reason = Some(sentence(format!("A lease cannot be kept: {error}"))));
            self.sleep(Duration::from_mins(1));
            return false;
        }
        match self.add_job(&name, saved) {
            Ok(is_played) => {
                self.prune();
                if !is_played {
                    // Backoff: the next lease may be unplayable too.
                    let wait = self.backoff.after_failure(None);
                    self.sleep(wait);
                }
                is_played
            }
            Err(error) => {
                self.shared.log(sentence(format!("A lease cannot be kept: {error:#}")));
                self.sleep(Duration::from_mins(1));
                false
            }
        }
    }

    /// Resumes the leases of an earlier run. Expired ones are submitted as they are.
    fn resume_leases(&mut self) -> Result<()> {
        let leases = self.folder.join("leases");
        state::sweep(&leases).with_context(|| leases.display().to_string())?;
        for name in state::names(&leases, ".lease").with_context(|| leases.display().to_string())? {
            let path = self.folder.lease(&name);
            self.clear_answered_request(&name)?;
            let saved: Result<SavedLease> =
                fs::read(&path).map_err(anyhow::Error::from).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
            match saved {
                Ok(saved) if saved.server != self.client.server_address().to_string() => {
                    self.shared.log(format!(
                        "A lease of another server, {}, is set aside until this worker is configured for that again.",
                        saved.server
                    ));
                }
                Ok(saved) => {
                    self.add_job(&name, saved)?;
                }
                // Caused by a broken disk only; the server's lease expires by itself.
                Err(error) => {
                    self.shared.log(sentence(format!("{} cannot be read, and is put aside: {error}", path.display())));
                    fs::rename(&path, path.with_extension("damaged"))?;
                }
            }
        }
        Ok(())
    }

    /// Removes the nonce if its lease was saved before a crash.
    fn clear_answered_request(&self, name: &str) -> io::Result<()> {
        let asking = self.folder.join("asking");
        if fs::read_to_string(&asking).is_ok_and(|asked| asked == name) { state::remove(&asking) } else { Ok(()) }
    }

    /// Adds a lease as a job, with the games in its journal; returns whether it will be played.
    fn add_job(&mut self, name: &str, saved: SavedLease) -> Result<bool> {
        let path = self.folder.games(name);
        let (journal, finished) =
            Journal::open(&path, &saved.lease.terms).with_context(|| path.display().to_string())?;
        let clock = &self.shared.clock;
        // A clock that was set back cannot extend the lease.
        let left = saved.until.saturating_sub(clock.since_1970().as_secs()).min(u64::from(saved.lease.seconds));
        let left = Duration::from_secs(left);
        let numbers = saved.lease.numbers();
        let finished = finished.into_iter().filter(|(number, _)| numbers.contains(number)).collect();
        let mut job = Job {
            name: name.to_owned(),
            run: None,
            thread_slots: 0,
            idle_reason: None,
            open: BTreeSet::new(),
            at_hand: BTreeSet::new(),
            finished,
            unsaved: BTreeSet::new(),
            speed: Speed::default(),
            journal,
            accepted_at: clock.now(),
            expires: clock.now() + left,
            insufficient_progress: 0,
            saved,
        };
        if left.is_zero() && !job.saved.closed {
            self.shared
                .log("The time of a lease was over before it was taken up again; its finished games are submitted.");
        } else if !job.saved.closed {
            match self.prepare(&job.saved.lease) {
                Ok((run, slots)) => {
                    job.open = numbers.filter(|number| !job.finished.contains_key(number)).collect();
                    (job.run, job.thread_slots) = (Some(Arc::new(run)), slots.count);
                    job.idle_reason = slots.idle_reason(&self.machine);
                    self.shared.update(|state| state.thread_slots = Some(slots.count));
                }
                Err(Unplayable::Permanent(reason)) => {
                    self.shared.log(sentence(format!("A lease is released: {reason}")));
                    self.report(&reason);
                }
                // Unchanged on disk, for the next start.
                Err(Unplayable::Shutdown) => return Ok(false),
            }
        }
        Ok(self.shared.update(|state| state.accept_lease(job)))
    }

    /// Builds the player of a lease and its memory budget.
    fn prepare(&mut self, lease: &Lease) -> Result<(Run, ThreadSlots), Unplayable> {
        let permanent = |error: anyhow::Error| Unplayable::Permanent(format!("{error:#}"));
        // Checks the tables alone before nets are fetched.
        self.slots_for(lease).map_err(permanent)?;
        let terms = &lease.terms;
        let evaluation = self.evaluation(terms.net)?;
        let opponent = terms.opponent.map(|opponent| self.evaluation(opponent.net)).transpose()?;
        let book = terms.openings.book.map(|hash| self.book(hash, terms.rules)).transpose()?;
        let run = Run::from_header_with_timer(
            terms,
            evaluation,
            opponent,
            book,
            Arc::new(ClockTimer(Arc::clone(&self.shared.clock))),
        )
        .map_err(|error| Unplayable::Permanent(error.to_string()))?;
        Ok((run, self.slots_for(lease).map_err(permanent)?))
    }

    /// Validates a lease and computes its memory budget, including its
    /// nets on disk.
    fn slots_for(&self, lease: &Lease) -> Result<ThreadSlots> {
        let terms = &lease.terms;
        let reencoded = Header::from_bytes(&terms.to_bytes()).context("its terms are not allowed")?;
        ensure!(reencoded == *terms, "its terms are not allowed");
        ensure!((1..=MAX_GAMES_PER_LEASE).contains(&lease.games), "it has {} games", lease.games);
        ensure!(terms.first_game.checked_add(lease.games).is_some(), "its games have no numbers");
        if terms.opponent.is_some() {
            ensure!(
                terms.first_game.is_multiple_of(2) && lease.games.is_multiple_of(2),
                "it holds half a pair of a match"
            );
        }
        let tables = terms.settings.hash_mebibytes as u64;
        let per_thread = match terms.opponent {
            None => tables + MEBIBYTES_PER_THREAD,
            Some(_) => 2 * tables + 16 + 2 * MEBIBYTES_PER_THREAD,
        };
        let per_process = MEBIBYTES_PER_PROCESS + lease.nets().map(|net| self.mebibytes_of(net)).sum::<u64>();
        let allowed = self.machine.memory_mebibytes;
        let slots = (allowed.saturating_sub(per_process) / per_thread).min(u64::from(self.machine.threads));
        ensure!(
            slots > 0,
            "it needs {per_thread} MiB a thread and {per_process} MiB beside, and {allowed} MiB are allowed (`--memory`)"
        );
        Ok(ThreadSlots { count: slots as usize, mebibytes_per_thread: per_thread, process_mebibytes: per_process })
    }

    /// Returns the size of a net's file; 0 if it is not on disk.
    fn mebibytes_of(&self, net: Digest) -> u64 {
        fs::metadata(self.folder.net(net)).map_or(0, |file| file.len().div_ceil(1 << 20))
    }

    /// Reports a failure to the server, once.
    fn report(&self, detail: &str) {
        let detail = detail.chars().take(4000).collect();
        let worker = self.shared.read(|state| state.worker);
        let version = self.machine.version.clone();
        let _ = self.client.report(&Failure { worker, kind: FailureKind::Other, version, detail });
    }
}

/// Returns whether no more leases are needed.
fn is_shutting_down(state: &State) -> bool {
    state.shutdown != Shutdown::Running || state.fatal.is_some()
}

/// Prefetch: returns whether at most half of the largest lease is left to start.
fn needs_more_games(state: &State) -> bool {
    let largest = state.jobs.iter().map(|job| job.saved.lease.games as usize).max().unwrap_or(0);
    state.pause.is_none() && state.disk_error().is_none() && state.open_games() <= largest / 2
}

/// Deletes a lease whose result is in the outbox.
pub(crate) fn discard_lease(folder: &Folder, name: &str) -> io::Result<()> {
    state::remove(&folder.lease(name))?;
    state::remove(&folder.games(name))
}

/// Returns whether a text is one of our nonces, and so a safe file name.
fn is_nonce(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Exponential backoff of the provider: two seconds to ten minutes.
pub(crate) fn backoff(rng: JitterRng) -> Backoff {
    Backoff::new(Duration::from_secs(2), Duration::from_mins(10), rng)
}
