//! `chuhe data fetch`: downloads a training set from a coordinator.

use std::{
    io::{Write, stderr},
    path::PathBuf,
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use client::{Backoff, Client, Clock, Error, FetchOutcome, JitterRng, ServerAddress, Settings, SystemClock, Token};
use dataset::Digest;
use protocol::api::path;

use crate::{Finding, interrupt, whole::whole};

/// Download a training set: its manifest and all its shards
///
/// Every file is checked against its hash. After an interruption the same command resumes: partial
/// downloads continue, and complete files are kept. The folder gets the manifest as SHA256.json and
/// each shard as SHA256.chuhe, as `chuhe data` and `chuhe-trainer` read them.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The training set: its SHA-256, or its whole address
    #[arg(value_name = "MANIFEST")]
    manifest: ManifestRef,
    /// The server, unless the address names it
    #[arg(long, value_name = "ADDRESS", env = "CHUHE_SERVER", hide_env_values = true)]
    server: Option<ServerAddress>,
    /// A token, for games that are not public yet
    #[arg(long, value_name = "TOKEN", env = "CHUHE_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// A mirror of the files, which is tried first
    #[arg(long, value_name = "ADDRESS")]
    mirror: Option<String>,
    /// Folder for all files; created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Attempts for each file
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u32>(1..))]
    tries: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A training set, and its server if the address names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ManifestRef {
    server: Option<ServerAddress>,
    sha256: Digest,
}

impl FromStr for ManifestRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(sha256) = text.parse() {
            return Ok(Self { server: None, sha256 });
        }
        let bad = || {
            let (example, hash) = (path::manifest("SHA256"), "64 hexadecimal digits in lower case");
            format!("`{text}` is neither a SHA-256 ({hash}) nor an address such as https://games.example.org{example}")
        };
        let (server, hash) = text.split_once(&path::manifest("")).ok_or_else(bad)?;
        let sha256 = hash.parse().map_err(|_| bad())?;
        Ok(Self { server: Some(server.parse().map_err(|_| bad())?), sha256 })
    }
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        let Some(server) = self.manifest.server.as_ref().or(self.server.as_ref()) else {
            bail!("no server is given: use `--server`, CHUHE_SERVER, or the manifest's whole address")
        };
        // A token is sent only to the server that it was given with.
        let token = match &self.manifest.server {
            Some(named) if self.server.as_ref().is_some_and(|server| server != named) => None,
            _ => self.token.clone(),
        };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let client = Client::new(Settings::new(server.clone(), token, Arc::clone(&clock)))?;
        std::fs::create_dir_all(&self.out).with_context(|| format!("--out {}", self.out.display()))?;
        let kept = format!("what was fetched stays in {}; the same command continues", self.out.display());
        interrupt::exit_with(kept);
        let (sha256, mirror) = (self.manifest.sha256, self.mirror.as_deref());
        let file = self.out.join(format!("{sha256}.json"));
        let manifest = self.retry(&*clock, || client.fetch_manifest(sha256, &file, mirror))?;
        let (count, mut fetched) = (manifest.shards.len(), 0_usize);
        let mut reported_at = clock.now();
        for (number, entry) in manifest.shards.iter().enumerate() {
            let came = self.retry(&*clock, || client.fetch_shard(entry, &self.out, mirror))?;
            fetched += usize::from(came == FetchOutcome::Downloaded);
            if clock.now().saturating_sub(reported_at) > Duration::from_secs(5) {
                reported_at = clock.now();
                let _ = writeln!(stderr(), "{} of {count} shards are here", number + 1);
            }
        }
        let bytes: u64 = manifest.shards.iter().map(|entry| entry.bytes).sum();
        if self.json {
            let answer = serde_json::json!({
                "manifest": sha256, "file": file, "shards": count, "fetched": fetched, "games": manifest.games,
                "positions": manifest.positions, "bytes": bytes,
            });
            writeln!(out, "{answer}")?;
        } else {
            writeln!(out, "shards {count}")?;
            writeln!(out, "fetched {fetched}")?;
            writeln!(out, "games {}", manifest.games)?;
            writeln!(out, "positions {}", manifest.positions)?;
            writeln!(out, "bytes {bytes}")?;
            writeln!(out, "file {}", file.display())?;
        }
        Ok(Finding::Holds)
    }

    /// Retries transient errors, with exponential backoff and jitter.
    fn retry<T>(&self, clock: &dyn Clock, request: impl Fn() -> Result<T, Error>) -> Result<T> {
        let (min, max) = (Duration::from_secs(1), Duration::from_secs(30));
        let mut backoff = Backoff::new(min, max, JitterRng::new(clock.since_1970().as_nanos() as u64));
        for _ in 1..self.tries {
            match request() {
                Err(error) if error.is_transient() => {
                    let wait = backoff.after_failure(error.retry_after());
                    let _ = writeln!(stderr(), "retrying in {} s: {error}", wait.as_secs().max(1));
                    std::thread::sleep(clock.real(wait));
                }
                done => return Ok(done?),
            }
        }
        Ok(request()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_set_is_a_hash_or_an_address() {
        let hash = Digest::of(b"").to_string();
        assert_eq!(hash.parse(), Ok(ManifestRef { server: None, sha256: Digest::of(b"") }));
        let address = format!("http://localhost:7272/api/v1/manifests/{hash}");
        let server = "http://localhost:7272".parse().ok();
        assert_eq!(address.parse(), Ok(ManifestRef { server, sha256: Digest::of(b"") }));
        let bare = format!("/api/v1/manifests/{hash}");
        for bad in ["", "games.json", "http://localhost/api/v1/manifests/x", &bare] {
            assert!(bad.parse::<ManifestRef>().is_err(), "{bad}");
        }
    }
}
