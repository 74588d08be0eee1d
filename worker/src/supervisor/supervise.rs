//! The main loop of the supervisor.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender},
    },
    time::Duration,
};

use anyhow::{Result, anyhow};
use client::Clock;
use protocol::api::work::FailureKind;

use crate::{
    control::{Control, ControlCommand},
    delivery::Delivery,
    events::Event,
    messages::Messages,
    report::Reporter,
    schedule::Schedule,
    settings::Settings,
    state::Folder,
    status::{Account, Publisher, Snapshot, View},
    supervised, update,
    work::{Shutdown, Work, WorkState},
};

/// Interval of the main loop.
const TICK_INTERVAL: Duration = Duration::from_millis(500);
/// Flush timeout after `Finish`.
const FINISH_FLUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the report of a panic.
const REPORT_TIMEOUT: Duration = Duration::from_secs(3);

/// The supervisor. It owns the shutdown, and uses no disk itself: that may hang.
pub(super) struct Supervisor {
    pub(super) work: Arc<Work>,
    pub(super) delivery: Arc<Delivery>,
    pub(super) messages: Arc<Messages>,
    pub(super) events: Receiver<Event>,
    pub(super) schedule: Schedule,
    /// The owner's requests to pause or to resume, for the pause file.
    pub(super) pause_requests: Sender<bool>,
    /// Changes of the pause file by others.
    pub(super) pause_changes: Receiver<bool>,
    pub(super) account: Account,
    pub(super) control: Arc<Control>,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
    /// State folder.
    pub(super) root: PathBuf,
    /// Number of stop requests of the owner.
    pub(super) stop_requests: u32,
    /// A newer version has replaced the program and is to be started.
    pub(super) is_updated: bool,
    /// This version works, and its trial is over.
    pub(super) is_confirmed: bool,
    /// It is recorded that the server knows the account.
    pub(super) is_known: bool,
    /// The error that ends the worker.
    pub(super) fatal: Option<String>,
    /// A panic, which is reported to the server before the end.
    pub(super) panic: Option<String>,
    pub(super) reporter: Arc<Reporter>,
    pub(super) publisher: Publisher,
}

impl Supervisor {
    pub(super) fn supervise(&mut self) -> Result<()> {
        loop {
            self.handle_commands();
            if let Some(is_paused) = self.pause_changes.try_iter().last() {
                self.schedule.is_paused = is_paused;
            }
            self.schedule.check();
            self.account.refresh(&self.work, &self.delivery);
            self.report();
            if let Some(why) = self.fatal.take() {
                self.flush_writer();
                self.report_panic();
                return Err(anyhow!(why));
            }
            let (shutdown, is_paused, is_done) =
                self.work.read(|state| (state.shutdown, state.pause.is_some(), state.jobs.is_empty()));
            match shutdown {
                Shutdown::Running => {}
                Shutdown::Finish if is_done => {
                    self.flush(FINISH_FLUSH_TIMEOUT);
                    return Ok(());
                }
                Shutdown::Finish if !is_paused => {}
                Shutdown::Finish | Shutdown::Stop => {
                    self.end_at_once();
                    return Ok(());
                }
            }
            if let Ok(event) = self.events.recv_timeout(self.clock.real(TICK_INTERVAL)) {
                self.handle(event);
            }
            while let Ok(event) = self.events.try_recv() {
                self.handle(event);
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Command | Event::Idle => {}
            Event::LeasesDone => self.work.finish(),
            Event::Fatal(why) => self.fatal = Some(why),
            Event::Panic(why) => {
                self.panic = Some(why.clone());
                self.fatal = Some(why);
            }
            Event::Updated(version) => {
                if cfg!(not(unix)) || self.work.read(WorkState::is_shutting_down) {
                    self.messages.log(format!("Version {version} is here; it plays from the next start on."));
                    return;
                }
                let message = format!("Version {version} is here; it starts when the games at hand are finished.");
                self.messages.log(message);
                self.is_updated = true;
                self.work.finish();
            }
        }
    }

    /// Reports a panic to the server, which is not waited for long.
    fn report_panic(&mut self) {
        let Some(detail) = self.panic.take() else { return };
        let reporter = Arc::clone(&self.reporter);
        supervised::run_within(REPORT_TIMEOUT, "report", move || reporter.report(FailureKind::Panic, &detail));
    }

    /// Executes the owner's commands.
    pub(super) fn handle_commands(&mut self) {
        while let Some(command) = self.control.take() {
            match command {
                ControlCommand::Finish | ControlCommand::Stop => self.escalate_shutdown(command),
                ControlCommand::Pause | ControlCommand::Resume => {
                    self.schedule.is_paused = command == ControlCommand::Pause;
                    let _ = self.pause_requests.send(self.schedule.is_paused);
                }
            }
        }
    }

    /// Escalates the shutdown. It cancels a restart after an update. Only the owner's requests are
    /// counted, not other reasons to end.
    fn escalate_shutdown(&mut self, command: ControlCommand) {
        self.stop_requests += 1;
        self.is_updated = false;
        let is_stopping = self.work.read(|state| state.shutdown == Shutdown::Stop);
        if command == ControlCommand::Finish && self.stop_requests == 1 && !is_stopping {
            self.messages.log("Finishing the games at hand; once more ends at once.");
            self.work.finish();
        } else {
            self.work.stop();
        }
        self.delivery.flush();
    }

    pub(super) fn report(&mut self) {
        self.delivery.refused().take_removal().into_iter().for_each(|message| self.messages.log(message));
        let snapshot = self.snapshot();
        if !self.is_confirmed && self.delivery.read(|state| state.is_proven) {
            self.is_confirmed = true;
            let root = self.root.clone();
            let confirm = move || update::confirm(&root, env!("CARGO_PKG_VERSION"));
            // Not waited for.
            supervised::run_within(Duration::ZERO, "confirm", confirm);
        }
        if !self.is_known && self.account.known().me.is_some() {
            self.is_known = true;
            let (root, server) = (self.root.clone(), self.account.server().to_string());
            supervised::run_within(Duration::ZERO, "contact", move || Folder::record_contact(&root, &server));
        }
        self.publisher.publish(&snapshot);
    }

    fn snapshot(&self) -> Snapshot {
        let now = self.clock.now();
        let delivered = self.delivery.read(|state| state.figures(now));
        let view = View {
            settings: &self.settings,
            server: self.account.server(),
            known: self.account.known(),
            refused: self.delivery.refused().count(),
            delivered,
            now,
            since_1970: self.clock.since_1970(),
        };
        self.work.read(|state| Snapshot::of(state, view))
    }
}
