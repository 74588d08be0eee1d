//! Settings of a worker: flag, environment, file, default, in this order.

mod file;
mod flags;
pub(crate) mod limits;

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Error, Result, anyhow, bail};
use client::{ServerAddress, Token};

use crate::{hours::Hours, memory};

pub use file::File;
pub use flags::Flags;
pub(crate) use limits::all_cores;

/// Resolved settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the coordinator.
    pub server: ServerAddress,
    /// Token of the owner's account.
    pub token: Token,
    /// Name of this machine.
    pub name: String,
    /// Number of game threads.
    pub cores: usize,
    /// Memory limit.
    pub memory_mebibytes: u64,
    /// Hours in which the worker may play.
    pub hours: Hours,
    /// Whether it may play on battery.
    pub on_battery: bool,
    /// State folder.
    pub state: PathBuf,
    /// The worker ends after this number of leases.
    pub leases: Option<u64>,
}

impl Flags {
    /// Reads the configuration file. It may be missing where it is expected by default or by the
    /// environment, but not where `--config` names it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or its content is invalid.
    pub fn file(&self) -> Result<(PathBuf, File)> {
        let path = self.config_path()?;
        let is_expected = env::var_os("CHUHE_CONFIG").is_none_or(|variable| variable != *path);
        if self.config.is_some() && is_expected && !path.exists() {
            let path = path.display();
            bail!("--config: {path}: there is no such file; `chuhe-worker configure --config {path}` writes it");
        }
        let file = File::read(&path).with_context(|| path.display().to_string())?;
        Ok((path, file))
    }
}

impl Settings {
    /// Merges flags, environment, file and defaults.
    ///
    /// # Errors
    ///
    /// If a required setting is missing, or a value is invalid.
    pub fn new(flags: &Flags) -> Result<Self> {
        let (path, file) = flags.file()?;
        let missing = |what: &str, flag: &str, variable: &str| {
            anyhow!("no {what} is given: use `{flag}`, {variable}, {}, or `chuhe-worker configure`", path.display())
        };
        let server = flags.server.clone().or(file.server);
        let token = flags.token().context("--token")?.or(file.token);
        // Flags and environment were checked when they were parsed.
        let (cores, memory) = (limits::cores(), limits::memory());
        let of_file = |key: &'static str| {
            let place = format!("{}: {key}", path.display());
            move |error: String| Error::msg(error).context(place)
        };
        let in_file = file.cores.map(|value| cores.check(value)).transpose().map_err(of_file("cores"));
        let cores = match flags.cores {
            Some(cores) => cores as usize,
            None => in_file?.map_or_else(default_cores, |cores| cores as usize),
        };
        let in_file = file.memory_mebibytes.map(|value| memory.check(value)).transpose();
        let memory_mebibytes = match flags.memory {
            Some(memory) => memory,
            None => in_file.map_err(of_file("memory_mebibytes"))?.unwrap_or_else(|| default_memory(cores)),
        };
        Ok(Self {
            server: server.ok_or_else(|| missing("server", "--server", "CHUHE_SERVER"))?,
            token: token.ok_or_else(|| missing("token", "--token", "CHUHE_TOKEN"))?,
            name: flags.name.clone().or(file.name).unwrap_or_else(default_name),
            cores,
            memory_mebibytes,
            hours: flags.hours.clone().or(file.hours).unwrap_or_default(),
            on_battery: flags.on_battery.or(file.on_battery).unwrap_or(false),
            state: flags.state_path()?,
            leases: flags.leases,
        })
    }

    /// Formats the settings like the file; the token is hidden.
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

/// Returns all cores but one, which the owner keeps.
pub(crate) fn default_cores() -> usize {
    all_cores().saturating_sub(1).max(1)
}

/// Returns half of the known memory limit, else enough for tables of usual size.
pub(crate) fn default_memory(cores: usize) -> u64 {
    let usual = memory::total_mebibytes().map_or(128 * cores as u64, |total| total / 2);
    usual.max(*limits::memory().range.start())
}

/// Returns the machine's host name.
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
        // Of a list of folders, the first.
        let folder = folder.to_string_lossy().split(if cfg!(unix) { ':' } else { '\0' }).next()?.to_owned();
        Some(Path::new(&folder).join(below))
    };
    variables.iter().find_map(from).with_context(|| format!("no folder for {what} is known: use `{flag}`"))
}

/// Returns the default configuration file.
fn default_config() -> Result<PathBuf> {
    let variables: &[_] = if cfg!(windows) {
        &[("APPDATA", "chuhe")]
    } else {
        &[("CONFIGURATION_DIRECTORY", ""), ("XDG_CONFIG_HOME", "chuhe"), ("HOME", ".config/chuhe")]
    };
    Ok(folder(variables, "the configuration", "--config")?.join("worker.toml"))
}

/// Returns the default state folder.
fn default_state() -> Result<PathBuf> {
    let variables: &[_] = if cfg!(windows) {
        &[("LOCALAPPDATA", "chuhe/worker")]
    } else {
        &[("STATE_DIRECTORY", ""), ("XDG_STATE_HOME", "chuhe-worker"), ("HOME", ".local/state/chuhe-worker")]
    };
    folder(variables, "games", "--state")
}
