//! Comparison of two players' results for the same games.

use std::ops::Range;

use crate::{
    digest::Digest,
    shard::{Shard, ShardError},
};

/// The result of comparing two shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The games are equal.
    Equal,
    /// The games differ.
    Differ {
        /// The number of the first game that differs.
        first_game: u64,
    },
    /// One of them is not a shard, is damaged, or lacks one of the games.
    Unreadable,
}

/// Compares the records of these games by their digests: openings, moves, scores, outcomes and
/// reasons. A record does not name its players; the caller compares the headers. Only blocks with
/// these games are read.
#[must_use]
pub fn compare(a: &[u8], b: &[u8], games: Range<u64>) -> Comparison {
    let [Some(a), Some(b)] = [a, b].map(|bytes| digests(bytes, &games).ok().flatten()) else {
        return Comparison::Unreadable;
    };
    match games.zip(a.iter().zip(&b)).find(|(_, (a, b))| a != b) {
        Some((first_game, _)) => Comparison::Differ { first_game },
        None => Comparison::Equal,
    }
}

/// The digests of these games; `None` if one is missing.
fn digests(bytes: &[u8], games: &Range<u64>) -> Result<Option<Vec<Digest>>, ShardError> {
    let shard = Shard::new(bytes)?;
    let mut first = shard.header().first_game;
    if games.start < first || games.end.saturating_sub(first) > shard.games() {
        return Ok(None);
    }
    let mut digests = Vec::new();
    for (block, entry) in shard.index().iter().enumerate() {
        let end = first.saturating_add(entry.games.into());
        if first < games.end && games.start < end {
            shard.block(block)?.read(|number, record| {
                if games.contains(&number) {
                    digests.push(record.digest());
                }
            })?;
        }
        first = end;
    }
    Ok(Some(digests))
}
