//! Takeover of the state folders of earlier versions.
//!
//! These had a file for each lease (`leases/NAME.lease`), one for its games (`leases/NAME.games`),
//! and one for each submission (`outbox/NAME-FIRST.result`). A lease's files become one file of the
//! spool. Then they are removed, so each is taken over once. After a crash the rest is repeated.
//! Files that cannot be read completely are moved to `refused`.

use std::{collections::BTreeMap, fs, io, ops::Range, path::Path};

use dataset::{Digest, shard::Shard};
use protocol::api::work::Lease;
use serde::Deserialize;

use super::{
    record::{Record, SavedLease, encode_game},
    refused::Refused,
};
use crate::{
    sentence::sentence,
    state::{self, at},
};

/// Reason for a refusal.
pub(crate) const DAMAGED: &str = "the file was damaged on this disk";

/// A lease's file.
#[derive(Deserialize)]
struct OldLease {
    #[serde(flatten)]
    saved: SavedLease,
    #[serde(default)]
    renewed: bool,
    #[serde(default)]
    closed: bool,
}

/// The metadata of a submission.
#[derive(Deserialize)]
struct OldSubmission {
    server: String,
    lease: String,
    until: u64,
    give_back: Option<u64>,
}

/// The files of a lease.
#[derive(Default)]
struct Found {
    lease: Option<OldLease>,
    games: BTreeMap<u64, Vec<u8>>,
    /// The lease as far as its submissions tell.
    submitted: Option<SavedLease>,
    /// First game to be released.
    release_from: Option<u64>,
}

impl Found {
    /// Returns the records of the lease; none for a release alone, since the server's lease expires
    /// by itself.
    fn into_records(self) -> Option<Vec<Record>> {
        let (is_renewed, is_closed) = self.lease.as_ref().map_or((false, true), |old| (old.renewed, old.closed));
        let submitted = self.submitted.map(|mut saved| {
            if let Some(from) = self.release_from {
                extend(&mut saved.lease, from..from + 1);
            }
            saved
        });
        let saved = self.lease.map(|old| old.saved).or(submitted)?;
        let until = saved.until;
        let mut records = vec![Record::Lease(Box::new(saved))];
        records.extend(is_renewed.then_some(Record::Renewed(until)));
        records.extend(self.games.into_iter().map(|(number, game)| Record::Game(number, game)));
        records.extend(is_closed.then_some(Record::Closed));
        Some(records)
    }
}

/// Moves all leases to the spool by `put`, and the nonce of a request by `ask`. Returns a sentence
/// about each file that cannot be used and is in `refused` now.
pub(super) fn run(
    root: &Path,
    refused: &Refused,
    put: impl Fn(&str, &[Record]) -> io::Result<()>,
    ask: impl Fn(&str) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    let asking = root.join("asking");
    let nonce = if asking.is_dir() { Vec::new() } else { state::read_if_exists(&asking)?.unwrap_or_default() };
    // Requests of this version are records.
    if let Some(nonce) = String::from_utf8(nonce).ok().filter(|nonce| is_nonce(nonce)) {
        if root.join(format!("leases/{nonce}.lease")).exists() {
            state::remove(&asking)?;
        } else {
            ask(&nonce)?;
        }
    }
    let (leases, outbox) = (root.join("leases"), root.join("outbox"));
    let mut found = BTreeMap::<String, Found>::new();
    let (mut kept, mut done) = (Vec::new(), Vec::new());
    for name in names(&leases, ".lease")? {
        let (path, journal) = (leases.join(format!("{name}.lease")), leases.join(format!("{name}.games")));
        // A damaged file is one of a broken disk; it is kept with its games below.
        let Ok(lease) = serde_json::from_slice::<OldLease>(&at(&path, fs::read(&path))?) else { continue };
        let entry = found.entry(name).or_default();
        entry.lease = Some(lease);
        done.push(path);
        if let Some(games) = state::read_if_exists(&journal)?
            && journalled(&games, &mut entry.games)?
        {
            done.push(journal);
        }
    }
    for submission in names(&outbox, ".result")? {
        let path = outbox.join(format!("{submission}.result"));
        let bytes = at(&path, fs::read(&path))?;
        let name = submission.rsplit_once('-').map_or(&*submission, |(name, _)| name);
        if add_submission(&bytes, found.entry(name.to_owned()).or_default())?.is_none() {
            refused.put(&submission, &bytes, DAMAGED)?;
            let message = format!("A result cannot be sent, and lies in `refused/{submission}.chuhe`: {DAMAGED}");
            kept.push(sentence(message));
        }
        done.push(path);
    }
    for (name, found) in found {
        if let Some(records) = found.into_records() {
            put(&name, &records)?;
        }
    }
    // A lease last: without it, the next start would find a journal alone.
    done.sort();
    done.iter().try_for_each(|path| at(path, fs::remove_file(path)))?;
    for folder in [leases, outbox].iter().filter(|folder| folder.is_dir()) {
        state::sweep(folder)?;
        let entries = at(folder, fs::read_dir(folder))?.map(|entry| Ok(at(folder, entry)?.path()));
        let mut left: Vec<_> = entries.collect::<io::Result<_>>()?;
        left.sort();
        for path in left {
            kept.push(refused.take(&path, "no lease of an earlier version can be read from it")?);
        }
        at(folder, fs::remove_dir(folder))?;
    }
    Ok(kept)
}

fn names(folder: &Path, extension: &str) -> io::Result<Vec<String>> {
    if folder.is_dir() { state::names(folder, extension) } else { Ok(Vec::new()) }
}

/// Adds the games of a journal: each entry is a length, a check of eight bytes, and a shard.
/// Returns whether all were read but a torn one at the end.
fn journalled(mut bytes: &[u8], games: &mut BTreeMap<u64, Vec<u8>>) -> io::Result<bool> {
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let Some((check, rest)) = rest.split_first_chunk::<8>() else { break };
        let Some((shard, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize) else { break };
        if Digest::of(shard).as_bytes()[..8] != check[..] {
            return Ok(false);
        }
        if add_games(shard, games)?.is_none() {
            return Ok(false);
        }
        bytes = rest;
    }
    Ok(true)
}

/// Adds the games of a shard; returns its lease as far as it tells.
fn add_games(shard: &[u8], games: &mut BTreeMap<u64, Vec<u8>>) -> io::Result<Option<Lease>> {
    let Ok(shard) = Shard::new(shard.to_vec()) else { return Ok(None) };
    for (number, game) in shard.records().flatten() {
        games.insert(number, encode_game(shard.header(), number, &game)?);
    }
    let terms = shard.header().clone();
    Ok(Some(Lease { token: String::new(), terms, games: shard.games(), seconds: 0, live: false }))
}

/// Adds a submission: the SHA-256 of the rest, a line of metadata, and a shard. None if it is
/// damaged.
fn add_submission(bytes: &[u8], found: &mut Found) -> io::Result<Option<()>> {
    let lines = || {
        let (hash, rest) = split_line(bytes)?;
        let (meta, shard) = split_line(rest)?;
        let meta: OldSubmission = serde_json::from_slice(meta).ok()?;
        (hash == Digest::of(rest).to_string().as_bytes()).then_some((meta, shard))
    };
    let Some((OldSubmission { server, lease: token, until, give_back }, shard)) = lines() else { return Ok(None) };
    if shard.is_empty() {
        found.release_from = give_back;
        return Ok(Some(()));
    }
    let Some(mut lease) = add_games(shard, &mut found.games)? else { return Ok(None) };
    lease.token = token;
    if let Some(known) = &found.submitted {
        extend(&mut lease, known.lease.numbers());
    }
    found.submitted = Some(SavedLease { server, account: None, until, lease });
    Ok(Some(()))
}

/// Extends a lease by other games.
fn extend(lease: &mut Lease, by: Range<u64>) {
    let numbers = lease.numbers();
    lease.terms.first_game = numbers.start.min(by.start);
    lease.games = numbers.end.max(by.end) - lease.terms.first_game;
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Returns whether a text is one of our nonces, and so a safe file name.
fn is_nonce(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
