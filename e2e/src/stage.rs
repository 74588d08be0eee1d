//! Where everything happens.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dataset::Digest;
use nnue::Kernel;
use tempfile::TempDir;
use worker::selftest::{Found, SIGNATURE};

use crate::{
    coordinator::Coordinator,
    process::{Process, program},
};

/// A folder for all processes of a test, gone afterwards.
pub struct Stage(TempDir);

impl Default for Stage {
    fn default() -> Self {
        Self(TempDir::new().expect("temporary files can be had"))
    }
}

impl Stage {
    /// One of its folders or files.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// Starts a worker with two cores. That this program has passed its test on this machine is written down beforehand:
    /// the test takes as long as many games.
    #[must_use]
    pub fn worker(&self, coordinator: &Coordinator<'_>, token: &str, name: &str) -> Process {
        self.worker_at(coordinator.address(), token, name)
    }

    /// The same for a coordinator at this address, whatever lies between.
    #[must_use]
    pub fn worker_at(&self, address: &str, token: &str, name: &str) -> Process {
        let (state, program) = (self.path(name), program("chuhe-worker"));
        fs::create_dir_all(&state).expect("the stage can be written");
        let found = Found {
            program: Digest::of(&fs::read(&program).expect("the program can be read")),
            instruction_set: Kernel::from_env().expect("the processor has it").name().to_owned(),
            bench_signature: SIGNATURE,
        };
        let found = serde_json::to_vec(&found).expect("it is a table of words");
        fs::write(state.join("selftest.json"), found).expect("the stage can be written");
        let mut command = Command::new(program);
        command
            .args(["run", "--server", address, "--cores", "2", "--memory", "512", "--name", name])
            .env("CHUHE_TOKEN", token)
            .env("CHUHE_CONFIG", state.join("no.toml"))
            .env("CHUHE_STATE", &state)
            .env("CHUHE_ON_BATTERY", "true");
        Process::start(name, &mut command, self.log(name))
    }

    /// Starts a trainer's agent that learns with two threads of the processor.
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

    /// Where a process of this name says what it says.
    #[must_use]
    pub fn log(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.log"))
    }
}
