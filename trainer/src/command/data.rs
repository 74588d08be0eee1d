//! The location of a recipe's data, for all commands that read them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use anyhow::{Result, bail};
use client::{Client, ServerAddress, SystemClock, Token};
use dataset::Digest;
use protocol::recipe::Recipe;

use crate::data::{Fetch, TrainingData};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Folder of the recipe's manifests and file to start from [default: the recipe's own]
    #[arg(long, value_name = "DIR")]
    pub(super) manifests: Option<PathBuf>,
    /// Folder of the shards [default: beside their manifest]
    #[arg(long, value_name = "DIR")]
    shards: Option<PathBuf>,
    /// Coordinator from which shards of a streamed recipe are fetched when they are drawn
    #[arg(long, value_name = "ADDRESS")]
    server: Option<ServerAddress>,
    /// A token for the coordinator, if it asks for one
    #[arg(long, value_name = "TOKEN", env = "CHUHE_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// A copy of the coordinator's files, which is tried first
    #[arg(long, value_name = "ADDRESS", requires = "server")]
    mirror: Option<String>,
    /// Disk space for fetched shards, which are in the folder `fetched` beside the others
    #[arg(long, value_name = "MIB", default_value_t = 4_096, requires = "server")]
    disk: u64,
}

impl Arguments {
    /// Opens the data of a recipe that was read from `path`.
    pub(super) fn open(&self, recipe: &Recipe, path: &Path, quarantined: &BTreeSet<Digest>) -> Result<TrainingData> {
        let beside = path.parent().unwrap_or(Path::new("."));
        let manifests = self.manifests.as_deref().unwrap_or(beside);
        let is_streamed = recipe.data.streamed || recipe.stages.iter().any(|stage| stage.data.streamed);
        if self.server.is_some() && !is_streamed {
            bail!("--server is for a streamed set, whose shards are fetched when they are drawn (`data.streamed`)");
        }
        let fetch = self.server.clone().map(|server| self.fetch_from(server)).transpose()?;
        Ok(TrainingData::open_or_fetch(recipe, manifests, self.shards.as_deref(), quarantined, fetch.as_ref())?)
    }

    /// Whether some option says where the data are.
    pub(super) const fn is_named(&self) -> bool {
        self.manifests.is_some() || self.shards.is_some() || self.server.is_some()
    }

    fn fetch_from(&self, server: ServerAddress) -> Result<Fetch> {
        let clock = Arc::new(SystemClock::default());
        let mut settings = client::Settings::new(server, self.token.clone(), clock);
        settings.program = "chuhe-trainer";
        Ok(Fetch {
            client: Client::new(settings)?,
            mirror: self.mirror.clone(),
            max_bytes: self.disk.saturating_mul(1 << 20),
        })
    }

    /// Passes all but `--manifests` on to another process of this program.
    pub(super) fn pass_on(&self, command: &mut Command) {
        if let Some(shards) = &self.shards {
            command.arg("--shards").arg(shards);
        }
        if let Some(server) = &self.server {
            command.arg("--server").arg(server.to_string()).arg("--disk").arg(self.disk.to_string());
        }
        if let Some(mirror) = &self.mirror {
            command.arg("--mirror").arg(mirror);
        }
        if let Some(token) = &self.token {
            command.env("CHUHE_TOKEN", token.reveal());
        }
    }
}
