//! Flags and environment.

use std::{num::NonZeroUsize, path::PathBuf};

use anyhow::Result;
use client::{ParseTokenError, ServerAddress, Token};

use crate::hours::Hours;

/// What is given on the command line or by the environment. What is missing comes from the file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Given {
    /// The server that has games to play, such as `https://games.example.org`
    #[arg(long, value_name = "ADDRESS", env = "CHUHE_SERVER", hide_env_values = true)]
    pub server: Option<ServerAddress>,
    /// The token that the server's page shows; others can read what is on a command line: the environment, the file or
    /// `configure` keep it
    #[arg(long, value_name = "TOKEN", env = "CHUHE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// What you call this machine [default: its own name]
    #[arg(long, value_name = "NAME", env = "CHUHE_NAME", hide_env_values = true, value_parser = name)]
    pub name: Option<String>,
    /// How many cores may play [default: all but one]
    #[arg(long, value_name = "N", env = "CHUHE_CORES", hide_env_values = true)]
    pub cores: Option<NonZeroUsize>,
    /// How much memory they may use [default: half of it]
    #[arg(long, value_name = "MIB", env = "CHUHE_MEMORY", hide_env_values = true,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: Option<u64>,
    /// When they may play, by this machine's clock, such as `22:00-07:30` or `0-6,12-13` [default: always]
    #[arg(long, value_name = "HOURS", env = "CHUHE_HOURS", hide_env_values = true)]
    pub hours: Option<Hours>,
    /// Whether they may play while the machine runs on its battery [default: false]
    #[arg(long, value_name = "YES", env = "CHUHE_ON_BATTERY", hide_env_values = true, num_args = 0..=1,
          default_missing_value = "true")]
    pub on_battery: Option<bool>,
    /// The file with all this [default: worker.toml in the folder `chuhe` of your configuration]
    #[arg(long, value_name = "FILE", env = "CHUHE_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// The folder for games on their way, nets, and what else must outlive the worker
    #[arg(long, value_name = "DIR", env = "CHUHE_STATE", hide_env_values = true)]
    pub state: Option<PathBuf>,
    /// End after so many leases
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub leases: Option<u64>,
}

impl Given {
    /// The token. It is read here, and not with the other flags, so that no complaint shows it.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn token(&self) -> Result<Option<Token>, ParseTokenError> {
        self.token.as_deref().map(str::parse).transpose()
    }

    /// Where the file is.
    ///
    /// # Errors
    ///
    /// If nothing says it.
    pub fn config_path(&self) -> Result<PathBuf> {
        self.config.clone().map_or_else(super::default_config, Ok)
    }

    /// Where things are kept.
    ///
    /// # Errors
    ///
    /// If nothing says it.
    pub fn state_path(&self) -> Result<PathBuf> {
        self.state.clone().map_or_else(super::default_state, Ok)
    }
}

/// A name that can be seen, in one line.
pub(crate) fn name(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let sound = !text.is_empty() && text.chars().count() <= 60 && !text.chars().any(char::is_control);
    if sound { Ok(text.to_owned()) } else { Err("a name is one line of at most 60 letters") }
}
