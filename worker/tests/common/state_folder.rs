//! Content of a worker's state folder.

use std::{collections::BTreeSet, fs, path::Path};

use dataset::shard::Shard;
use worker::outbox::Outbox;

/// Returns the finished games in journals and outbox.
pub(crate) fn finished(state: &Path) -> BTreeSet<u64> {
    let mut finished = BTreeSet::new();
    for entry in fs::read_dir(state.join("leases")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "games") {
            finished.extend(journalled(&path));
        }
    }
    let outbox = Outbox::open(state).unwrap();
    for name in outbox.names().unwrap() {
        let meta = outbox.read(&name).unwrap().meta;
        finished.extend(meta.first..meta.first + meta.games);
    }
    finished
}

/// Returns the games in a journal: each entry is a length, a check of eight bytes, and a shard.
fn journalled(path: &Path) -> Vec<u64> {
    let bytes = fs::read(path).unwrap();
    let (mut rest, mut numbers) = (&bytes[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let end = 8 + u32::from_le_bytes(*length) as usize;
        // The last entry may be torn.
        let Some(Ok(shard)) = after.get(8..end).map(|bytes| Shard::new(bytes.to_vec())) else { break };
        numbers.extend(shard.records().map(|game| game.unwrap().0));
        rest = &after[end..];
    }
    numbers
}
