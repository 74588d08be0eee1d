//! The addresses of the database and the objects.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use coordinator_core::{clock::Clock, folder, objects::Objects, store::Database};

/// The addresses of the database and the objects.
#[derive(clap::Args, Clone)]
pub(super) struct Places {
    /// The folder of database and objects, unless these are given
    #[arg(long, global = true, env = "CHUHE_DATA", default_value = "chuhe-data", value_name = "DIR")]
    data: PathBuf,
    /// The database: `sqlite:FILE` or `postgres://USER@HOST/NAME` [default: sqlite:DIR/chuhe.db]
    #[arg(long, global = true, env = "CHUHE_DATABASE", value_name = "ADDRESS", hide_env_values = true)]
    database: Option<String>,
    /// The games and nets: a folder, or `s3://BUCKET/PREFIX` with AWS_* in the environment
    /// [default: DIR/objects]
    #[arg(long, global = true, env = "CHUHE_OBJECTS", value_name = "ADDRESS")]
    objects: Option<String>,
}

impl Places {
    pub(super) async fn open(&self, clock: &Clock) -> Result<(Database, Objects)> {
        if self.database.is_none() || self.objects.is_none() {
            folder::create_private(&self.data).with_context(|| format!("{}", self.data.display()))?;
        }
        let default = format!("sqlite:{}", self.data.join("chuhe.db").display());
        let store = Database::open(self.database.as_deref().unwrap_or(&default), clock.to_compare()).await?;
        let default = self.data.join("objects").display().to_string();
        Ok((store, Objects::open(self.objects.as_deref().unwrap_or(&default))?))
    }
}
