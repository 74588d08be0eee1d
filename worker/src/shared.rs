//! Shared state of all threads: leases, results, pause and shutdown requests.
//!
//! The pool takes games and returns results, the provider adds leases, the sender submits, and the
//! supervisor controls. All waiting happens here, on one condition variable and the injected clock.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    time::Duration,
};

use client::Clock;
use dataset::Digest;
use protocol::api::work::{FailureKind, Me, Notice};
use selfplay::selfplay::{Finished, Run};

use crate::{job::Job, live_view::LiveView, sentence::sentence, speed::Speed};

/// Reason for a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PauseReason {
    /// The owner paused it.
    Requested,
    /// Outside the allowed hours.
    Hours,
    /// The machine runs on battery.
    Battery,
}

impl PauseReason {
    /// Returns the reason as one sentence.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Requested => "Paused; `chuhe-worker status --resume` resumes.",
            Self::Hours => "Resting: it is not among the hours in which this machine may play.",
            Self::Battery => "Resting: the machine runs on its battery.",
        }
    }
}

/// State machine of the shutdown: `Running`, `Finish`, `Stop`, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shutdown {
    /// Running.
    #[default]
    Running,
    /// Graceful: the games at hand are finished and submitted.
    Finish,
    /// Immediate: games at hand are dropped, finished ones are saved and submitted.
    Stop,
}

/// Totals since the worker started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Number of finished games.
    pub games: u64,
    /// Number of searched moves of the finished games.
    pub positions: u64,
    /// Number of nodes searched in the finished games.
    pub nodes: u64,
    /// Games that the server acknowledged.
    pub accepted: u64,
    /// Games that it rejected.
    pub refused: u64,
    /// Time that threads had nothing to play though playing was allowed.
    pub idle: Duration,
}

/// The state proper, behind the mutex.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// In order of arrival.
    pub(crate) jobs: Vec<Job>,
    /// Jobs without open or running games, to be moved to the outbox.
    pub(crate) retired_jobs: Vec<Job>,
    pub(crate) pause: Option<PauseReason>,
    /// Start of the pause, across changes of its reason.
    pub(crate) paused_since: Option<Duration>,
    /// A control command is queued.
    pub(crate) signal_pending: bool,
    pub(crate) shutdown: Shutdown,
    pub(crate) totals: Totals,
    pub(crate) speed: Speed,
    /// Number of threads whose tables fit into memory, for the last lease.
    pub(crate) thread_slots: Option<usize>,
    /// Why there are no games, as one sentence.
    pub(crate) wait_reason: Option<String>,
    /// Why finished games cannot be written to the journal.
    pub(crate) journal_error: Option<String>,
    /// Why results cannot be written to the outbox.
    pub(crate) outbox_error: Option<String>,
    /// Why results cannot be sent.
    pub(crate) send_error: Option<String>,
    /// Number of results in the outbox.
    pub(crate) outbox: usize,
    /// Number of flushes that the shutdown has requested from the sender.
    pub(crate) flush_requests: u32,
    /// Number of failed attempts to send everything.
    pub(crate) failed_flushes: u64,
    pub(crate) me: Option<Me>,
    /// This machine's worker id at the server.
    pub(crate) worker: Option<i64>,
    /// The error that ends the worker.
    pub(crate) fatal: Option<String>,
    /// A newer version has replaced the program and is to be started.
    pub(crate) is_updated: bool,
    /// The worker has stopped; all threads end.
    pub(crate) is_stopped: bool,
    /// Number of consecutive games that panicked.
    pub(crate) consecutive_panics: u32,
    /// Failures not yet reported to the server.
    pub(crate) unreported_failures: Vec<(FailureKind, String)>,
    /// The last acknowledged shards with their numbers of games; the server may reject them later.
    acknowledged_shards: VecDeque<(Digest, u64)>,
    /// Rejections not yet recorded on disk.
    pub(crate) unrecorded_rejections: Vec<Notice>,
    /// Messages for the screen.
    pub(crate) messages: VecDeque<String>,
    /// Shards whose notices arrived and are not yet acknowledged.
    pub(crate) unacked_notices: BTreeSet<Digest>,
}

impl State {
    pub(crate) fn log(&mut self, message: impl Into<String>) {
        self.messages.push_back(message.into());
        // Bounded: the screen may not be reading.
        if self.messages.len() > 1000 {
            self.messages.pop_front();
        }
    }

    /// Counts an acknowledged shard. Idempotent: a repeated receipt is ignored.
    pub(crate) fn record_accepted(&mut self, shard: Digest, games: u64) {
        if self.acknowledged_shards.iter().all(|(known, _)| *known != shard) {
            self.totals.accepted += games;
            self.acknowledged_shards.push_back((shard, games));
        }
        if self.acknowledged_shards.len() > MAX_REMEMBERED_SHARDS {
            self.acknowledged_shards.pop_front();
        }
    }

    /// Processes notices. The server repeats a notice until it is acknowledged; each is shown once.
    /// Games that are rejected after their acknowledgement move from accepted to refused.
    pub(crate) fn receive_notices(&mut self, notices: Vec<Notice>) {
        for notice in notices {
            if !notice.shard.is_none_or(|shard| self.unacked_notices.insert(shard)) {
                continue;
            }
            if notice.kind != "rejected" {
                self.log(sentence(format!("The server says: {}", notice.text)));
                continue;
            }
            let is_this = |(shard, _): &(Digest, u64)| Some(*shard) == notice.shard;
            let games = self
                .acknowledged_shards
                .iter()
                .position(is_this)
                .and_then(|place| self.acknowledged_shards.remove(place));
            let games = games.map_or(0, |(_, games)| games);
            self.totals.accepted = self.totals.accepted.saturating_sub(games);
            self.totals.refused += games;
            let what = if games > 0 { format!("{games} games") } else { "Games".to_owned() };
            self.log(sentence(format!("{what} that were submitted are rejected: {}", reason_of(&notice))));
            self.unrecorded_rejections.push(notice);
        }
    }

    /// Returns the disk's error, if any. While there is one no lease is requested.
    pub(crate) fn disk_error(&self) -> Option<&String> {
        self.outbox_error.as_ref().or(self.journal_error.as_ref())
    }

    /// Returns why some threads are idle although there are games: their tables do not fit into
    /// memory.
    pub(crate) fn idle_reason(&self) -> Option<&String> {
        let largest = self.jobs.iter().max_by_key(|job| job.thread_slots)?;
        largest.idle_reason.as_ref()
    }

    /// Adds a lease; returns whether it will be played. During `Finish` it is dropped at once, and
    /// during `Stop` it stays on disk for the next start.
    pub(crate) fn accept_lease(&mut self, mut job: Job) -> bool {
        match self.shutdown {
            Shutdown::Running => {}
            Shutdown::Finish => job.drop_games(),
            Shutdown::Stop => return false,
        }
        let is_played = !job.open.is_empty();
        self.jobs.push(job);
        self.retire_finished();
        is_played
    }

    /// Returns the number of games that are not yet started.
    pub(crate) fn open_games(&self) -> usize {
        self.jobs.iter().map(|job| job.open.len()).sum()
    }

    /// Retires the jobs without open or running games.
    pub(crate) fn retire_finished(&mut self) {
        let (retired, jobs) = std::mem::take(&mut self.jobs).into_iter().partition(Job::is_done);
        self.jobs = jobs;
        let retired: Vec<Job> = retired;
        self.retired_jobs.extend(retired);
    }

    /// Releases leases during a long pause or before they expire: finished games are submitted,
    /// others released. A short pause only suspends the games at hand.
    pub(crate) fn release_idle(&mut self, now: Duration) {
        let Some(since) = self.paused_since else { return };
        let is_long = now >= since + MAX_SHORT_PAUSE;
        for job in self.jobs.iter_mut().filter(|job| is_long || now + RELEASE_MARGIN >= job.expires) {
            job.drop_games();
        }
        self.retire_finished();
    }

    /// Closes all jobs: only the second games of started match pairs are still played.
    pub(crate) fn close_all(&mut self) {
        self.jobs.iter_mut().for_each(Job::close);
        self.retire_finished();
    }
}

/// A longer pause releases the games.
const MAX_SHORT_PAUSE: Duration = Duration::from_mins(5);
/// Leases are released this long before they expire.
const RELEASE_MARGIN: Duration = Duration::from_mins(1);
/// The server validates a shard within minutes, as a rule.
const MAX_REMEMBERED_SHARDS: usize = 500;

/// Formats the reason of a rejection: code, text and shard.
pub(crate) fn reason_of(notice: &Notice) -> String {
    let code = notice.code.as_ref().map_or_else(String::new, |code| format!("{code}, "));
    let shard = notice.shard.map_or_else(String::new, |shard| format!(" (shard {shard})"));
    format!("{code}{}{shard}", notice.text)
}

/// The shared state and its condition variable.
pub(crate) struct Shared {
    state: Mutex<State>,
    condvar: Condvar,
    pub(crate) clock: Arc<dyn Clock>,
    /// Read by running games before each move, without the lock.
    mode: AtomicU8,
    /// Feed of the watched games.
    pub(crate) live_view: LiveView,
}

const MODE_PLAY: u8 = 0;
const MODE_PAUSE: u8 = 1;
const MODE_STOP: u8 = 2;

/// One game to be played.
pub(crate) struct GameTask {
    pub(crate) job: String,
    pub(crate) number: u64,
    pub(crate) run: Arc<Run>,
    /// The lease's token, if the game is watched.
    pub(crate) watched: Option<String>,
}

/// The result of one task.
#[allow(clippy::large_enum_variant, reason = "one is made at a time")]
pub(crate) enum TaskOutcome {
    Finished {
        game: Finished,
        took: Duration,
    },
    /// Dropped: it is no longer wanted.
    Dropped,
    /// It cannot be played.
    Failed(FailureKind, String),
}

impl Shared {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            state: Mutex::default(),
            condvar: Condvar::new(),
            clock,
            mode: AtomicU8::new(MODE_PLAY),
            live_view: LiveView::default(),
        }
    }

    /// Reads the state.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.lock())
    }

    /// Updates the state and wakes all waiting threads.
    pub(crate) fn update<T>(&self, update: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = update(&mut state);
        let mode = match (state.shutdown, state.pause) {
            (Shutdown::Stop, _) => MODE_STOP,
            (_, Some(_)) => MODE_PAUSE,
            _ => MODE_PLAY,
        };
        self.mode.store(mode, Relaxed);
        drop(state);
        self.condvar.notify_all();
        result
    }

    /// Queues a message for the screen.
    pub(crate) fn log(&self, message: impl Into<String>) {
        self.update(|state| state.log(message));
    }

    /// Waits until the condition holds or the timeout expires.
    pub(crate) fn wait(&self, time: Duration, mut until: impl FnMut(&State) -> bool) {
        let end = self.clock.now() + time;
        let mut state = self.lock();
        while !until(&state) {
            let left = end.saturating_sub(self.clock.now());
            if left.is_zero() {
                return;
            }
            state = self.sleep(state, left);
        }
    }

    /// Returns whether a running game may continue; called before each move. Sleeps during a pause,
    /// at most until the game's lease is gone.
    pub(crate) fn may_continue(&self, job: &str) -> bool {
        match self.mode.load(Relaxed) {
            MODE_PLAY => true,
            MODE_STOP => false,
            _ => {
                let is_wanted = |state: &State| state.jobs.iter().any(|other| other.name == job);
                let must_sleep =
                    |state: &State| state.pause.is_some() && state.shutdown != Shutdown::Stop && is_wanted(state);
                self.wait(Duration::MAX / 4, |state| !must_sleep(state));
                self.mode.load(Relaxed) != MODE_STOP && self.read(is_wanted)
            }
        }
    }

    /// Waits for the next game; none after the last.
    pub(crate) fn next_game(&self, slot: usize) -> Option<GameTask> {
        let mut state = self.lock();
        loop {
            if state.shutdown == Shutdown::Stop || state.fatal.is_some() {
                return None;
            }
            let is_paused = state.pause.is_some();
            if !is_paused
                && let Some(job) = state.jobs.iter_mut().find(|job| slot < job.thread_slots && !job.open.is_empty())
            {
                let (number, run) = (job.open.pop_first(), job.run.clone());
                if let Some((number, run)) = number.zip(run) {
                    job.at_hand.insert(number);
                    let lease = &job.saved.lease;
                    let watched = lease.live.then(|| lease.token.clone());
                    let job = job.name.clone();
                    drop(state);
                    // The provider may now have to request more.
                    self.condvar.notify_all();
                    return Some(GameTask { job, number, run, watched });
                }
                job.drop_games();
                continue;
            }
            if state.shutdown != Shutdown::Running {
                return None;
            }
            let since = self.clock.now();
            // A thread without memory for its tables is not counted as idle.
            let lacks_memory = state.open_games() > 0;
            state = self.sleep(state, Duration::from_mins(1));
            if !is_paused && !lacks_memory {
                state.totals.idle += self.clock.now().saturating_sub(since);
            }
        }
    }

    /// Records the result of a task.
    pub(crate) fn complete_game(&self, task: &GameTask, outcome: TaskOutcome) {
        self.update(|state| {
            let Some(job) = state.jobs.iter_mut().find(|job| job.name == task.job) else { return };
            match outcome {
                TaskOutcome::Finished { game, took } => {
                    let positions = game.record.moves.len() as u64;
                    job.speed.add(positions, game.nodes, took);
                    job.add(task.number, game.record);
                    let flushed = job.flush_journal();
                    state.totals.games += 1;
                    state.totals.positions += positions;
                    state.totals.nodes += game.nodes;
                    state.consecutive_panics = 0;
                    state.speed.add(positions, game.nodes, took);
                    state.journal_error =
                        flushed.err().map(|error| sentence(format!("Finished games cannot be written: {error}")));
                }
                TaskOutcome::Dropped => {
                    job.at_hand.remove(&task.number);
                    if state.shutdown == Shutdown::Running {
                        job.open.insert(task.number);
                    }
                }
                TaskOutcome::Failed(kind, reason) => {
                    job.at_hand.remove(&task.number);
                    job.close();
                    job.open.remove(&(task.number ^ 1));
                    state.consecutive_panics += 1;
                    let message = format!("Game {} could not be played: {reason}", task.number);
                    state.unreported_failures.push((kind, message.clone()));
                    state.log(sentence(message));
                }
            }
            state.retire_finished();
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        let time = self.clock.real(time).min(Duration::from_mins(1));
        self.condvar.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}
