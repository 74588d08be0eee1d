//! What a worker's owner allows: by flag, environment, file, or default, in this order.

mod file;
mod given;

use std::{
    env,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, anyhow};
use client::{ServerAddress, Token};

use crate::{hours::Hours, memory};

pub use file::File;
pub use given::Given;

/// What is allowed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who has games to play.
    pub server: ServerAddress,
    /// Whose worker it is.
    pub token: Token,
    /// What its owner calls this machine.
    pub name: String,
    /// How many threads play.
    pub cores: usize,
    /// How much memory they may use.
    pub memory_mebibytes: u64,
    /// When they may play.
    pub hours: Hours,
    /// Whether they may while the machine runs on its battery.
    pub on_battery: bool,
    /// Where things are kept.
    pub state: PathBuf,
    /// After so many leases the worker ends.
    pub leases: Option<u64>,
}

impl Settings {
    /// Puts together what is given and what the file says.
    ///
    /// # Errors
    ///
    /// If something is missing that has no default, or a value is not allowed.
    pub fn new(given: &Given) -> Result<Self> {
        let path = given.config_path()?;
        let file = File::read(&path).with_context(|| path.display().to_string())?;
        let missing = |what: &str, flag: &str, variable: &str| {
            anyhow!("no {what} is given: use `{flag}`, {variable}, {}, or `chuhe-worker configure`", path.display())
        };
        let server = given.server.clone().or(file.server);
        let token = given.token().context("--token")?.or(file.token);
        let cores = given.cores.or(file.cores).map_or_else(default_cores, NonZeroUsize::get);
        Ok(Self {
            server: server.ok_or_else(|| missing("server", "--server", "CHUHE_SERVER"))?,
            token: token.ok_or_else(|| missing("token", "--token", "CHUHE_TOKEN"))?,
            name: given.name.clone().or(file.name).unwrap_or_else(default_name),
            cores,
            memory_mebibytes: given.memory.or(file.memory_mebibytes).unwrap_or_else(|| default_memory(cores)),
            hours: given.hours.clone().or(file.hours).unwrap_or_default(),
            on_battery: given.on_battery.or(file.on_battery).unwrap_or(false),
            state: given.state_path()?,
            leases: given.leases,
        })
    }

    /// The same as a file would say it; the token is not shown.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { server, name, cores, memory_mebibytes, hours, on_battery, state, .. } = self;
        let quoted = |text: &str| toml::Value::from(text).to_string();
        format!(
            "server = {}\ntoken = \"…\"\nname = {}\ncores = {cores}\nmemory_mebibytes = {memory_mebibytes}\n\
             hours = {}\non_battery = {on_battery}\n# state: {}\n",
            quoted(&server.to_string()),
            quoted(name),
            quoted(&hours.to_string()),
            state.display()
        )
    }
}

/// All cores but one, which its owner has for other things.
pub(crate) fn default_cores() -> usize {
    all_cores().saturating_sub(1).max(1)
}

pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Half of the memory that there is where the system says how much that is; else enough for tables of usual size.
pub(crate) fn default_memory(cores: usize) -> u64 {
    memory::total_mebibytes().map_or(128 * cores as u64, |total| (total / 2).max(1))
}

/// The machine's own name.
pub(crate) fn default_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = env::var("COMPUTERNAME").unwrap_or_default();
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(60).collect();
    if name.is_empty() { "worker".to_owned() } else { name }
}

fn folder(variables: &[(&str, &str)], what: &str, flag: &str) -> Result<PathBuf> {
    let from = |(variable, below): &(&str, &str)| {
        let folder = env::var_os(variable).filter(|value| !value.is_empty())?;
        // With several folders the first is meant.
        let folder = folder.to_string_lossy().split(if cfg!(unix) { ':' } else { '\0' }).next()?.to_owned();
        Some(Path::new(&folder).join(below))
    };
    variables.iter().find_map(from).with_context(|| format!("no folder for {what} is known: use `{flag}`"))
}

/// Where the file is, unless somebody says otherwise.
fn default_config() -> Result<PathBuf> {
    let variables: &[_] = if cfg!(windows) {
        &[("APPDATA", "chuhe")]
    } else {
        &[("CONFIGURATION_DIRECTORY", ""), ("XDG_CONFIG_HOME", "chuhe"), ("HOME", ".config/chuhe")]
    };
    Ok(folder(variables, "the configuration", "--config")?.join("worker.toml"))
}

/// Where things are kept, unless somebody says otherwise.
fn default_state() -> Result<PathBuf> {
    let variables: &[_] = if cfg!(windows) {
        &[("LOCALAPPDATA", "chuhe/worker")]
    } else {
        &[("STATE_DIRECTORY", ""), ("XDG_STATE_HOME", "chuhe-worker"), ("HOME", ".local/state/chuhe-worker")]
    };
    folder(variables, "games", "--state")
}
