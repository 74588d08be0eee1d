//! The main loop of the supervisor.

use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use anyhow::{Result, anyhow};
use client::Clock;
use protocol::api::work::FailureKind;

use super::screen::Screen;
use crate::{
    control::{Control, ControlCommand, set_paused},
    delivery::Delivery,
    events::Event,
    messages::Messages,
    report::Reporter,
    schedule::{PauseReason, Schedule},
    sentence::count,
    settings::Settings,
    spool::Refused,
    status::{Account, Doing, Snapshot, View},
    update,
    work::{Shutdown, SleepDetector, Work},
};

/// Interval of the main loop.
const TICK_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of checks of hours, battery and the pause file.
const SCHEDULE_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of `status.json`.
const STATUS_INTERVAL: Duration = Duration::from_secs(2);
/// Timeout of the report of a panic.
const REPORT_TIMEOUT: Duration = Duration::from_secs(3);

/// The supervisor. It owns schedule and shutdown.
pub(super) struct Supervisor<'a> {
    pub(super) work: Arc<Work>,
    pub(super) delivery: Arc<Delivery>,
    pub(super) messages: Arc<Messages>,
    pub(super) events: Receiver<Event>,
    pub(super) schedule: Schedule,
    pub(super) account: Account,
    pub(super) refused: Refused,
    pub(super) control: Arc<Control>,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) checked_at: Option<Duration>,
    pub(super) reported: Option<(Duration, Doing)>,
    /// Number of stop requests of the owner.
    pub(super) stop_requests: u32,
    /// A newer version has replaced the program and is to be started.
    pub(super) is_updated: bool,
    /// The server has acknowledged a result: this version works.
    pub(super) is_proven: bool,
    /// The error that ends the worker.
    pub(super) fatal: Option<String>,
    /// A panic, which is reported to the server before the end.
    pub(super) panic: Option<String>,
    pub(super) sleep: SleepDetector,
    pub(super) reporter: Arc<Reporter>,
    pub(super) screen: &'a mut dyn Screen,
}

impl Supervisor<'_> {
    pub(super) fn supervise(&mut self) -> Result<()> {
        loop {
            self.handle_commands();
            self.check_schedule();
            self.record_rejections();
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
                    self.end_gracefully();
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
                if cfg!(not(unix)) || self.work.read(|state| state.shutdown != Shutdown::Running) {
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
        let (reporter, (done, is_done)) = (Arc::clone(&self.reporter), mpsc::sync_channel(1));
        let report = move || {
            reporter.report(FailureKind::Panic, &detail);
            let _ = done.try_send(());
        };
        if thread::Builder::new().name("report".to_owned()).spawn(report).is_ok() {
            let _ = is_done.recv_timeout(REPORT_TIMEOUT);
        }
    }

    /// Executes the owner's commands.
    pub(super) fn handle_commands(&mut self) {
        let root = self.schedule.root.clone();
        while let Some(command) = self.control.take() {
            // If the folder cannot be written, playing fails too and reports it.
            match command {
                ControlCommand::Finish | ControlCommand::Stop => self.escalate_shutdown(command),
                ControlCommand::Pause => drop(set_paused(&root, true)),
                ControlCommand::Resume => drop(set_paused(&root, false)),
            }
            self.checked_at = None;
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

    /// Pauses and resumes by pause file, hours and battery.
    pub(super) fn check_schedule(&mut self) {
        let now = self.clock.now();
        if self.checked_at.is_some_and(|checked| now < checked + SCHEDULE_INTERVAL) {
            return;
        }
        self.checked_at = Some(now);
        if let Some(slept) = self.sleep.slept() {
            let expired = self.work.wake(slept);
            if expired > 0 {
                let what = count(expired, "lease");
                let message = format!("{what} expired while this machine slept; finished games are submitted.");
                self.messages.log(message);
            }
        }
        let pause = self.schedule.pause_reason(self.clock.since_1970());
        if self.work.set_pause(pause) {
            self.messages.log(pause.map_or("Playing again.", PauseReason::reason));
        }
    }

    /// Records rejections beside the refused results. Failed writes are retried.
    fn record_rejections(&self) {
        let rejected = self.delivery.monitor().update(|state| state.receipts.take_unrecorded());
        for (shard, reason) in rejected {
            if self.refused.put_reason(shard, &reason).is_err() {
                self.delivery.monitor().update(|state| state.receipts.retry_record(shard, reason));
            }
        }
    }

    pub(super) fn report(&mut self) {
        self.refused.take_removal().into_iter().for_each(|message| self.messages.log(message));
        for line in self.messages.take() {
            self.screen.line(&line);
        }
        let snapshot = self.snapshot();
        let now = self.clock.now();
        if self.reported.is_none_or(|(reported, doing)| doing != snapshot.doing || now >= reported + STATUS_INTERVAL) {
            self.reported = Some((now, snapshot.doing));
            snapshot.write(&self.schedule.root);
        }
        self.screen.show(&snapshot);
        // Results of an earlier version prove nothing about this one.
        if !self.is_proven && snapshot.games_accepted > 0 && snapshot.games > 0 {
            self.is_proven = true;
            update::confirm(&self.schedule.root, env!("CARGO_PKG_VERSION"));
        }
    }

    fn snapshot(&self) -> Snapshot {
        let now = self.clock.now();
        let delivered = self.delivery.read(|state| state.figures(now));
        let view = View {
            settings: &self.settings,
            server: self.account.server(),
            known: self.account.known(),
            refused: self.refused.count(),
            delivered,
            now,
            since_1970: self.clock.since_1970(),
        };
        self.work.read(|state| Snapshot::of(state, view))
    }
}
