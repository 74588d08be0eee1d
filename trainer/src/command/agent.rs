//! `chuhe-trainer agent`: trains for a coordinator.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail};
use client::{Client, Clock, HostLookup, ServerAddress, SystemClock, Token};

use super::conditions;
use crate::agent::{self, Ending, Settings, StopSignal};

/// Run trainings for a coordinator and upload the nets
///
/// Killed at any time, the same command resumes its training from the last checkpoint. Ctrl-C stops
/// at a checkpoint; a second one kills. A training that cannot succeed is given up with a sentence
/// for maintainers.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The coordinator, such as `https://games.example.org`
    #[arg(long, value_name = "ADDRESS", env = "CHUHE_SERVER", hide_env_values = true)]
    server: Option<ServerAddress>,
    /// A trainer's token; prefer the environment, for others can read command lines
    #[arg(long, value_name = "TOKEN", env = "CHUHE_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// The name of this trainer: with the token it identifies the trainer [default: the host name]
    #[arg(long, value_name = "NAME", env = "CHUHE_NAME", hide_env_values = true, value_parser = name)]
    name: Option<String>,
    /// The folder for games, checkpoints and nets; each agent needs its own
    #[arg(long, value_name = "DIR", env = "CHUHE_WORK", hide_env_values = true, default_value = "chuhe-trainer")]
    work: PathBuf,
    #[command(flatten)]
    conditions: conditions::Arguments,
    /// Disk space for games that the current training does not need; half of it is for those that
    /// are fetched when they are drawn
    #[arg(long, value_name = "MIB", default_value_t = 16_384)]
    spare: u64,
    /// End after one training
    #[arg(long)]
    once: bool,
}

impl Arguments {
    /// Exit status: 0 done or stopped, 1 given up (with --once), 2 bad input or a failing machine.
    pub(super) fn run(&self) -> Result<ExitCode> {
        let conditions = self.conditions.prepare()?;
        let Some(server) = self.server.clone() else { bail!("no server is given: use `--server` or CHUHE_SERVER") };
        self.check_address(&server)?;
        let Some(token) = self.token.clone() else { bail!("no token is given: use `--token` or CHUHE_TOKEN") };
        let settings = Settings {
            server,
            token,
            name: self.name.clone().unwrap_or_else(default_name),
            backend: self.conditions.backend().to_owned(),
            conditions,
            work: self.work.clone(),
            spare_bytes: self.spare.saturating_mul(1 << 20),
            once: self.once,
        };
        let stop = StopSignal::default();
        let signal = stop.clone();
        let handler = move || {
            if signal.request() {
                std::process::exit(130);
            }
        };
        ctrlc::set_handler(handler).context("signals")?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        Ok(match agent::run(&settings, &stop, &clock)? {
            Ending::Done | Ending::Stopped => ExitCode::SUCCESS,
            Ending::GivenUp => ExitCode::FAILURE,
        })
    }
}

impl Arguments {
    /// Tries the address before the token is asked for, and at the first contact. Later a name
    /// server may be at fault, and the agent tries again.
    fn check_address(&self, server: &ServerAddress) -> Result<()> {
        if self.token.is_some() && self.work.exists() {
            return Ok(());
        }
        let settings = client::Settings::new(server.clone(), None, Arc::new(SystemClock::default()));
        let Err(error) = Client::new(settings)?.server() else { return Ok(()) };
        if self.token.is_none() || error.host_lookup() == HostLookup::NoSuchHost {
            bail!("{error} (`--server ADDRESS` names another)");
        }
        Ok(())
    }
}

fn name(text: &str) -> Result<String, &'static str> {
    if protocol::is_name(text) {
        Ok(text.to_owned())
    } else {
        Err("a name is 1 to 64 letters, digits, `.`, `_` or `-`, of which the first is a letter or digit")
    }
}

/// The host name, as far as it is a valid name.
fn default_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let name: String =
        name.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(64).collect();
    if protocol::is_name(&name) { name } else { "trainer".to_owned() }
}
