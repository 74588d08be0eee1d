//! State of the work, and what game threads do with it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
        mpsc::Sender,
    },
    time::Duration,
};

use client::Clock;

use super::{
    job::Job,
    mode::{PauseReason, Shutdown},
    task::{GameTask, TaskOutcome},
};
use crate::{
    delivery::Change,
    events::{Event, Events},
    monitor::Monitor,
    speed::Speed,
    spool::SpoolFile,
};

/// A longer pause releases the games.
const MAX_SHORT_PAUSE: Duration = Duration::from_mins(5);
/// Leases are released this long before they expire.
const RELEASE_MARGIN: Duration = Duration::from_mins(1);
/// This many panics in a row point to a broken program or machine.
const MAX_CONSECUTIVE_PANICS: u32 = 3;

/// Totals since the worker started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Number of finished games.
    pub(crate) games: u64,
    /// Number of searched moves of the finished games.
    pub(crate) positions: u64,
    /// Number of nodes searched in the finished games.
    pub(crate) nodes: u64,
    /// Time that threads had nothing to play though playing was allowed.
    pub(crate) idle: Duration,
}

/// The state behind the mutex.
#[derive(Debug, Default)]
pub(crate) struct WorkState {
    /// In order of arrival.
    pub(crate) jobs: Vec<Job>,
    pub(crate) pause: Option<PauseReason>,
    /// Start of the pause, across changes of its reason.
    paused_since: Option<Duration>,
    pub(crate) shutdown: Shutdown,
    pub(crate) totals: Totals,
    pub(crate) speed: Speed,
    /// Number of threads whose tables fit into memory, for the last lease.
    pub(crate) thread_slots: Option<usize>,
    /// Time that the last lease took, from its request to its first sync.
    pub(super) acquisition: Duration,
    /// Why there are no games, as one sentence.
    pub(crate) wait_reason: Option<String>,
    /// Number of consecutive games that panicked.
    consecutive_panics: u32,
    /// The worker has ended.
    pub(crate) is_stopped: bool,
}

impl WorkState {
    /// Returns the number of games that are not yet started.
    pub(crate) fn open_games(&self) -> usize {
        self.jobs.iter().map(|job| job.open.len()).sum()
    }

    /// Returns why some threads are idle although there are games: their tables do not fit into
    /// memory.
    pub(crate) fn idle_reason(&self) -> Option<&String> {
        self.jobs.iter().max_by_key(|job| job.thread_slots)?.idle_reason.as_ref()
    }

    /// Prefetch: returns whether at most half of the largest lease is left to start, or less than
    /// is played while two leases are acquired.
    pub(super) fn needs_more_games(&self) -> bool {
        let largest = self.jobs.iter().map(|job| job.lease.games as usize).max().unwrap_or(0);
        let open = self.open_games();
        let threads = self.thread_slots.unwrap_or(1).max(1) as f64;
        let left = self.speed.per_game().map_or(f64::MAX, |seconds| seconds * open as f64 / threads);
        self.pause.is_none() && (open <= largest / 2 || left < 2.0 * self.acquisition.as_secs_f64())
    }

    /// Returns whether no more games are wanted.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown != Shutdown::Running
    }

    /// Returns whether no game is running.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.jobs.iter().all(|job| job.at_hand.is_empty())
    }
}

/// The work, as its threads share it.
pub(crate) struct Work {
    monitor: Monitor<WorkState>,
    /// Read by running games before each move, without the lock.
    mode: AtomicU8,
    changes: Sender<Change>,
    events: Events,
}

const MODE_PLAY: u8 = 0;
const MODE_PAUSE: u8 = 1;
const MODE_STOP: u8 = 2;

impl Work {
    pub(crate) fn new(clock: Arc<dyn Clock>, changes: Sender<Change>, events: Events) -> Self {
        let monitor = Monitor::new(WorkState::default(), clock);
        Self { monitor, mode: AtomicU8::new(MODE_PLAY), changes, events }
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        self.monitor.clock()
    }

    /// Reads the state.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&WorkState) -> R) -> R {
        self.monitor.read(read)
    }

    /// Updates the state, retires leases without open or running games, and wakes all waiting
    /// threads. The queue keeps the order of the updates.
    pub(crate) fn update<R>(&self, update: impl FnOnce(&mut WorkState) -> R) -> R {
        self.monitor.update(|state| {
            let result = update(state);
            for job in state.jobs.extract_if(.., |job| job.is_done()) {
                self.queue(Change::Close { name: job.name });
            }
            if state.is_shutting_down() && state.jobs.is_empty() {
                self.events.report(Event::Idle);
            }
            let mode = match (state.shutdown, state.pause) {
                (Shutdown::Stop, _) => MODE_STOP,
                (_, Some(_)) => MODE_PAUSE,
                _ => MODE_PLAY,
            };
            self.mode.store(mode, Relaxed);
            result
        })
    }

    /// Waits until the condition holds or the timeout expires.
    pub(crate) fn wait(&self, timeout: Duration, until: impl FnMut(&WorkState) -> bool) {
        self.monitor.wait(timeout, until);
    }

    /// Queues a change of the spool. Without a writer the worker has ended.
    pub(crate) fn queue(&self, change: Change) {
        let _ = self.changes.send(change);
    }

    /// Adds a lease with its file; returns whether it will be played. During `Finish` it is
    /// released at once, and during `Stop` it stays on disk for the next start.
    pub(crate) fn accept(&self, mut job: Job, file: SpoolFile) -> bool {
        self.update(|state| {
            match state.shutdown {
                Shutdown::Running => {}
                Shutdown::Finish => job.drop_games(),
                Shutdown::Stop => return false,
            }
            self.queue(Change::Open { name: job.name.clone(), file });
            let is_played = !job.open.is_empty();
            state.jobs.push(job);
            is_played
        })
    }

    /// Pauses or resumes; returns whether that changes something. During a long pause, or before
    /// they expire, leases are released: finished games are submitted, others released. A short
    /// pause only suspends the games at hand.
    pub(crate) fn set_pause(&self, pause: Option<PauseReason>) -> bool {
        let now = self.clock().now();
        self.update(|state| {
            if let Some(since) = state.paused_since {
                let is_long = now >= since + MAX_SHORT_PAUSE;
                let released = state.jobs.iter_mut().filter(|job| is_long || now + RELEASE_MARGIN >= job.expires);
                released.for_each(Job::drop_games);
            }
            let is_change = state.pause != pause;
            state.pause = pause;
            state.paused_since = pause.and(state.paused_since.or(Some(now)));
            is_change
        })
    }

    /// Begins the graceful shutdown: only the second games of started match pairs are still begun.
    pub(crate) fn finish(&self) {
        self.update(|state| {
            state.shutdown = state.shutdown.max(Shutdown::Finish);
            state.jobs.iter_mut().for_each(Job::close);
        });
    }

    /// Ends all threads.
    pub(crate) fn end(&self) {
        self.update(|state| (state.shutdown, state.is_stopped) = (Shutdown::Stop, true));
    }

    /// Begins the immediate shutdown: games end between two moves.
    pub(crate) fn stop(&self) {
        self.update(|state| state.shutdown = Shutdown::Stop);
    }

    /// Drops all games that have not ended.
    pub(crate) fn drop_games(&self) {
        self.update(|state| state.jobs.iter_mut().for_each(Job::drop_games));
    }

    /// Returns whether a running game may continue; called before each move. Sleeps during a pause,
    /// at most until the game's lease is gone.
    pub(crate) fn may_continue(&self, job: &str) -> bool {
        match self.mode.load(Relaxed) {
            MODE_PLAY => true,
            MODE_STOP => false,
            _ => {
                let is_wanted = |state: &WorkState| state.jobs.iter().any(|other| other.name == job);
                self.wait(Duration::MAX, |state| {
                    state.pause.is_none() || state.shutdown == Shutdown::Stop || !is_wanted(state)
                });
                self.mode.load(Relaxed) != MODE_STOP && self.read(is_wanted)
            }
        }
    }

    /// Waits for the next game; none after the last.
    pub(crate) fn next_game(&self, slot: usize) -> Option<GameTask> {
        let mut idle_since: Option<Duration> = None;
        let next = self.monitor.take(Duration::MAX, |state| {
            let now = self.clock().now();
            if let Some(since) = idle_since.take() {
                state.totals.idle += now.saturating_sub(since);
            }
            if state.shutdown == Shutdown::Stop {
                return Some(None);
            }
            let is_paused = state.pause.is_some();
            if !is_paused && let Some(task) = state.jobs.iter_mut().find_map(|job| GameTask::start(job, slot)) {
                return Some(Some(task));
            }
            if state.is_shutting_down() {
                return Some(None);
            }
            // A thread without memory for its tables is not counted as idle.
            idle_since = (!is_paused && state.open_games() == 0).then_some(now);
            None
        });
        next.flatten()
    }

    /// Records the result of a task.
    pub(crate) fn complete_game(&self, task: &GameTask, outcome: TaskOutcome) {
        let panics = self.update(|state| {
            let Some(job) = state.jobs.iter_mut().find(|job| job.name == task.job) else { return 0 };
            match outcome {
                TaskOutcome::Finished { game, encoded, took } => {
                    let positions = game.record.moves.len() as u64;
                    job.speed.add(positions, game.nodes, took);
                    job.finish_game(task.number);
                    self.queue(Change::Game { name: task.job.clone(), number: task.number, game: encoded });
                    state.totals.games += 1;
                    state.totals.positions += positions;
                    state.totals.nodes += game.nodes;
                    state.consecutive_panics = 0;
                    state.speed.add(positions, game.nodes, took);
                }
                TaskOutcome::Dropped => {
                    job.at_hand.remove(&task.number);
                    if state.shutdown == Shutdown::Running {
                        job.open.insert(task.number);
                    }
                }
                TaskOutcome::Failed => {
                    job.at_hand.remove(&task.number);
                    job.close();
                    job.open.remove(&(task.number ^ 1));
                    state.consecutive_panics += 1;
                }
            }
            state.consecutive_panics
        });
        if panics >= MAX_CONSECUTIVE_PANICS {
            let why = "games break off again and again; `chuhe-worker selftest` may say more";
            self.events.report(Event::Fatal(why.to_owned()));
        }
    }
}
