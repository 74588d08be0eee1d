//! Workers inside the test, with an injected clock.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use client::{Clock, Settings as ClientSettings};
use nnue::Kernel;
use protocol::api::work::Machine;
use worker::{
    control::{Control, ControlCommand},
    selftest::SIGNATURE,
    settings::Settings,
    spool::{Disk, Spool, SystemDisk},
    state::Folder,
    status::{Screen, Snapshot},
    supervisor::{self, End, Parts},
    update::Source,
};

/// Records the worker's messages and status.
#[derive(Clone, Default)]
pub(crate) struct RecordingScreen(pub(crate) Arc<Mutex<(Vec<String>, Option<Snapshot>)>>);

impl Screen for RecordingScreen {
    fn line(&mut self, text: &str) {
        self.0.lock().unwrap().0.push(text.to_owned());
    }

    fn show(&mut self, snapshot: &Snapshot) {
        self.0.lock().unwrap().1 = Some(snapshot.clone());
    }
}

impl RecordingScreen {
    pub(crate) fn lines(&self) -> String {
        self.0.lock().unwrap().0.join("\n")
    }

    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        self.0.lock().unwrap().1.clone()
    }

    /// Number of games played.
    pub(crate) fn games(&self) -> u64 {
        self.snapshot().map_or(0, |snapshot| snapshot.games)
    }

    /// Waits for a message.
    pub(crate) fn wait_for_line(&self, words: &str) {
        for _ in 0..20_000 {
            if self.lines().contains(words) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it never says {words:?}: {:?}\n{}", self.snapshot(), self.lines());
    }

    pub(crate) fn wait_for(&self, holds: impl Fn(&Snapshot) -> bool) -> Snapshot {
        for _ in 0..20_000 {
            if let Some(snapshot) = self.snapshot().filter(&holds) {
                return snapshot;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not happen: {:?}\n{}", self.snapshot(), self.lines());
    }
}

/// Locks a folder. An earlier worker of this process may still hold it during an HTTP exchange.
fn take(state: &Path) -> Folder {
    for _ in 0..1000 {
        if let Ok(folder) = Folder::lock(state) {
            return folder;
        }
        thread::sleep(Duration::from_millis(10));
    }
    Folder::lock(state).unwrap()
}

/// A worker with two threads.
pub(crate) struct Worker {
    thread: JoinHandle<anyhow::Result<End>>,
    pub(crate) control: Arc<Control>,
    pub(crate) said: RecordingScreen,
}

impl Worker {
    pub(crate) fn start(url: &str, state: &Path, clock: Arc<dyn Clock>) -> Self {
        Self::start_with(url, state, clock, |_| {})
    }

    pub(crate) fn start_with(
        url: &str,
        state: &Path,
        clock: Arc<dyn Clock>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::start_from(url, state, clock, None, change)
    }

    /// Starts a worker on another disk.
    pub(crate) fn start_on(url: &str, state: &Path, clock: Arc<dyn Clock>, disk: Arc<dyn Disk>) -> Self {
        Self::start_all(url, state, clock, None, disk, |_| {})
    }

    /// Starts a worker with an update source.
    pub(crate) fn start_from(
        url: &str,
        state: &Path,
        clock: Arc<dyn Clock>,
        updates: Option<Source>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::start_all(url, state, clock, updates, Arc::new(SystemDisk), change)
    }

    fn start_all(
        url: &str,
        state: &Path,
        clock: Arc<dyn Clock>,
        updates: Option<Source>,
        disk: Arc<dyn Disk>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let token: client::Token = "secret".parse().unwrap();
        let mut settings = Settings {
            server: Some(url.parse().unwrap()),
            token: Some(token.clone()),
            token_source: String::new(),
            name: "test".to_owned(),
            cores: 2,
            memory_mebibytes: 512,
            hours: "always".parse().unwrap(),
            on_battery: true,
            state: state.to_owned(),
            leases: None,
            config: state.join("worker.toml"),
        };
        change(&mut settings);
        let machine = Machine {
            name: "test".to_owned(),
            version: "0.1.0".to_owned(),
            bench_signature: SIGNATURE,
            threads: settings.cores as u32,
            memory_mebibytes: settings.memory_mebibytes,
            system: "test".to_owned(),
            instruction_set: "test".to_owned(),
        };
        let control = Arc::new(Control::default());
        let said = RecordingScreen::default();
        let folder = Arc::new(take(state));
        let (spool, kept) = Spool::open(state, disk).unwrap();
        for message in &kept {
            said.clone().line(message);
        }
        let mut client = ClientSettings::new(url.parse().unwrap(), Some(token), clock);
        // By a fast clock each response takes long.
        client.total_timeout = Duration::from_hours(1 << 20);
        let parts = Parts {
            client,
            folder,
            spool,
            program: state.join("chuhe-worker"),
            power_supplies: state.join("supplies"),
            updates,
            settings,
            machine,
            kernel: Kernel::best(),
            control: Arc::clone(&control),
        };
        let screen = Box::new(said.clone());
        let thread = thread::spawn(move || supervisor::run(parts, screen));
        Self { thread, control, said }
    }

    /// Waits for its end.
    pub(crate) fn end(self) -> End {
        self.thread.join().unwrap().unwrap()
    }

    /// Stops it and waits for its end.
    pub(crate) fn stop(self) -> String {
        self.control.add(ControlCommand::Stop);
        self.thread.join().unwrap().unwrap();
        self.said.lines()
    }

    /// Lets it finish and waits for its end.
    pub(crate) fn finish(self) -> String {
        self.control.add(ControlCommand::Finish);
        self.thread.join().unwrap().unwrap();
        self.said.lines()
    }
}
