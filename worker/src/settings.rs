//! Settings of a worker: flag, environment, file, default, in this order.

mod file;
mod flags;
pub(crate) mod limits;

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Error, Result, bail};
use client::{ServerAddress, Token};

use crate::{hours::Hours, memory};

pub use file::File;
pub use flags::Flags;
use limits::Limits;
pub(crate) use limits::all_cores;

/// Resolved settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the coordinator.
    pub server: Option<ServerAddress>,
    /// Token of the owner's account.
    pub token: Option<Token>,
    /// Where the token was given.
    pub token_source: String,
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
    /// Configuration file.
    pub config: PathBuf,
}

/// Server or token are not given.
#[derive(Debug, thiserror::Error)]
#[error("no {name} is given: use `--{name}`, CHUHE_{}, {}, or `chuhe-worker configure`",
    .name.to_uppercase(), .config.display())]
pub struct MissingSetting {
    name: &'static str,
    config: PathBuf,
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

    /// Returns the values of flags and environment, and for the others those of a file.
    ///
    /// # Errors
    ///
    /// If the token is malformed.
    pub(crate) fn over(&self, file: File) -> Result<File> {
        let Self { server, name, cores, memory, hours, on_battery, .. } = self.clone();
        Ok(File {
            server: server.or(file.server),
            token: self.token().context("--token")?.or(file.token),
            name: name.or(file.name),
            cores: cores.or(file.cores),
            memory_mebibytes: memory.or(file.memory_mebibytes),
            hours: hours.or(file.hours),
            on_battery: on_battery.or(file.on_battery),
        })
    }

    fn token_source(&self) -> String {
        let is_variable = self.token.is_some() && env::var("CHUHE_TOKEN").ok() == self.token;
        let flag = "given by --token; other users of this machine can read it there";
        if is_variable { "given by CHUHE_TOKEN" } else { flag }.to_owned()
    }
}

impl Settings {
    /// Merges flags, environment, file and defaults. Server and token may be missing.
    ///
    /// # Errors
    ///
    /// If a value is invalid.
    pub fn new(flags: &Flags) -> Result<Self> {
        let (config, file) = flags.file()?;
        let is_in_file = flags.token.is_none() && file.token.is_some();
        let File { server, token, name, cores, memory_mebibytes, hours, on_battery } = flags.over(file)?;
        // Flags and environment were checked when they were parsed.
        let check = |key: &'static str, value: Option<u64>, limits: Limits| {
            let place = || format!("{}: {key}", config.display());
            value.map(|value| limits.check(value)).transpose().map_err(Error::msg).with_context(place)
        };
        let cores = check("cores", cores, limits::cores())?.map_or_else(default_cores, |cores| cores as usize);
        let memory = check("memory_mebibytes", memory_mebibytes, limits::memory())?;
        Ok(Self {
            server,
            token,
            token_source: if is_in_file { format!("in {}", config.display()) } else { flags.token_source() },
            name: name.unwrap_or_else(default_name),
            cores,
            memory_mebibytes: memory.unwrap_or_else(|| default_memory(cores)),
            hours: hours.unwrap_or_default(),
            on_battery: on_battery.unwrap_or(false),
            state: flags.state_path()?,
            leases: flags.leases,
            config,
        })
    }

    /// Returns server and token.
    ///
    /// # Errors
    ///
    /// If one is missing.
    pub fn access(&self) -> Result<(&ServerAddress, &Token), MissingSetting> {
        let missing = |name| MissingSetting { name, config: self.config.clone() };
        Ok((
            self.server.as_ref().ok_or_else(|| missing("server"))?,
            self.token.as_ref().ok_or_else(|| missing("token"))?,
        ))
    }

    /// Formats the settings like the file. The token is hidden.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { name, cores, memory_mebibytes, hours, on_battery, state, token_source, .. } = self;
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let missing = |key: &str| format!("# {key}: not given");
        let server = self.server.as_ref().map(|server| format!("server = {}", quoted(&server.to_string())));
        let token = self.token.as_ref().map(|_| format!("token = \"…\"\n# token: {token_source}"));
        format!(
            "{}\n{}\nname = {}\ncores = {cores}\nmemory_mebibytes = {memory_mebibytes}\n\
             hours = {}\non_battery = {on_battery}\n# state: {}\n",
            server.unwrap_or_else(|| missing("server")),
            token.unwrap_or_else(|| missing("token")),
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
