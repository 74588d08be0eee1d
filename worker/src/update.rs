//! Self-update by signed releases.
//!
//! Updates are enabled at build time by two environment variables: `CHUHE_UPDATE_KEY`, a public
//! minisign key, and `CHUHE_UPDATE_URL`, the folder of releases. Without both, no request is ever
//! made. A release is a small signed file that names version, system and hash of a program:
//!
//! ```text
//! URL/chuhe-worker-SYSTEM.release           {"version": …, "system": …, "sha256": …, "bytes": …}
//! URL/chuhe-worker-SYSTEM.release.minisig   its signature
//! URL/chuhe-worker-SYSTEM-VERSION           the program
//! ```
//!
//! Fields that a later version adds to a release are ignored: old workers must find the way to it.
//!
//! Only a higher version is installed, after its self-test; its first start repeats the test. It is
//! on trial until the server acknowledges a result of it. If it cannot start or crashes repeatedly,
//! the old version is restored. A failed version is never tried again.

pub mod successor;

use std::{
    fs, io,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use client::Client;
use dataset::{AtomicFile, Digest};
use minisign_verify::{PublicKey, Signature};
use serde::{Deserialize, Serialize};

use crate::{
    events::{Event, Events},
    messages::Messages,
    sentence::sentence,
    state::{Folder, remove},
    update::successor::Selftest,
    work::{Work, WorkState},
};

/// Interval of checks for a release.
const CHECK_INTERVAL: Duration = Duration::from_hours(24);
/// Delay of the first check.
const FIRST_CHECK_DELAY: Duration = Duration::from_mins(10);
/// A self-test takes some seconds; slow and busy machines need more.
const SELFTEST_TIMEOUT: Duration = Duration::from_mins(5);
const MAX_RELEASE_BYTES: u64 = 1 << 16;
const MAX_PROGRAM_BYTES: u64 = 256 << 20;
/// Maximum number of trial starts that end neither in [`confirm`] nor in order: the machine may
/// have lost power.
const MAX_TRIAL_STARTS: u32 = 3;
/// List of failed versions, one per line.
const FAILED_VERSIONS_FILE: &str = "update-refused";
/// State of the version on trial.
const TRIAL_FILE: &str = "update-trial.json";
/// Held while a running worker changes that file, from one of several threads.
static TRIAL_LOCK: Mutex<()> = Mutex::new(());

/// Source of updates.
#[derive(Clone, Debug)]
pub struct Source {
    /// Public key of minisign.
    pub key: String,
    /// Address of the folder of releases.
    pub url: String,
}

/// Returns the source that this build was configured with; none if updates are disabled.
#[must_use]
pub fn source() -> Option<Source> {
    let [key, url] = [option_env!("CHUHE_UPDATE_KEY")?, option_env!("CHUHE_UPDATE_URL")?].map(str::to_owned);
    Some(Source { key, url })
}

/// Content of a release file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Release {
    pub version: String,
    pub system: String,
    pub sha256: Digest,
    pub bytes: u64,
}

/// Verifies a release; returns it if it is newer and has not failed here before.
///
/// # Errors
///
/// If the signature is wrong, or the release is for another system.
pub fn verify_release(
    text: &[u8],
    signature: &str,
    key: &str,
    system: &str,
    running: &str,
    failed_versions: &str,
) -> Result<Option<Release>> {
    let key = PublicKey::from_base64(key).context("the key of this build")?;
    let signature = Signature::decode(signature).context("the release's signature")?;
    key.verify(text, &signature, false).context("the release's signature")?;
    let release: Release = serde_json::from_slice(text).context("the release")?;
    ensure!(release.system == system, "the release is for {}, not {system}", release.system);
    ensure!(release.bytes <= MAX_PROGRAM_BYTES, "the release has {} bytes", release.bytes);
    let newer = parse_version(&release.version).context("the release's version")? > parse_version(running)?;
    let has_failed = failed_versions.lines().any(|line| line == release.version);
    Ok((newer && !has_failed).then_some(release))
}

fn parse_version(version: &str) -> Result<[u64; 3]> {
    let parts: Vec<u64> = version.split('.').map(str::parse).collect::<Result<_, _>>().context(version.to_owned())?;
    parts.try_into().map_err(|_| anyhow::anyhow!("`{version}` is no version"))
}

/// Returns this system's name in releases.
#[must_use]
pub fn system() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Checks for releases until one is installed, and reports it.
pub(crate) fn watch(
    work: &Work,
    messages: &Messages,
    events: &Events,
    client: &Client,
    folder: &Folder,
    program: &Path,
    source: &Source,
) {
    let is_ending = |state: &WorkState| state.is_stopped || state.is_shutting_down();
    let mut wait = FIRST_CHECK_DELAY;
    loop {
        work.wait(wait, is_ending);
        if work.read(is_ending) {
            return;
        }
        wait = CHECK_INTERVAL;
        match check_and_install(client, folder, program, source) {
            Ok(None) => {}
            Ok(Some(version)) => return events.report(Event::Updated(version)),
            Err(error) => messages.log(sentence(format!("No update: {error:#}"))),
        }
    }
}

/// Fetches, tests and installs a newer version, if there is one.
fn check_and_install(client: &Client, folder: &Folder, program: &Path, source: &Source) -> Result<Option<String>> {
    let name = format!("{}/chuhe-worker-{}", source.url.trim_end_matches('/'), system());
    let text = client.get_url(&format!("{name}.release"), MAX_RELEASE_BYTES)?;
    let signature = client.get_url(&format!("{name}.release.minisig"), MAX_RELEASE_BYTES)?;
    let failed_versions = fs::read_to_string(folder.join(FAILED_VERSIONS_FILE)).unwrap_or_default();
    let running = env!("CARGO_PKG_VERSION");
    let Some(release) =
        verify_release(&text, &String::from_utf8_lossy(&signature), &source.key, &system(), running, &failed_versions)?
    else {
        return Ok(None);
    };
    let new = program.with_file_name(".chuhe-worker.new");
    match client.fetch_url(&format!("{name}-{}", release.version), release.sha256, release.bytes, &new) {
        // A package's folder belongs to the system.
        Err(error @ client::Error::Storage { .. }) => {
            bail!("version {} is out and cannot be put beside this one: {error}", release.version)
        }
        fetched => fetched?,
    }
    install(folder.root(), program, &new, running, &release.version, SELFTEST_TIMEOUT)?;
    Ok(Some(release.version))
}

/// Tests a program whose signature was verified and installs it, on trial. A failed version is
/// never tried again, one whose test does not start or end in time at the next check.
///
/// # Errors
///
/// If the test does not pass, or a file cannot be written.
pub fn install(root: &Path, program: &Path, new: &Path, from: &str, to: &str, timeout: Duration) -> Result<()> {
    let tested = successor::run_selftest(new, timeout);
    if !matches!(tested, Ok(Selftest::Passed)) {
        let _ = fs::remove_file(new);
    }
    match tested.with_context(|| format!("the self-test of version {to} did not start; it is tried again later"))? {
        Selftest::Passed => {}
        Selftest::TimedOut => bail!("the self-test of version {to} did not end in time; it is tried again later"),
        Selftest::Failed(status) => {
            record_failed_version(root, to)?;
            bail!("version {to} failed its self-test here and is not taken: it ended with {status}");
        }
    }
    let trial = Trial { from: from.to_owned(), to: to.to_owned(), starts: 0 };
    let lock = lock_trial();
    AtomicFile::replace(root.join(TRIAL_FILE), &serde_json::to_vec(&trial)?)?;
    drop(lock);
    successor::replace(program, new).with_context(|| program.display().to_string())
}

/// State of an installed version that is not yet confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trial {
    from: String,
    to: String,
    starts: u32,
}

/// Outcome of counting a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Continue with this version.
    Proceed,
    /// The old version was restored and has to be started.
    RolledBack,
}

/// Counts a start on trial and rolls back after too many. Called before anything that may differ
/// between versions (settings, processor) is read.
///
/// # Errors
///
/// If a file cannot be written.
pub fn count_start(root: &Path, program: &Path, running: &str) -> Result<Start> {
    match trial_of(root, running) {
        Some(trial) if trial.starts < MAX_TRIAL_STARTS => {
            let starts = trial.starts + 1;
            AtomicFile::replace(root.join(TRIAL_FILE), &serde_json::to_vec(&Trial { starts, ..trial })?)?;
            Ok(Start::Proceed)
        }
        Some(trial) => roll_back(root, program, &trial.to).map(|()| Start::RolledBack),
        None => Ok(Start::Proceed),
    }
}

/// Rolls back to the old version. This one is never tried again.
///
/// # Errors
///
/// If a file cannot be written.
pub fn roll_back(root: &Path, program: &Path, version: &str) -> Result<()> {
    record_failed_version(root, version)?;
    successor::restore(program)?;
    Ok(remove(&root.join(TRIAL_FILE))?)
}

/// Returns whether this version is on trial. A trial of another version does not count: the owner
/// has replaced the program since.
#[must_use]
pub fn is_on_trial(root: &Path, running: &str) -> bool {
    trial_of(root, running).is_some()
}

fn lock_trial() -> MutexGuard<'static, ()> {
    TRIAL_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn trial_of(root: &Path, running: &str) -> Option<Trial> {
    let bytes = fs::read(root.join(TRIAL_FILE)).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|trial: &Trial| trial.to == running)
}

/// Resets the trial's count after an orderly end: that start has not failed.
pub fn reset_starts(root: &Path, running: &str) {
    let _lock = lock_trial();
    let trial = trial_of(root, running).map(|trial| serde_json::to_vec(&Trial { starts: 0, ..trial }));
    if let Some(Ok(trial)) = trial {
        // If this fails, the start counts; others remain.
        let _ = AtomicFile::replace(root.join(TRIAL_FILE), &trial);
    }
}

/// Confirms this version: the server has acknowledged a result of it.
///
/// A trial of another version, which has yet to start, stays.
pub fn confirm(root: &Path, running: &str) {
    let _lock = lock_trial();
    if trial_of(root, running).is_some() {
        // If this fails, the next start repeats it.
        let _ = remove(&root.join(TRIAL_FILE));
    }
}

fn record_failed_version(root: &Path, version: &str) -> io::Result<()> {
    let path = root.join(FAILED_VERSIONS_FILE);
    let before = fs::read_to_string(&path).unwrap_or_default();
    if before.lines().any(|line| line == version) {
        return Ok(());
    }
    AtomicFile::replace(path, format!("{before}{version}\n").as_bytes())
}
