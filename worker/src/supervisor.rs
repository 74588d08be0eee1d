//! The supervisor: schedules play and pauses, moves finished leases to the outbox, reports, and
//! shuts the worker down.

mod shutdown;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Result, anyhow};
use client::{Client, JitterRng, Settings as ClientSettings};
use nnue::Kernel;
use protocol::api::work::Machine;

use crate::{
    control::{Control, ControlCommand},
    job::Job,
    live_view,
    nonce::random_seed,
    outbox::Outbox,
    pool, power,
    provider::{self, Provider, discard_lease},
    sender::{self, Sender},
    sentence::sentence,
    settings::Settings,
    shared::{PauseReason, Shared, Shutdown, State, reason_of},
    state::Folder,
    status::{Doing, Snapshot},
    supervised, update,
};

/// Interval of the main loop.
const TICK_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of journal syncs. A crash of the program loses nothing, one of the machine at most this
/// much.
const SYNC_INTERVAL: Duration = Duration::from_secs(10);
/// Interval of checks of hours, battery and the pause file.
const SCHEDULE_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of `status.json`.
const STATUS_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of requests for the account's contributions.
const CONTRIBUTION_INTERVAL: Duration = Duration::from_mins(15);
/// This many panics in a row point to a broken program or machine.
const MAX_CONSECUTIVE_PANICS: u32 = 3;

/// Display of messages and status.
pub trait Screen: Send {
    /// Prints a message.
    fn line(&mut self, text: &str);
    /// Shows the current status.
    fn show(&mut self, snapshot: &Snapshot);
}

/// The parts of a worker.
pub struct Parts {
    /// The owner's limits.
    pub settings: Settings,
    /// Description sent at registration.
    pub machine: Machine,
    /// Instruction set of the evaluation.
    pub kernel: Kernel,
    /// State folder.
    pub folder: Arc<Folder>,
    /// File of this program, which an update replaces.
    pub program: PathBuf,
    /// Folder in which the system describes its power supplies.
    pub power_supplies: PathBuf,
    /// Source of updates; none if they are disabled.
    pub updates: Option<update::Source>,
    /// Settings of the HTTP client.
    pub client: ClientSettings,
    /// Commands of the owner.
    pub control: Arc<Control>,
}

/// Outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The owner stopped it, or all its leases are done.
    Stopped,
    /// A newer version has replaced the program and is to be started.
    Updated,
}

/// Runs a worker to its end.
///
/// # Errors
///
/// If it cannot continue.
pub fn run(parts: Parts, screen: &mut dyn Screen) -> Result<End> {
    let clock = Arc::clone(&parts.client.clock);
    let shared = Arc::new(Shared::new(Arc::clone(&clock)));
    let client = Client::new(parts.client)?;
    let outbox = Outbox::open(parts.folder.root())?;
    shared.update(|state| state.outbox = outbox.names().map_or(0, |names| names.len()));
    let provider = Provider {
        shared: Arc::clone(&shared),
        client: client.clone(),
        folder: Arc::clone(&parts.folder),
        machine: parts.machine,
        kernel: parts.kernel,
        max_leases: parts.settings.leases,
        mirror: None,
        backoff: provider::backoff(JitterRng::new(random_seed())),
    };
    let sender = Sender {
        shared: Arc::clone(&shared),
        client: client.clone(),
        outbox: outbox.clone(),
        folder: Arc::clone(&parts.folder),
        sending: sender::Task::new(sender::backoff(JitterRng::new(random_seed()))),
        renewing: sender::Task::new(sender::backoff(JitterRng::new(random_seed()))),
        attempts: BTreeMap::new(),
        foreign: BTreeSet::new(),
    };
    let mut supervisor = Supervisor {
        shared: Arc::clone(&shared),
        client,
        folder: parts.folder,
        outbox,
        control: parts.control,
        settings: parts.settings,
        power_supplies: parts.power_supplies,
        synced_at: clock.now(),
        checked_at: None,
        reported: None,
        contribution_asked_at: None,
        outbox_failed_at: None,
        stop_requests: 0,
        is_proven: false,
        screen,
    };
    supervisor.control.attach(&shared);
    // Before the first game starts: the schedule may forbid it.
    supervisor.check_schedule();
    // These threads are not joined: at the end one may be in a long move or an HTTP exchange.
    pool::start(&shared, supervisor.settings.cores)?;
    supervised::spawn("provider", &shared, &supervisor.client, move || provider.run())?;
    supervised::spawn("sender", &shared, &supervisor.client, move || sender.run())?;
    let (live_shared, live_client) = (Arc::clone(&shared), supervisor.client.clone());
    thread::Builder::new().name("live-view".to_owned()).spawn(move || live_view::run(&live_shared, &live_client))?;
    if let Some(source) = parts.updates {
        let (shared, client, folder) = (Arc::clone(&shared), supervisor.client.clone(), Arc::clone(&supervisor.folder));
        let watch = move || update::watch(&shared, &client, &folder, &parts.program, &source);
        thread::Builder::new().name("update".to_owned()).spawn(watch)?;
    }
    let result = supervisor.supervise();
    shared.update(|state| (state.shutdown, state.is_stopped) = (Shutdown::Stop, true));
    result?;
    Ok(if shared.read(|state| state.is_updated) { End::Updated } else { End::Stopped })
}

struct Supervisor<'a> {
    shared: Arc<Shared>,
    client: Client,
    folder: Arc<Folder>,
    outbox: Outbox,
    control: Arc<Control>,
    settings: Settings,
    power_supplies: PathBuf,
    synced_at: Duration,
    checked_at: Option<Duration>,
    reported: Option<(Duration, Doing)>,
    contribution_asked_at: Option<Duration>,
    /// Time of the last failure to write to the outbox.
    outbox_failed_at: Option<Duration>,
    /// Number of stop requests of the owner.
    stop_requests: u32,
    /// The server has acknowledged a result: this version works.
    is_proven: bool,
    screen: &'a mut dyn Screen,
}

impl Supervisor<'_> {
    fn supervise(&mut self) -> Result<()> {
        loop {
            self.handle_signals();
            self.check_schedule();
            self.submit_retired();
            self.sync();
            self.request_contribution();
            self.report();
            if let Some(why) = self.shared.read(|state| state.fatal.clone()) {
                return Err(anyhow!(why));
            }
            match self.shared.read(|state| state.shutdown) {
                Shutdown::Running => {}
                Shutdown::Finish if self.shared.read(|state| state.pause.is_some()) => {
                    self.shared.update(|state| state.shutdown = Shutdown::Stop);
                }
                Shutdown::Finish => {
                    let is_done = self.shared.read(|state| state.jobs.is_empty() && state.retired_jobs.is_empty());
                    if is_done {
                        self.flush_outbox(shutdown::FINISH_FLUSH_TIMEOUT);
                        return Ok(());
                    }
                }
                Shutdown::Stop => {
                    self.stop();
                    self.flush_outbox(shutdown::STOP_FLUSH_TIMEOUT);
                    return Ok(());
                }
            }
            self.shared.wait(TICK_INTERVAL, |state| {
                state.signal_pending
                    || !state.messages.is_empty()
                    || (!state.retired_jobs.is_empty() && self.outbox_failed_at.is_none())
            });
        }
    }

    /// Executes the owner's commands.
    fn handle_signals(&mut self) {
        self.shared.update(|state| state.signal_pending = false);
        while let Some(command) = self.control.take() {
            match command {
                ControlCommand::Finish | ControlCommand::Stop => self.escalate_shutdown(command),
                ControlCommand::Pause => self.control.set_paused(self.folder.root(), true),
                ControlCommand::Resume => self.control.set_paused(self.folder.root(), false),
            }
            self.checked_at = None;
        }
    }

    /// Escalates the shutdown. It cancels a restart after an update. Only the owner's requests are
    /// counted, not other reasons to end.
    fn escalate_shutdown(&mut self, command: ControlCommand) {
        self.stop_requests += 1;
        let is_first = self.stop_requests == 1;
        self.shared.update(|state| {
            state.is_updated = false;
            if command == ControlCommand::Finish && is_first && state.shutdown != Shutdown::Stop {
                state.shutdown = Shutdown::Finish;
                state.log("Finishing the games at hand; once more ends at once.");
                state.close_all();
            } else {
                state.shutdown = Shutdown::Stop;
            }
        });
    }

    /// Pauses and resumes by pause file, hours and battery.
    fn check_schedule(&mut self) {
        let now = self.shared.clock.now();
        if self.checked_at.is_some_and(|checked| now < checked + SCHEDULE_INTERVAL) {
            return;
        }
        self.checked_at = Some(now);
        let time = self.shared.clock.since_1970();
        let pause = if self.control.is_paused(self.folder.root()) {
            Some(PauseReason::Requested)
        } else if !self.settings.hours.allows(time) {
            Some(PauseReason::Hours)
        } else if !self.settings.on_battery && power::is_on_battery(&self.power_supplies) {
            Some(PauseReason::Battery)
        } else {
            None
        };
        self.shared.update(|state| {
            state.release_idle(now);
            if state.pause != pause {
                state.pause = pause;
                state.paused_since = pause.and(state.paused_since.or(Some(now)));
                state.log(pause.map_or("Playing again.", PauseReason::reason));
            }
        });
    }

    /// Moves retired jobs to the outbox. After a disk error they are kept and retried.
    fn submit_retired(&mut self) {
        let now = self.shared.clock.now();
        if self.outbox_failed_at.is_some_and(|failed| now < failed + Duration::from_secs(10)) {
            return;
        }
        self.outbox_failed_at = None;
        while let Some(mut job) = self
            .shared
            .update(|state| if state.retired_jobs.is_empty() { None } else { Some(state.retired_jobs.remove(0)) })
        {
            let submitted = self.submit_job(&mut job);
            let waiting = self.outbox.names().map_or(1, |names| names.len());
            match submitted {
                Ok(()) => self.shared.update(|state| {
                    state.outbox = waiting;
                    state.outbox_error = None;
                }),
                Err(error) => {
                    // The journal may still have space for the unsaved games.
                    let _ = job.flush_journal();
                    self.outbox_failed_at = Some(now);
                    self.shared.update(|state| {
                        state.outbox_error = Some(sentence(format!("A result cannot be written: {error}")));
                        state.retired_jobs.insert(0, job);
                    });
                    return;
                }
            }
        }
    }

    /// Moves a job to the outbox. Idempotent: the closed lease is saved first; after a crash the
    /// rest is repeated, and submissions already in the outbox stay as they are.
    fn submit_job(&self, job: &mut Job) -> io::Result<()> {
        job.saved.closed = true;
        job.saved.save(&self.folder, &job.name)?;
        for (name, submission) in job.submissions()? {
            self.outbox.put(&name, &submission)?;
        }
        discard_lease(&self.folder, &job.name)
    }

    /// Syncs the journals.
    fn sync(&mut self) {
        let now = self.shared.clock.now();
        if now < self.synced_at + SYNC_INTERVAL {
            return;
        }
        self.synced_at = now;
        let files: Vec<_> = self.shared.update(|state| {
            let flushed = state.jobs.iter_mut().try_for_each(Job::flush_journal);
            state.journal_error =
                flushed.err().map(|error| sentence(format!("Finished games cannot be written: {error}")));
            state.jobs.iter().filter_map(|job| job.journal.file().ok()).collect()
        });
        for file in files {
            let _ = file.sync_data();
        }
    }

    fn request_contribution(&mut self) {
        let now = self.shared.clock.now();
        let due = self.contribution_asked_at.is_none_or(|asked| now >= asked + CONTRIBUTION_INTERVAL);
        if !due || self.shared.read(|state| state.send_error.is_some() || state.shutdown != Shutdown::Running) {
            return;
        }
        self.contribution_asked_at = Some(now);
        let (client, shared) = (self.client.clone(), Arc::clone(&self.shared));
        let request = move || {
            if let Ok(me) = client.me() {
                shared.update(|state| state.me = Some(me));
            }
        };
        let _ = thread::Builder::new().name("contribution".to_owned()).spawn(request);
    }

    /// Records rejections beside the refused results. Failed writes are retried.
    fn record_rejections(&self) {
        let rejected = self.shared.update(|state| std::mem::take(&mut state.unrecorded_rejections));
        for notice in rejected {
            let Some(shard) = notice.shard else { continue };
            if self.outbox.record_rejection(shard, &reason_of(&notice)).is_err() {
                self.shared.update(|state| state.unrecorded_rejections.push(notice));
            }
        }
    }

    fn report(&mut self) {
        self.record_rejections();
        for line in self.shared.update(|state| std::mem::take(&mut state.messages)) {
            self.screen.line(&line);
        }
        let snapshot = self.snapshot();
        let now = self.shared.clock.now();
        if self.reported.is_none_or(|(reported, doing)| doing != snapshot.doing || now >= reported + STATUS_INTERVAL) {
            self.reported = Some((now, snapshot.doing));
            snapshot.write(self.folder.root());
        }
        self.screen.show(&snapshot);
        // Results of an earlier version prove nothing about this one.
        if !self.is_proven && snapshot.games_accepted > 0 && self.shared.read(|state| state.totals.games > 0) {
            self.is_proven = true;
            update::confirm(self.folder.root(), env!("CARGO_PKG_VERSION"));
        }
        let panics = self.shared.read(|state| state.consecutive_panics);
        if panics >= MAX_CONSECUTIVE_PANICS {
            self.shared.update(|state| {
                state.fatal = Some("games break off again and again; `chuhe-worker selftest` may say more".to_owned());
            });
        }
    }

    fn snapshot(&self) -> Snapshot {
        let refused = self.outbox.refused().map_or(0, |names| names.len());
        self.shared.read(|state: &State| {
            Snapshot::of(state, &self.settings, self.client.server_address(), refused, &*self.shared.clock)
        })
    }
}
