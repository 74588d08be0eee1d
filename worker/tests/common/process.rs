//! Workers as processes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use dataset::Digest;
use nnue::Kernel;
use worker::{
    selftest::{SIGNATURE, SelftestRecord},
    spool::State,
};

use super::{
    coordinator::{Coordinator, reject_uploads},
    state_folder::{count, leases},
    wait_until,
};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-worker");

/// A worker process, killed on drop.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a worker with two cores. A passed self-test is recorded beforehand: it takes as long
    /// as many games.
    pub(crate) fn start(url: &str, state: &Path, more: &[&str]) -> Self {
        Self::start_by(Command::new(PROGRAM), url, state, more)
    }

    /// Starts a worker with limited address space.
    #[cfg(target_os = "linux")]
    #[allow(dead_code, reason = "not every test that starts a worker")]
    pub(crate) fn start_within(mebibytes: u64, url: &str, state: &Path, more: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        // Each arena of glibc reserves 64 MiB of addresses. The released worker has musl, which has
        // none.
        shell.env("MALLOC_ARENA_MAX", "2");
        shell.args(["-c", &format!("ulimit -v {} && exec \"$0\" \"$@\"", mebibytes << 10), PROGRAM]);
        Self::start_by(shell, url, state, more)
    }

    /// Starts a worker through another program.
    pub(crate) fn start_by(command: Command, url: &str, state: &Path, more: &[&str]) -> Self {
        fs::create_dir_all(state).unwrap();
        let found = SelftestRecord {
            program: Digest::of(&fs::read(PROGRAM).unwrap()),
            instruction_set: Kernel::from_env().unwrap().name().to_owned(),
            bench_signature: SIGNATURE,
        };
        fs::write(state.join("selftest.json"), serde_json::to_vec(&found).unwrap()).unwrap();
        Self::start_untested(command, url, state, more)
    }

    /// Starts a worker without a recorded self-test.
    pub(crate) fn start_untested(mut command: Command, url: &str, state: &Path, more: &[&str]) -> Self {
        fs::create_dir_all(state).unwrap();
        let child = command
            .args(["run", "--server", url, "--memory", "512", "--name", "test"])
            .args([["--cores", "2"], ["--token", "secret"]].iter().filter(|usual| !more.contains(&usual[0])).flatten())
            .args(more)
            .env("CHUHE_CONFIG", state.join("no.toml"))
            .env("CHUHE_STATE", state)
            .stdin(Stdio::null())
            .stderr(fs::OpenOptions::new().create(true).append(true).open(state.join("log.txt")).unwrap())
            .spawn();
        Self(child.unwrap())
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// Waits for its end; returns its exit status.
    pub(crate) fn end(mut self) -> Option<i32> {
        for _ in 0..20_000 {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

/// Log of the worker with this folder.
pub(crate) fn log_of(state: &Path) -> String {
    fs::read_to_string(state.join("log.txt")).unwrap_or_default()
}

/// Leaves closed leases of all games in the spool; returns their files. A process plays them, so
/// that none of its threads is left.
#[cfg(unix)]
pub(crate) fn leave_results(coordinator: &Coordinator, url: &str, state: &Path) -> Vec<PathBuf> {
    coordinator.state().refuse = Some(reject_uploads);
    let results = {
        let state = coordinator.state();
        state.games / state.games_a_lease
    };
    let worker = Process::start(url, state, &[]);
    wait_until(|| count(state, State::Closed) >= results as usize);
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(state));
    coordinator.state().refuse = None;
    let mut files: Vec<_> = leases(state).into_iter().map(|(path, _)| path).collect();
    files.sort();
    assert_eq!(files.len(), count(state, State::Closed));
    files
}
