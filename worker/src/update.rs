//! Newer versions of the worker itself.
//!
//! Who builds the program may say, in the environment of the build, whose signature it believes (`CHUHE_UPDATE_KEY`, a
//! public key of minisign) and where releases are (`CHUHE_UPDATE_URL`). Without both nothing is ever asked. A release is a
//! small signed file that names version, system and hash of a program:
//!
//! ```text
//! URL/chuhe-worker-SYSTEM.release           {"version": "0.2.0", "system": "linux-x86_64", "sha256": "…", "bytes": 9000000}
//! URL/chuhe-worker-SYSTEM.release.minisig   its signature
//! URL/chuhe-worker-SYSTEM-VERSION           the program
//! ```
//!
//! Only a higher version is taken; it must pass its self-test before it gets the name of this program, and again at its
//! first start. Until the server has taken a result of it, it is on trial: if it cannot begin, or breaks off again and again,
//! the old one comes back. A version that failed is never tried again.

pub mod successor;

use std::{fs, io, path::Path, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use client::Client;
use dataset::{Digest, NewFile};
use minisign_verify::{PublicKey, Signature};
use serde::{Deserialize, Serialize};

use crate::{
    desk::{Desk, Ending},
    sentence::sentence,
    state::{Folder, remove},
};

/// How often releases are looked at.
const EVERY: Duration = Duration::from_hours(24);
/// The first time, not before games are played.
const FIRST: Duration = Duration::from_mins(10);
const MOST_RELEASE: u64 = 1 << 16;
const MOST_PROGRAM: u64 = 256 << 20;
/// So often a version may begin without coming as far as [`works`] or an end in order: the machine may have lost its power.
const STARTS: u32 = 3;
/// The names of versions that failed, one a line.
const REFUSED: &str = "update-refused";
/// A version that has not shown yet that it works.
const TRIAL: &str = "update-trial.json";

/// Whose releases are believed, and where they are.
#[derive(Clone, Debug)]
pub struct Source {
    /// The public key.
    pub key: String,
    /// The folder's address.
    pub url: String,
}

/// What the build says; none if updates are off.
#[must_use]
pub fn source() -> Option<Source> {
    let [key, url] = [option_env!("CHUHE_UPDATE_KEY")?, option_env!("CHUHE_UPDATE_URL")?].map(str::to_owned);
    Some(Source { key, url })
}

/// What a release says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Release {
    pub version: String,
    pub system: String,
    pub sha256: Digest,
    pub bytes: u64,
}

/// The release, if its signature is good and this worker wants it.
///
/// # Errors
///
/// If it is not signed by the key, or is another system's.
pub fn judge(
    text: &[u8],
    signature: &str,
    key: &str,
    system: &str,
    running: &str,
    refused: &str,
) -> Result<Option<Release>> {
    let key = PublicKey::from_base64(key).context("the key of this build")?;
    let signature = Signature::decode(signature).context("the release's signature")?;
    key.verify(text, &signature, false).context("the release's signature")?;
    let release: Release = serde_json::from_slice(text).context("the release")?;
    ensure!(release.system == system, "the release is for {}, not {system}", release.system);
    ensure!(release.bytes <= MOST_PROGRAM, "the release has {} bytes", release.bytes);
    let newer = numbers(&release.version).context("the release's version")? > numbers(running)?;
    let failed = refused.lines().any(|line| line == release.version);
    Ok((newer && !failed).then_some(release))
}

fn numbers(version: &str) -> Result<[u64; 3]> {
    let parts: Vec<u64> = version.split('.').map(str::parse).collect::<Result<_, _>>().context(version.to_owned())?;
    parts.try_into().map_err(|_| anyhow::anyhow!("`{version}` is no version"))
}

/// This system's name in releases.
#[must_use]
pub fn system() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Looks for releases now and then, until there is a newer one that works; then the worker finishes. Where a program cannot
/// become another one it plays on, and the new one begins with the next start.
pub(crate) fn watch(desk: &Arc<Desk>, client: &Client, folder: &Folder, program: &Path, source: &Source) {
    let mut wait = FIRST;
    loop {
        desk.wait(wait, |state| state.gone || state.ending != Ending::None);
        if desk.look(|state| state.gone || state.ending != Ending::None) {
            return;
        }
        wait = EVERY;
        match look(client, folder, program, source) {
            Ok(None) => {}
            Ok(Some(version)) => {
                return desk.change(|state| {
                    if cfg!(not(unix)) || state.ending != Ending::None {
                        state.say(format!("Version {version} is here; it plays from the next start on."));
                        return;
                    }
                    state.say(format!("Version {version} is here; it goes on when the games at hand are finished."));
                    state.ending = Ending::Finish;
                    state.updated = true;
                    state.close_all();
                });
            }
            Err(error) => desk.say(sentence(format!("No update: {error:#}"))),
        }
    }
}

/// Fetches, tries and puts in place a newer version, if there is one.
fn look(client: &Client, folder: &Folder, program: &Path, source: &Source) -> Result<Option<String>> {
    let name = format!("{}/chuhe-worker-{}", source.url.trim_end_matches('/'), system());
    let text = client.get_elsewhere(&format!("{name}.release"), MOST_RELEASE)?;
    let signature = client.get_elsewhere(&format!("{name}.release.minisig"), MOST_RELEASE)?;
    let refused = fs::read_to_string(folder.join(REFUSED)).unwrap_or_default();
    let running = env!("CARGO_PKG_VERSION");
    let Some(release) = judge(&text, &String::from_utf8_lossy(&signature), &source.key, &system(), running, &refused)?
    else {
        return Ok(None);
    };
    let new = program.with_file_name(".chuhe-worker.new");
    client.fetch_elsewhere(&format!("{name}-{}", release.version), release.sha256, release.bytes, &new)?;
    install(folder.root(), program, &new, running, &release.version)?;
    Ok(Some(release.version))
}

/// Tries a program whose signature was checked, and gives it the name of this one. If it fails it is never tried again.
///
/// # Errors
///
/// If it fails, or a file cannot be written.
pub fn install(root: &Path, program: &Path, new: &Path, from: &str, to: &str) -> Result<()> {
    if let Err(error) = successor::try_out(new) {
        refuse(root, to)?;
        let _ = fs::remove_file(new);
        return Err(error.context(format!("version {to} failed its self-test here and is not taken")));
    }
    let trial = Trial { from: from.to_owned(), to: to.to_owned(), starts: 0 };
    NewFile::replace(root.join(TRIAL), &serde_json::to_vec(&trial)?)?;
    successor::take_place(program, new).with_context(|| program.display().to_string())
}

/// A version that has the name and has not shown yet that it works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trial {
    from: String,
    to: String,
    starts: u32,
}

/// What a start after an update should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Go on.
    Usual,
    /// The old program has its name back: begin again with it.
    Back,
}

/// To be asked at each start of a version on trial, before anything that may be another's in it (settings, processor) is
/// looked at: one that was started some times and has not come as far as [`works`] gives the name back.
///
/// # Errors
///
/// If a file cannot be written.
pub fn at_start(root: &Path, program: &Path, running: &str) -> Result<Start> {
    match trial_of(root, running) {
        Some(trial) if trial.starts < STARTS => {
            let starts = trial.starts + 1;
            NewFile::replace(root.join(TRIAL), &serde_json::to_vec(&Trial { starts, ..trial })?)?;
            Ok(Start::Usual)
        }
        Some(trial) => give_back(root, program, &trial.to).map(|()| Start::Back),
        None => Ok(Start::Usual),
    }
}

/// This version has failed: the old one gets its name back, and this one is never tried again.
///
/// # Errors
///
/// If a file cannot be written.
pub fn give_back(root: &Path, program: &Path, version: &str) -> Result<()> {
    refuse(root, version)?;
    successor::bring_back(program).with_context(|| program.display().to_string())?;
    Ok(remove(&root.join(TRIAL))?)
}

/// Whether this version is on trial. A note about another is none about this one: its owner has put it in the place.
#[must_use]
pub fn is_on_trial(root: &Path, running: &str) -> bool {
    trial_of(root, running).is_some()
}

fn trial_of(root: &Path, running: &str) -> Option<Trial> {
    let bytes = fs::read(root.join(TRIAL)).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|trial: &Trial| trial.to == running)
}

/// This version came to an end in order, as its owner wanted: that start is none that failed.
pub fn ended_well(root: &Path, running: &str) {
    let trial = trial_of(root, running).map(|trial| serde_json::to_vec(&Trial { starts: 0, ..trial }));
    if let Some(Ok(trial)) = trial {
        // If it cannot be written, the start counts; there may be more of them.
        let _ = NewFile::replace(root.join(TRIAL), &trial);
    }
}

/// This version works: the server has taken a result of it.
///
/// A note about a version that has yet to begin is none about this one.
pub fn works(root: &Path, running: &str) {
    if trial_of(root, running).is_some() {
        // If the note stays, the next start says the same.
        let _ = remove(&root.join(TRIAL));
    }
}

fn refuse(root: &Path, version: &str) -> io::Result<()> {
    let path = root.join(REFUSED);
    let before = fs::read_to_string(&path).unwrap_or_default();
    NewFile::replace(path, format!("{before}{version}\n").as_bytes())
}
