//! The folder of a test.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dataset::Digest;
use nnue::Kernel;
use tempfile::TempDir;
use worker::selftest::{SIGNATURE, SelftestRecord};

use crate::{
    coordinator::Coordinator,
    process::{Process, program},
};

/// A temporary folder for all processes of a test.
pub struct Stage(TempDir);

impl Default for Stage {
    fn default() -> Self {
        Self(TempDir::new().expect("temporary files can be had"))
    }
}

impl Stage {
    /// Path of a file or folder on the stage.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// Starts a worker with two cores. A passed self-test is recorded beforehand: it takes as long
    /// as many games.
    #[must_use]
    pub fn worker(&self, coordinator: &Coordinator<'_>, token: &str, name: &str) -> Process {
        self.worker_at(coordinator.address(), token, name)
    }

    /// Starts a worker for a coordinator at this address, such as a proxy's.
    #[must_use]
    pub fn worker_at(&self, address: &str, token: &str, name: &str) -> Process {
        let (state, program) = (self.path(name), program("chuhe-worker"));
        self.record_selftest(&state);
        let mut command = Command::new(program);
        command
            .args(["run", "--server", address, "--cores", "2", "--memory", "512", "--name", name])
            .env("CHUHE_TOKEN", token)
            .env("CHUHE_CONFIG", state.join("no.toml"))
            .env("CHUHE_STATE", &state)
            .env("CHUHE_ON_BATTERY", "true");
        Process::start(name, &mut command, self.log(name))
    }

    /// Records a passed self-test in a worker's state folder.
    pub fn record_selftest(&self, state: &Path) {
        let program = fs::read(program("chuhe-worker")).expect("the program can be read");
        let found = SelftestRecord {
            program: Digest::of(&program),
            instruction_set: Kernel::from_env().expect("the processor has it").name().to_owned(),
            bench_signature: SIGNATURE,
        };
        let found = serde_json::to_vec(&found).expect("it is a table of words");
        fs::create_dir_all(state).expect("the stage can be written");
        fs::write(state.join("selftest.json"), found).expect("the stage can be written");
    }

    /// Starts a trainer's agent with two CPU threads.
    #[must_use]
    pub fn agent(&self, address: &str, token: &str, name: &str, more: &[&str]) -> Process {
        let mut command = Command::new(program("chuhe-trainer"));
        command
            .args(["agent", "--server", address, "--name", name, "--threads", "2", "--work"])
            .arg(self.path(name))
            .args(more)
            .env("CHUHE_TOKEN", token);
        Process::start(name, &mut command, self.log(name))
    }

    /// Log file of a process.
    #[must_use]
    pub fn log(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.log"))
    }
}
