//! Workers inside the test, whose clock it brings.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use client::{Clock, Settings as ClientSettings};
use nnue::Kernel;
use protocol::api::work::Machine;
use worker::{
    keeper::{self, End, Parts, Screen},
    selftest::SIGNATURE,
    settings::Settings,
    state::Folder,
    status::Snapshot,
    update::Source,
    wishes::{Wish, Wishes},
};

/// What a worker says.
#[derive(Clone, Default)]
pub(crate) struct Said(pub(crate) Arc<Mutex<(Vec<String>, Option<Snapshot>)>>);

impl Screen for Said {
    fn line(&mut self, text: &str) {
        self.0.lock().unwrap().0.push(text.to_owned());
    }

    fn show(&mut self, snapshot: &Snapshot) {
        self.0.lock().unwrap().1 = Some(snapshot.clone());
    }
}

impl Said {
    pub(crate) fn lines(&self) -> String {
        self.0.lock().unwrap().0.join("\n")
    }

    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        self.0.lock().unwrap().1.clone()
    }

    /// How many games it has played.
    pub(crate) fn games(&self) -> u64 {
        self.snapshot().map_or(0, |snapshot| snapshot.games)
    }

    /// Waits until it says something.
    pub(crate) fn wait_to_hear(&self, words: &str) {
        for _ in 0..20_000 {
            if self.lines().contains(words) {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("it never says {words:?}: {:?}\n{}", self.snapshot(), self.lines());
    }

    pub(crate) fn wait_for(&self, holds: impl Fn(&Snapshot) -> bool) -> Snapshot {
        for _ in 0..20_000 {
            if let Some(snapshot) = self.snapshot().filter(&holds) {
                return snapshot;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("it does not happen: {:?}\n{}", self.snapshot(), self.lines());
    }
}

/// Takes a folder. Who had it before in this process may hang in an exchange for a moment.
fn take(state: &Path) -> Folder {
    for _ in 0..1000 {
        if let Ok(folder) = Folder::take(state) {
            return folder;
        }
        thread::sleep(std::time::Duration::from_millis(10));
    }
    Folder::take(state).unwrap()
}

/// A worker with two threads.
pub(crate) struct Worker {
    thread: JoinHandle<anyhow::Result<End>>,
    pub(crate) wishes: Arc<Wishes>,
    pub(crate) said: Said,
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

    /// Starts one that looks for newer versions here.
    pub(crate) fn start_from(
        url: &str,
        state: &Path,
        clock: Arc<dyn Clock>,
        updates: Option<Source>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let token: client::Token = "secret".parse().unwrap();
        let mut settings = Settings {
            server: url.parse().unwrap(),
            token: token.clone(),
            name: "test".to_owned(),
            cores: 2,
            memory_mebibytes: 512,
            hours: "always".parse().unwrap(),
            on_battery: true,
            state: state.to_owned(),
            leases: None,
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
        let wishes = Arc::new(Wishes::default());
        let said = Said::default();
        let parts = Parts {
            client: ClientSettings::new(settings.server.clone(), Some(token), clock),
            folder: Arc::new(take(state)),
            program: state.join("chuhe-worker"),
            supplies: state.join("supplies"),
            updates,
            settings,
            machine,
            kernel: Kernel::best(),
            wishes: Arc::clone(&wishes),
        };
        let mut screen = said.clone();
        let thread = thread::spawn(move || keeper::run(parts, &mut screen));
        Self { thread, wishes, said }
    }

    /// Waits for its end.
    pub(crate) fn end(self) -> End {
        self.thread.join().unwrap().unwrap()
    }

    /// Stops it, and waits for that.
    pub(crate) fn stop(self) -> String {
        self.wishes.add(Wish::Stop);
        self.thread.join().unwrap().unwrap();
        self.said.lines()
    }

    /// Lets it finish, and waits for that.
    pub(crate) fn finish(self) -> String {
        self.wishes.add(Wish::Finish);
        self.thread.join().unwrap().unwrap();
        self.said.lines()
    }
}
