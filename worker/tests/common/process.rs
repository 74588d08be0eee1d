//! Workers as processes.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use dataset::Digest;
use nnue::Kernel;
use worker::selftest::{Found, SIGNATURE};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_chuhe-worker");

/// A worker that was started, and is killed when it is forgotten.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// A worker with two cores. That this program has passed its test on this machine is written down beforehand: the test
    /// takes as long as many games.
    pub(crate) fn start(url: &str, state: &Path, more: &[&str]) -> Self {
        fs::create_dir_all(state).unwrap();
        let found = Found {
            program: Digest::of(&fs::read(PROGRAM).unwrap()),
            instruction_set: Kernel::from_env().unwrap().name().to_owned(),
            bench_signature: SIGNATURE,
        };
        fs::write(state.join("selftest.json"), serde_json::to_vec(&found).unwrap()).unwrap();
        let child = Command::new(PROGRAM)
            .args(["run", "--server", url, "--cores", "2", "--memory", "512", "--name", "test"])
            .args(if more.contains(&"--token") { &[][..] } else { &["--token", "secret"] })
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

    /// Waits for its end; its exit status.
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

/// What a worker with this folder has said.
pub(crate) fn log_of(state: &Path) -> String {
    fs::read_to_string(state.join("log.txt")).unwrap_or_default()
}
