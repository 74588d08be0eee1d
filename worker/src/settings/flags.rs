//! Command-line flags and environment variables.

use std::path::PathBuf;

use anyhow::Result;
use client::{ParseTokenError, ServerAddress, Token};

use super::limits;
use crate::hours::Hours;

/// Raw flags, before the file and the defaults are merged in.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// The coordinator's address, such as `https://games.example.org`
    #[arg(long, value_name = "ADDRESS", env = "CHUHE_SERVER", hide_env_values = true)]
    pub server: Option<ServerAddress>,
    /// The token from the server's page. Other users can read command lines: prefer the
    /// environment, the file or `configure`
    #[arg(long, value_name = "TOKEN", env = "CHUHE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// The name of this machine [default: its host name]
    #[arg(long, value_name = "NAME", env = "CHUHE_NAME", hide_env_values = true, value_parser = parse_name)]
    pub name: Option<String>,
    /// The number of cores that may play [default: all but one]
    #[arg(long, value_name = "N", env = "CHUHE_CORES", hide_env_values = true,
          value_parser = |text: &str| limits::cores().parse(text))]
    pub cores: Option<u64>,
    /// The memory limit [default: half of the memory]
    #[arg(long, value_name = "MIB", env = "CHUHE_MEMORY", hide_env_values = true,
          value_parser = |text: &str| limits::memory().parse(text))]
    pub memory: Option<u64>,
    /// The hours in which it may play, by this machine's clock, such as `22:00-07:30` or
    /// `0-6,12-13` [default: always]
    #[arg(long, value_name = "HOURS", env = "CHUHE_HOURS", hide_env_values = true)]
    pub hours: Option<Hours>,
    /// Whether it may play on battery power [default: false]
    #[arg(long, value_name = "YES", env = "CHUHE_ON_BATTERY", hide_env_values = true, num_args = 0..=1,
          default_missing_value = "true")]
    pub on_battery: Option<bool>,
    /// The configuration file [default: worker.toml in the folder `chuhe` of your configuration]
    #[arg(long, value_name = "FILE", env = "CHUHE_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// The state folder: unsent games, leases, nets
    #[arg(long, value_name = "DIR", env = "CHUHE_STATE", hide_env_values = true)]
    pub state: Option<PathBuf>,
    /// Exit after this number of leases
    #[arg(long, value_name = "N", value_parser = |text: &str| limits::leases().parse(text))]
    pub leases: Option<u64>,
}

impl Flags {
    /// Parses the token here and not in clap, so that no error message shows it.
    ///
    /// # Errors
    ///
    /// If it is malformed.
    pub fn token(&self) -> Result<Option<Token>, ParseTokenError> {
        self.token.as_deref().map(str::parse).transpose()
    }

    /// Returns the configuration file.
    ///
    /// # Errors
    ///
    /// If neither flag nor environment names one.
    pub fn config_path(&self) -> Result<PathBuf> {
        self.config.clone().map_or_else(super::default_config, Ok)
    }

    /// Returns the state folder.
    ///
    /// # Errors
    ///
    /// If neither flag nor environment names one.
    pub fn state_path(&self) -> Result<PathBuf> {
        self.state.clone().map_or_else(super::default_state, Ok)
    }
}

/// Parses a machine's name: one visible line.
pub(crate) fn parse_name(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let is_valid = !text.is_empty() && text.chars().count() <= 60 && !text.chars().any(char::is_control);
    if is_valid { Ok(text.to_owned()) } else { Err("a name is one line of at most 60 letters") }
}
