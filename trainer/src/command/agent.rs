//! `chuhe-trainer agent`: trainings of a coordinator's.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail};
use client::{Clock, ServerAddress, SystemClock, Token};

use super::{cores, threads, train};
use crate::{
    agent::{self, Ending, Settings, Wish},
    run::{Conditions, Learner},
};

/// Take trainings on from a coordinator, do them, and hand the nets in
///
/// Killed at any time, the same command goes on with the training that it had, from its last checkpoint. Ctrl-C stops at a
/// checkpoint; a second one kills. What cannot be learned from is given up with a sentence that maintainers read.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The server that has trainings, such as `https://games.example.org`
    #[arg(long, value_name = "ADDRESS", env = "CHUHE_SERVER", hide_env_values = true)]
    server: Option<ServerAddress>,
    /// A trainer's token; others can read what is on a command line, the environment keeps it
    #[arg(long, value_name = "TOKEN", env = "CHUHE_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// What you call this trainer: by name and token it is known again [default: the machine's own name]
    #[arg(long, value_name = "NAME", env = "CHUHE_NAME", hide_env_values = true, value_parser = name)]
    name: Option<String>,
    /// The folder for games, checkpoints and nets; each agent has its own
    #[arg(long, value_name = "DIR", env = "CHUHE_WORK", hide_env_values = true, default_value = "chuhe-trainer")]
    work: PathBuf,
    /// What learns: cpu (the same bits everywhere), or torch or cuda or cuda:N where this program has libtorch in it
    #[arg(long, value_name = "BACKEND", default_value = "cpu", value_parser = backend)]
    backend: Backend,
    /// How many threads learn [default: as many as there are cores]
    #[arg(long, value_name = "T", value_parser = threads)]
    threads: Option<usize>,
    /// How many threads read
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads)]
    readers: usize,
    /// How much memory may hold positions that were read, so that they need not be read again in each round
    #[arg(long, value_name = "MIB", default_value_t = 2_048)]
    cache: u32,
    /// After how many steps a checkpoint is written, at the latest; one is at the end of each epoch
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_steps: u64,
    /// How much room may be taken by games that the training at hand does not need
    #[arg(long, value_name = "MIB", default_value_t = 16_384)]
    spare: u64,
    /// End after one training
    #[arg(long)]
    once: bool,
}

/// What learns, and what people call it.
#[derive(Clone, Debug)]
struct Backend(String, Learner);

impl Arguments {
    /// The process's exit status: 0 done or stopped, 1 given up (with --once), 2 bad input or a machine that fails.
    pub(super) fn run(&self) -> Result<ExitCode> {
        self.backend.1.prepare_process().context("libtorch's settings: the program cannot begin again with them")?;
        let Some(server) = self.server.clone() else { bail!("no server is given: use `--server` or CHUHE_SERVER") };
        let Some(token) = self.token.clone() else { bail!("no token is given: use `--token` or CHUHE_TOKEN") };
        let Backend(backend, learner) = self.backend.clone();
        let settings = Settings {
            server,
            token,
            name: self.name.clone().unwrap_or_else(default_name),
            backend,
            conditions: Conditions {
                learner,
                threads: self.threads.unwrap_or_else(cores),
                readers: self.readers,
                cache_bytes: (self.cache as usize) << 20,
                checkpoint_steps: self.checkpoint_steps,
            },
            work: self.work.clone(),
            spare_bytes: self.spare << 20,
            once: self.once,
        };
        let wish = Wish::default();
        let stop = wish.clone();
        let handler = move || {
            if stop.stop() {
                std::process::exit(130);
            }
        };
        ctrlc::set_handler(handler).context("signals")?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        Ok(match agent::run(&settings, &wish, &clock)? {
            Ending::Done | Ending::Stopped => ExitCode::SUCCESS,
            Ending::GivenUp => ExitCode::FAILURE,
        })
    }
}

fn backend(text: &str) -> Result<Backend, String> {
    Ok(Backend(text.to_owned(), train::learner(text)?))
}

fn name(text: &str) -> Result<String, &'static str> {
    if protocol::is_name(text) {
        Ok(text.to_owned())
    } else {
        Err("a name is 1 to 64 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit")
    }
}

/// The machine's own name, as far as it is one.
fn default_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let name: String =
        name.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(64).collect();
    if protocol::is_name(&name) { name } else { "trainer".to_owned() }
}
