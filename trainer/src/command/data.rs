//! The location of a recipe's data, for all commands that read them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Result;
use dataset::Digest;
use protocol::recipe::Recipe;

use crate::data::TrainingData;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Folder of the recipe's manifests and starting checkpoint [default: the recipe's own]
    #[arg(long, value_name = "DIR")]
    pub(super) manifests: Option<PathBuf>,
    /// Folder of the shards [default: beside their manifest]
    #[arg(long, value_name = "DIR")]
    pub(super) shards: Option<PathBuf>,
}

impl Arguments {
    /// Opens the data of a recipe that was read from `path`.
    pub(super) fn open(&self, recipe: &Recipe, path: &Path, quarantined: &BTreeSet<Digest>) -> Result<TrainingData> {
        let beside = path.parent().unwrap_or(Path::new("."));
        let manifests = self.manifests.as_deref().unwrap_or(beside);
        Ok(TrainingData::open(recipe, manifests, self.shards.as_deref(), quarantined)?)
    }
}
