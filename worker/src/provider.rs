//! Brings games to be played: asks for leases before they are needed, fetches nets and books, and takes up again what an
//! earlier run of the worker left behind.

mod files;

use std::{collections::BTreeSet, fs, io, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use client::{Backoff, Client, Clock, Dice, Error};
use dataset::{Digest, Header, NewFile};
use nnue::Kernel;
use protocol::api::{
    problem::Code,
    work::{Answer, Ask, Failure, FailureKind, Lease, Machine, Work},
};
use selfplay::{Timer, selfplay::Run};

use crate::{
    desk::{Desk, Ending, State},
    job::{Job, Saved},
    journal::Journal,
    sentence::sentence,
    speed::Speed,
    state::{self, Folder},
    word::new_word,
};

/// A lease has no more games than this.
const MOST_GAMES: u64 = 1 << 20;
/// Beside the table: what a thread's searches, evaluators and records need, by measurement (docs/BENCHMARKS.md).
const MEBIBYTES_BESIDE: u64 = 24;
/// What the process needs before anybody plays: the program with its own net, and what it sends and keeps.
const MEBIBYTES_AT_ALL: u64 = 32;
/// How long people need to mend what machines cannot.
const FOR_PEOPLE: Duration = Duration::from_hours(1);

/// Brings games.
pub(crate) struct Provider {
    pub(crate) desk: Arc<Desk>,
    pub(crate) client: Client,
    pub(crate) folder: Arc<Folder>,
    pub(crate) machine: Machine,
    pub(crate) kernel: Kernel,
    /// After so many leases, no more.
    pub(crate) most_leases: Option<u64>,
    pub(crate) mirror: Option<String>,
    pub(crate) backoff: Backoff,
}

/// The worker's clock, as games under time read it.
struct DeskTimer(Arc<dyn Clock>);

impl Timer for DeskTimer {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

/// Why a lease is not played here.
enum Unfit {
    /// This worker cannot, now or ever.
    Here(String),
    /// The worker comes to its end.
    Ending,
}

/// How many threads have room for a lease's tables, how much each needs, and how much all of them together.
struct Seats {
    count: usize,
    mebibytes: u64,
    together: u64,
}

impl Seats {
    /// Why the others have nothing to play.
    fn idle(&self, machine: &Machine) -> Option<String> {
        let Machine { threads, memory_mebibytes, .. } = machine;
        let resting = (*threads as usize).checked_sub(self.count).filter(|resting| *resting > 0)?;
        Some(format!(
            "{resting} of {threads} threads rest: these games need {} MiB a thread and {} MiB beside, and \
             {memory_mebibytes} MiB are allowed (`--memory`).",
            self.mebibytes, self.together
        ))
    }
}

impl Provider {
    /// Works until the worker comes to its end.
    pub(crate) fn run(mut self) {
        if let Err(error) = self.take_up() {
            self.desk.change(|state| state.fatal = Some(format!("{error:#}")));
            return;
        }
        let mut leases = 0;
        while self.most_leases.is_none_or(|most| leases < most) {
            self.desk.wait(Duration::MAX / 4, |state| is_over(state) || wants_more(state));
            if self.is_over() {
                return;
            }
            match self.register().and_then(|worker| self.ask(worker)) {
                Ok(Some(lease)) => {
                    self.desk.change(|state| state.waiting = None);
                    if self.set_up(lease) {
                        self.backoff.reset();
                        leases += 1;
                    }
                }
                Ok(None) => self.backoff.reset(),
                Err(error) => self.after(&error),
            }
        }
        // The last lease is played; then the worker has nothing more to do.
        self.desk.wait(Duration::MAX / 4, |state| is_over(state) || state.jobs.is_empty());
        self.desk.change(|state| state.ending = state.ending.max(Ending::Finish));
    }

    fn is_over(&self) -> bool {
        self.desk.look(is_over)
    }

    fn sleep(&self, time: Duration) {
        self.desk.wait(time, is_over);
    }

    fn register(&mut self) -> Result<i64, Error> {
        if let Some(worker) = self.desk.look(|state| state.worker) {
            return Ok(worker);
        }
        self.mirror = self.client.server()?.mirror;
        let worker = self.client.register(&self.machine)?.worker;
        self.desk.change(|state| state.worker = Some(worker));
        Ok(worker)
    }

    /// Asks for games. The question's word is on disk before it is asked: after a crash the same lease is asked for again.
    fn ask(&self, worker: i64) -> Result<Option<(String, Lease)>, Error> {
        let asking = self.folder.join("asking");
        let storage = |source| Error::Storage { path: asking.clone(), source };
        let name = match fs::read_to_string(&asking) {
            Ok(name) if is_word(&name) && !self.folder.lease(&name).exists() => name,
            _ => {
                let name = new_word();
                NewFile::replace(&asking, name.as_bytes()).map_err(storage)?;
                name
            }
        };
        // Threads that have no room for their tables add nothing to what is claimed.
        let (speed, seats) = self.desk.look(|state| (state.speed.of_a_thread(), state.seats));
        let threads = seats.map_or(self.machine.threads, |seats| seats as u32);
        let nodes_per_second = speed.map(|(_, nodes)| (nodes * f64::from(threads)) as u64);
        let heard: Vec<_> = self.desk.look(|state| state.heard.iter().take(Ask::MOST_HEARD).copied().collect());
        let ask =
            Ask { worker, nonce: name.clone(), threads, nodes_per_second, most_seconds: None, heard: heard.clone() };
        let Answer { work, notices } = match self.client.ask(&ask) {
            Err(error) if error.code() == Some(Code::NotFound) => {
                // The server has forgotten this machine.
                self.desk.change(|state| state.worker = None);
                return Err(error);
            }
            Err(error @ Error::Strange { .. }) => {
                // Whoever asked the same again would be told the same.
                state::remove(&asking).map_err(storage)?;
                return Err(error);
            }
            answer => answer?,
        };
        self.desk.change(|state| {
            state.hear(notices);
            // The server will not say these again; what it says in this answer it has yet to know that it was heard.
            state.heard.retain(|shard| !heard.contains(shard));
        });
        match work {
            Work::Games(lease) => Ok(Some((name, lease))),
            Work::Wait { seconds, reason } => {
                state::remove(&asking).map_err(storage)?;
                self.desk
                    .change(|state| state.waiting = Some(sentence(format!("The server has no games now: {reason}"))));
                self.sleep(Duration::from_secs(u64::from(seconds.clamp(1, 3600))));
                Ok(None)
            }
        }
    }

    /// Says why there are no games, and waits.
    fn after(&mut self, error: &Error) {
        let mut asked = error.again_after();
        let is_strange = matches!(error, Error::Strange { .. });
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
            asked = Some(asked.unwrap_or_default().max(FOR_PEOPLE));
        }
        let wait = self.backoff.after_failure(asked);
        self.desk.change(|state| state.waiting = Some(why));
        self.sleep(wait);
    }

    /// Puts a new lease on the desk. What cannot be played here is given back.
    fn set_up(&mut self, (name, lease): (String, Lease)) -> bool {
        let now = self.desk.clock.since_1970().as_secs();
        let server = self.client.server_address().to_string();
        let until = now.saturating_add(u64::from(lease.seconds));
        let saved = Saved { server, until, renewed: false, closed: false, lease };
        let written = serde_json::to_vec(&saved)
            .map_err(io::Error::from)
            .and_then(|bytes| NewFile::write(self.folder.lease(&name), &bytes))
            .and_then(|()| state::remove(&self.folder.join("asking")));
        if let Err(error) = written {
            self.desk.change(|state| state.waiting = Some(sentence(format!("A lease cannot be kept: {error}"))));
            self.sleep(Duration::from_mins(1));
            return false;
        }
        match self.job(&name, saved) {
            Ok(played) => {
                self.prune();
                if !played {
                    // Not at once again: the next lease may be like this one.
                    let wait = self.backoff.after_failure(None);
                    self.sleep(wait);
                }
                played
            }
            Err(error) => {
                self.desk.say(sentence(format!("A lease cannot be kept: {error:#}")));
                self.sleep(Duration::from_mins(1));
                false
            }
        }
    }

    /// Takes up what an earlier run left: leases that still run are gone on with, others handed in as they are.
    fn take_up(&mut self) -> Result<()> {
        let leases = self.folder.join("leases");
        state::sweep(&leases).with_context(|| leases.display().to_string())?;
        for name in state::names(&leases, ".lease").with_context(|| leases.display().to_string())? {
            let path = self.folder.lease(&name);
            self.was_answered(&name)?;
            let saved: Result<Saved> =
                fs::read(&path).map_err(anyhow::Error::from).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
            match saved {
                Ok(saved) if saved.server != self.client.server_address().to_string() => {
                    self.desk.say(format!(
                        "A lease of another server, {}, is set aside until this worker is configured for that again.",
                        saved.server
                    ));
                }
                Ok(saved) => {
                    self.job(&name, saved)?;
                }
                // Nothing but a broken disk makes such a file; the server gives the games to others by itself.
                Err(error) => {
                    self.desk.say(sentence(format!("{} cannot be read, and is put aside: {error}", path.display())));
                    fs::rename(&path, path.with_extension("damaged"))?;
                }
            }
        }
        Ok(())
    }

    /// The question was answered, though a crash came before that was noted: nobody asks it again.
    fn was_answered(&self, name: &str) -> io::Result<()> {
        let asking = self.folder.join("asking");
        if fs::read_to_string(&asking).is_ok_and(|asked| asked == name) { state::remove(&asking) } else { Ok(()) }
    }

    /// Makes a job of a lease, with what is finished of it, and puts it on the desk; whether it will be played.
    fn job(&mut self, name: &str, saved: Saved) -> Result<bool> {
        let path = self.folder.games(name);
        let (journal, finished) =
            Journal::open(&path, &saved.lease.terms).with_context(|| path.display().to_string())?;
        let clock = &self.desk.clock;
        // Who sets the machine's clock back gets no more time than the server gave.
        let left = saved.until.saturating_sub(clock.since_1970().as_secs()).min(u64::from(saved.lease.seconds));
        let left = Duration::from_secs(left);
        let numbers = saved.lease.numbers();
        let finished = finished.into_iter().filter(|(number, _)| numbers.contains(number)).collect();
        let mut job = Job {
            name: name.to_owned(),
            run: None,
            seats: 0,
            idle: None,
            open: BTreeSet::new(),
            at_hand: BTreeSet::new(),
            finished,
            unwritten: BTreeSet::new(),
            speed: Speed::default(),
            journal,
            since: clock.now(),
            due: clock.now() + left,
            shown: 0,
            saved,
        };
        if left.is_zero() && !job.saved.closed {
            self.desk
                .say("The time of a lease was over before it was taken up again; its finished games are handed in.");
        } else if !job.saved.closed {
            match self.prepare(&job.saved.lease) {
                Ok((run, seats)) => {
                    job.open = numbers.filter(|number| !job.finished.contains_key(number)).collect();
                    (job.run, job.seats) = (Some(Arc::new(run)), seats.count);
                    job.idle = seats.idle(&self.machine);
                    self.desk.change(|state| state.seats = Some(seats.count));
                }
                Err(Unfit::Here(reason)) => {
                    self.desk.say(sentence(format!("A lease is given back: {reason}")));
                    self.report(&reason);
                }
                // It is as it was, and is taken up at the next start.
                Err(Unfit::Ending) => return Ok(false),
            }
        }
        Ok(self.desk.change(|state| state.take_on(job)))
    }

    /// What plays a lease's games, and on how many threads.
    fn prepare(&mut self, lease: &Lease) -> Result<(Run, Seats), Unfit> {
        let unfit = |error: anyhow::Error| Unfit::Here(format!("{error:#}"));
        // What is too large without its nets is not worth fetching them.
        self.seats_for(lease).map_err(unfit)?;
        let terms = &lease.terms;
        let evaluation = self.evaluation(terms.net)?;
        let opponent = terms.opponent.map(|opponent| self.evaluation(opponent.net)).transpose()?;
        let book = terms.openings.book.map(|hash| self.book(hash, terms.rules)).transpose()?;
        let run =
            Run::under_timer(terms, evaluation, opponent, book, Arc::new(DeskTimer(Arc::clone(&self.desk.clock))))
                .map_err(|error| Unfit::Here(error.to_string()))?;
        Ok((run, self.seats_for(lease).map_err(unfit)?))
    }

    /// Whether a lease can be played here at all, and how many threads its tables, and those of its nets that are here,
    /// leave room for.
    fn seats_for(&self, lease: &Lease) -> Result<Seats> {
        let terms = &lease.terms;
        let again = Header::from_bytes(&terms.to_bytes()).context("its terms are not allowed")?;
        ensure!(again == *terms, "its terms are not allowed");
        ensure!((1..=MOST_GAMES).contains(&lease.games), "it has {} games", lease.games);
        ensure!(terms.first_game.checked_add(lease.games).is_some(), "its games have no numbers");
        if terms.opponent.is_some() {
            ensure!(
                terms.first_game.is_multiple_of(2) && lease.games.is_multiple_of(2),
                "it holds half a pair of a match"
            );
        }
        let tables = terms.settings.hash_mebibytes as u64;
        let one = match terms.opponent {
            None => tables + MEBIBYTES_BESIDE,
            Some(_) => 2 * tables + 16 + 2 * MEBIBYTES_BESIDE,
        };
        let together = MEBIBYTES_AT_ALL + lease.nets().map(|net| self.mebibytes_of(net)).sum::<u64>();
        let allowed = self.machine.memory_mebibytes;
        let seats = (allowed.saturating_sub(together) / one).min(u64::from(self.machine.threads));
        ensure!(
            seats > 0,
            "it needs {one} MiB a thread and {together} MiB beside, and {allowed} MiB are allowed (`--memory`)"
        );
        Ok(Seats { count: seats as usize, mebibytes: one, together })
    }

    /// A net has the size of its file; one that is not there yet has none.
    fn mebibytes_of(&self, net: Digest) -> u64 {
        fs::metadata(self.folder.net(net)).map_or(0, |file| file.len().div_ceil(1 << 20))
    }

    /// Tells the server, once, that something is wrong here.
    fn report(&self, detail: &str) {
        let detail = detail.chars().take(4000).collect();
        let worker = self.desk.look(|state| state.worker);
        let version = self.machine.version.clone();
        let _ = self.client.report(&Failure { worker, kind: FailureKind::Other, version, detail });
    }
}

/// Whether nothing more is to be brought.
fn is_over(state: &State) -> bool {
    state.ending != Ending::None || state.fatal.is_some()
}

/// Whether more games should be had: while the last of what is there are played, the next come.
fn wants_more(state: &State) -> bool {
    let most = state.jobs.iter().map(|job| job.saved.lease.games as usize).max().unwrap_or(0);
    state.rest.is_none() && state.disk().is_none() && state.open() <= most / 2
}

/// A lease that lies in the outbox, or was handed in, leaves no trace.
pub(crate) fn discard(folder: &Folder, name: &str) -> io::Result<()> {
    state::remove(&folder.lease(name))?;
    state::remove(&folder.games(name))
}

/// Whether a text can be a file's name, and is one of our words.
fn is_word(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Waits for the provider: seconds at first, minutes later.
pub(crate) fn backoff(dice: Dice) -> Backoff {
    Backoff::new(Duration::from_secs(2), Duration::from_mins(10), dice)
}
