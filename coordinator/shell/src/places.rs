//! The addresses of the database and the objects.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use coordinator_core::{
    clock::Clock,
    folder,
    objects::Objects,
    store::{Database, hidden},
};

/// The addresses of the database and the objects.
#[derive(clap::Args, Clone)]
pub struct Places {
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
    /// Opens a database that exists: a wrong folder must not look like an empty one.
    ///
    /// # Errors
    ///
    /// If there is none, or it or the objects cannot be opened.
    pub async fn open_existing(&self, clock: &Clock) -> Result<(Database, Objects)> {
        let address = self.database();
        let file = address.strip_prefix("sqlite:").map(|file| file.strip_prefix("//").unwrap_or(file));
        if let Some(file) = file
            && !Path::new(file).exists()
        {
            bail!(
                "there is no database at {file}: `--data DIR` names another folder, and `chuhe-coordinator migrate` \
                 creates a database"
            );
        }
        self.open(clock).await
    }

    fn database(&self) -> String {
        let default = || format!("sqlite:{}", self.data.join("chuhe.db").display());
        self.database.clone().unwrap_or_else(default)
    }

    /// The database's address, without a password.
    #[must_use]
    pub fn database_shown(&self) -> String {
        hidden(&self.database())
    }

    /// Opens the database, or creates it.
    ///
    /// # Errors
    ///
    /// If database or objects cannot be opened.
    pub async fn open(&self, clock: &Clock) -> Result<(Database, Objects)> {
        if self.database.is_none() || self.objects.is_none() {
            folder::create_private(&self.data).with_context(|| {
                format!("the data folder {} cannot be used (`--data DIR` names another)", self.data.display())
            })?;
        }
        let store = Database::open(&self.database(), clock.to_compare()).await?;
        let default = self.data.join("objects");
        let objects = self.objects.clone().unwrap_or_else(|| default.display().to_string());
        let objects = Objects::open(&objects)?;
        if self.objects.is_none() {
            folder::close_to_others(&default).with_context(|| default.display().to_string())?;
        }
        Ok((store, objects))
    }
}
