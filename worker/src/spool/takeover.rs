//! Takeover of the state folders of earlier versions.
//!
//! These had a file for each lease (`leases/NAME.lease`), one for its games (`leases/NAME.games`),
//! and one for each submission (`outbox/NAME-FIRST.result`). A lease's files become one file of the
//! spool. Then they are removed, so each is taken over once. After a crash the rest is repeated.

use std::{collections::BTreeMap, fs, io, ops::Range, path::Path};

use dataset::{Digest, shard::Shard};
use protocol::api::work::Lease;
use serde::Deserialize;

use super::{
    record::{Record, SavedLease, encode_game},
    refused::Refused,
};
use crate::state;

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

/// Moves all leases to the spool by `put`, and the nonce of a request by `ask`. Returns the names
/// of damaged submissions, which are in `refused` now.
pub(super) fn run(
    root: &Path,
    put: impl Fn(&str, &[Record]) -> io::Result<()>,
    ask: impl Fn(&str) -> io::Result<()>,
) -> io::Result<Vec<String>> {
    let mut damaged = Vec::new();
    let nonce = fs::read_to_string(root.join("asking")).unwrap_or_default();
    if is_nonce(&nonce) {
        if root.join(format!("leases/{nonce}.lease")).exists() {
            state::remove(&root.join("asking"))?;
        } else {
            ask(&nonce)?;
        }
    }
    let (leases, outbox) = (root.join("leases"), root.join("outbox"));
    let mut found = BTreeMap::<String, Found>::new();
    let old_leases = names(&leases, ".lease")?;
    for name in &old_leases {
        // A damaged file is one of a broken disk; the server's lease expires by itself.
        let Ok(lease) = serde_json::from_slice::<OldLease>(&fs::read(leases.join(format!("{name}.lease")))?) else {
            continue;
        };
        let games = fs::read(leases.join(format!("{name}.games"))).unwrap_or_default();
        let entry = found.entry(name.clone()).or_default();
        journalled(&games, &mut entry.games)?;
        entry.lease = Some(lease);
    }
    let submissions = names(&outbox, ".result")?;
    for submission in &submissions {
        let bytes = fs::read(outbox.join(format!("{submission}.result")))?;
        let name = submission.rsplit_once('-').map_or(submission.as_str(), |(name, _)| name);
        if add_submission(&bytes, found.entry(name.to_owned()).or_default())?.is_none() {
            Refused::open(root)?.put(submission, &bytes, DAMAGED)?;
            damaged.push(submission.clone());
        }
    }
    for (name, found) in found {
        if let Some(records) = found.into_records() {
            put(&name, &records)?;
        }
    }
    for submission in submissions {
        fs::remove_file(outbox.join(format!("{submission}.result")))?;
    }
    for name in old_leases {
        fs::remove_file(leases.join(format!("{name}.lease")))?;
    }
    for folder in [leases, outbox] {
        if folder.is_dir() {
            // What is left are journals without a lease, and partial files.
            fs::remove_dir_all(folder)?;
        }
    }
    Ok(damaged)
}

fn names(folder: &Path, extension: &str) -> io::Result<Vec<String>> {
    if folder.is_dir() { state::names(folder, extension) } else { Ok(Vec::new()) }
}

/// Adds the games of a journal: each entry is a length, a check of eight bytes, and a shard.
fn journalled(mut bytes: &[u8], games: &mut BTreeMap<u64, Vec<u8>>) -> io::Result<()> {
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let Some((check, rest)) = rest.split_first_chunk::<8>() else { break };
        let Some((shard, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize) else { break };
        if Digest::of(shard).as_bytes()[..8] != check[..] {
            break;
        }
        add_games(shard, games)?;
        bytes = rest;
    }
    Ok(())
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
    found.submitted = Some(SavedLease { server, until, lease });
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
