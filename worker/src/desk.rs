//! What all parts of a worker know together: the games to be played, what was made of them, and what is wanted.
//!
//! Game threads take numbers and put finished games down; the provider adds leases, the sender takes results away, and
//! the keeper watches. Whoever waits, waits here, under the clock that was handed in.

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

use crate::{job::Job, sentence::sentence, speed::Speed, window::Window};

/// Who wants the worker to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    /// Its owner said so.
    Asked,
    /// It is not among the allowed hours.
    Hours,
    /// The machine runs on its battery.
    Battery,
}

impl Rest {
    /// One sentence.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Asked => "Paused; `chuhe-worker status --resume` goes on.",
            Self::Hours => "Resting: it is not among the hours in which this machine may play.",
            Self::Battery => "Resting: the machine runs on its battery.",
        }
    }
}

/// How a worker comes to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Not now.
    #[default]
    None,
    /// The games at hand are finished and handed in.
    Finish,
    /// Nothing is finished; what there is is kept and handed in.
    Stop,
}

/// What was done since the worker began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Games played to their end.
    pub games: u64,
    /// Their moves.
    pub positions: u64,
    /// The nodes of these.
    pub nodes: u64,
    /// Games that the server has thanked for.
    pub accepted: u64,
    /// Games that it refused.
    pub refused: u64,
    /// How long threads had nothing to play though nothing spoke against it.
    pub idle: Duration,
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// In the order in which they came.
    pub(crate) jobs: Vec<Job>,
    /// Nobody plays these any more; they are to be handed in.
    pub(crate) over: Vec<Job>,
    pub(crate) rest: Option<Rest>,
    /// Since when it rests, for whatever reason.
    pub(crate) rests_since: Option<Duration>,
    /// The owner has wished for something that nobody has heard yet.
    pub(crate) wished: bool,
    pub(crate) ending: Ending,
    pub(crate) done: Done,
    pub(crate) speed: Speed,
    /// How many threads the last lease had room for.
    pub(crate) seats: Option<usize>,
    /// Why there are no games, in one sentence.
    pub(crate) waiting: Option<String>,
    /// Why finished games cannot be written down.
    pub(crate) unwritten: Option<String>,
    /// Why results cannot be put into the outbox.
    pub(crate) unpacked: Option<String>,
    /// Why results do not get away.
    pub(crate) sending: Option<String>,
    /// How many results wait.
    pub(crate) outbox: usize,
    /// How often all that there is was to be handed in once more, because the worker comes to its end.
    pub(crate) goodbyes: u32,
    /// Attempts of the sender to get everything away that failed, counted.
    pub(crate) failures: u64,
    pub(crate) me: Option<Me>,
    /// This machine's number at the server.
    pub(crate) worker: Option<i64>,
    /// Why the worker cannot go on.
    pub(crate) fatal: Option<String>,
    /// Another program has this one's name: it shall go on.
    pub(crate) updated: bool,
    /// Nobody looks at this any more.
    pub(crate) gone: bool,
    /// Games in a row that broke off.
    pub(crate) panics: u32,
    /// What went wrong here, and the server has not been told.
    pub(crate) failed: Vec<(FailureKind, String)>,
    /// The last shards that the server has thanked for, and how many games each has: it may reject them later.
    delivered: VecDeque<(Digest, u64)>,
    /// Shards that the server has rejected, as it said so: not on disk yet.
    pub(crate) rejected: Vec<Notice>,
    /// What people should read.
    pub(crate) lines: VecDeque<String>,
    /// The shards of which the server has spoken, and does not know yet that it was heard.
    pub(crate) heard: BTreeSet<Digest>,
}

impl State {
    pub(crate) fn say(&mut self, line: impl Into<String>) {
        self.lines.push_back(line.into());
        // Nobody may be reading.
        if self.lines.len() > 1000 {
            self.lines.pop_front();
        }
    }

    /// The server has thanked for a shard of so many games; for the same once more is nothing new.
    pub(crate) fn accepted(&mut self, shard: Digest, games: u64) {
        if self.delivered.iter().all(|(known, _)| *known != shard) {
            self.done.accepted += games;
            self.delivered.push_back((shard, games));
        }
        if self.delivered.len() > MOST_DELIVERED {
            self.delivered.pop_front();
        }
    }

    /// The server says something. It says it again until it is told that it was heard; people read it once. Games that it
    /// took and has rejected since count as refused.
    pub(crate) fn hear(&mut self, notices: Vec<Notice>) {
        for notice in notices {
            if !notice.shard.is_none_or(|shard| self.heard.insert(shard)) {
                continue;
            }
            if notice.kind != "rejected" {
                self.say(sentence(format!("The server says: {}", notice.text)));
                continue;
            }
            let of_it = |(shard, _): &(Digest, u64)| Some(*shard) == notice.shard;
            let games = self.delivered.iter().position(of_it).and_then(|place| self.delivered.remove(place));
            let games = games.map_or(0, |(_, games)| games);
            self.done.accepted = self.done.accepted.saturating_sub(games);
            self.done.refused += games;
            let what = if games > 0 { format!("{games} games") } else { "Games".to_owned() };
            self.say(sentence(format!("{what} that were handed in are rejected: {}", reason_of(&notice))));
            self.rejected.push(notice);
        }
    }

    /// What is wrong with the disk. Until it is mended no more games are asked for.
    pub(crate) fn disk(&self) -> Option<&String> {
        self.unpacked.as_ref().or(self.unwritten.as_ref())
    }

    /// Why some threads have nothing to play though there are games: none of these has room for them.
    pub(crate) fn idle(&self) -> Option<&String> {
        let roomiest = self.jobs.iter().max_by_key(|job| job.seats)?;
        roomiest.idle.as_ref()
    }

    /// Puts a lease on the table; whether it will be played. One that comes when no more games are begun is closed at
    /// once, and what comes at the very end is as it was: on disk, for the next start.
    pub(crate) fn take_on(&mut self, mut job: Job) -> bool {
        match self.ending {
            Ending::None => {}
            Ending::Finish => job.abandon(),
            Ending::Stop => return false,
        }
        let played = !job.open.is_empty();
        self.jobs.push(job);
        self.clear_table();
        played
    }

    /// Games that nobody has begun.
    pub(crate) fn open(&self) -> usize {
        self.jobs.iter().map(|job| job.open.len()).sum()
    }

    /// Takes jobs off the table on which nobody has anything to do.
    pub(crate) fn clear_table(&mut self) {
        let (over, jobs) = std::mem::take(&mut self.jobs).into_iter().partition(Job::is_over);
        self.jobs = jobs;
        let over: Vec<Job> = over;
        self.over.extend(over);
    }

    /// Who rests for long, or past the time of a lease, keeps no games from others: what is finished is handed in, the rest
    /// given back. A short rest costs nothing: the games at hand wait.
    pub(crate) fn let_go(&mut self, now: Duration) {
        let Some(since) = self.rests_since else { return };
        let is_long = now >= since + SHORT_REST;
        for job in self.jobs.iter_mut().filter(|job| is_long || now + LAST_MINUTE >= job.due) {
            job.abandon();
        }
        self.clear_table();
    }

    /// Begins no more games, but for the partners in a match of those that were begun.
    pub(crate) fn close_all(&mut self) {
        self.jobs.iter_mut().for_each(Job::close);
        self.clear_table();
    }
}

/// Whoever rests longer gives his games to others.
const SHORT_REST: Duration = Duration::from_mins(5);
/// Who gives games back does so before their time is over.
const LAST_MINUTE: Duration = Duration::from_mins(1);
/// So many shards are remembered; the server looks at them within minutes, as a rule.
const MOST_DELIVERED: usize = 500;

/// Why games were rejected: code, sentence, and the shard's name.
pub(crate) fn reason_of(notice: &Notice) -> String {
    let code = notice.code.as_ref().map_or_else(String::new, |code| format!("{code}, "));
    let shard = notice.shard.map_or_else(String::new, |shard| format!(" (shard {shard})"));
    format!("{code}{}{shard}", notice.text)
}

/// The desk.
pub(crate) struct Desk {
    state: Mutex<State>,
    bell: Condvar,
    pub(crate) clock: Arc<dyn Clock>,
    /// What games at hand ask before each move, without a lock.
    mode: AtomicU8,
    /// What people see of games that they watch.
    pub(crate) window: Window,
}

const PLAY: u8 = 0;
const REST: u8 = 1;
const STOP: u8 = 2;

/// A game to be played.
pub(crate) struct Piece {
    pub(crate) job: String,
    pub(crate) number: u64,
    pub(crate) run: Arc<Run>,
    /// The lease's token, if people watch its games.
    pub(crate) watched: Option<String>,
}

/// What became of it.
#[allow(clippy::large_enum_variant, reason = "one is made at a time")]
pub(crate) enum Outcome {
    Finished {
        game: Finished,
        took: Duration,
    },
    /// It was given up, for nobody wants it now.
    Abandoned,
    /// It cannot be played.
    Broken(FailureKind, String),
}

impl Desk {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            state: Mutex::default(),
            bell: Condvar::new(),
            clock,
            mode: AtomicU8::new(PLAY),
            window: Window::default(),
        }
    }

    /// Looks at the state.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.lock())
    }

    /// Changes the state, and wakes up whoever waits for it.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let mode = match (state.ending, state.rest) {
            (Ending::Stop, _) => STOP,
            (_, Some(_)) => REST,
            _ => PLAY,
        };
        self.mode.store(mode, Relaxed);
        drop(state);
        self.bell.notify_all();
        changed
    }

    /// Something for people to read.
    pub(crate) fn say(&self, line: impl Into<String>) {
        self.change(|state| state.say(line));
    }

    /// Waits until something holds, but not longer than this.
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

    /// Whether a game at hand goes on; asked before each of its moves. Sleeps while the worker rests, and not longer than
    /// its lease lies on the table.
    pub(crate) fn goes_on(&self, job: &str) -> bool {
        match self.mode.load(Relaxed) {
            PLAY => true,
            STOP => false,
            _ => {
                let is_wanted = |state: &State| state.jobs.iter().any(|on_table| on_table.name == job);
                let sleeps = |state: &State| state.rest.is_some() && state.ending != Ending::Stop && is_wanted(state);
                self.wait(Duration::MAX / 4, |state| !sleeps(state));
                self.mode.load(Relaxed) != STOP && self.look(is_wanted)
            }
        }
    }

    /// The next game for a thread; none if there will be no more.
    pub(crate) fn take(&self, seat: usize) -> Option<Piece> {
        let mut state = self.lock();
        loop {
            if state.ending == Ending::Stop || state.fatal.is_some() {
                return None;
            }
            let resting = state.rest.is_some();
            if !resting && let Some(job) = state.jobs.iter_mut().find(|job| seat < job.seats && !job.open.is_empty()) {
                let (number, run) = (job.open.pop_first(), job.run.clone());
                if let Some((number, run)) = number.zip(run) {
                    job.at_hand.insert(number);
                    let lease = &job.saved.lease;
                    let watched = lease.live.then(|| lease.token.clone());
                    let job = job.name.clone();
                    drop(state);
                    // The provider wants to know that there is less to do.
                    self.bell.notify_all();
                    return Some(Piece { job, number, run, watched });
                }
                job.abandon();
                continue;
            }
            if state.ending != Ending::None {
                return None;
            }
            let since = self.clock.now();
            // Whom memory keeps out waits for nothing.
            let kept_out = state.open() > 0;
            state = self.sleep(state, Duration::from_mins(1));
            if !resting && !kept_out {
                state.done.idle += self.clock.now().saturating_sub(since);
            }
        }
    }

    /// Puts a game down.
    pub(crate) fn put_down(&self, piece: &Piece, outcome: Outcome) {
        self.change(|state| {
            let Some(job) = state.jobs.iter_mut().find(|job| job.name == piece.job) else { return };
            match outcome {
                Outcome::Finished { game, took } => {
                    let positions = game.record.moves.len() as u64;
                    job.speed.add(positions, game.nodes, took);
                    job.add(piece.number, game.record);
                    let written = job.write_down();
                    state.done.games += 1;
                    state.done.positions += positions;
                    state.done.nodes += game.nodes;
                    state.panics = 0;
                    state.speed.add(positions, game.nodes, took);
                    state.unwritten =
                        written.err().map(|error| sentence(format!("Finished games cannot be written: {error}")));
                }
                Outcome::Abandoned => {
                    job.at_hand.remove(&piece.number);
                    if state.ending == Ending::None {
                        job.open.insert(piece.number);
                    }
                }
                Outcome::Broken(kind, reason) => {
                    job.at_hand.remove(&piece.number);
                    job.close();
                    job.open.remove(&(piece.number ^ 1));
                    state.panics += 1;
                    let said = format!("Game {} could not be played: {reason}", piece.number);
                    state.failed.push((kind, said.clone()));
                    state.say(sentence(said));
                }
            }
            state.clear_table();
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        let time = self.clock.real(time).min(Duration::from_mins(1));
        self.bell.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}
