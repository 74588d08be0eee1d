//! Contents of a lease's file, and the submissions that they make.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
};

use dataset::{
    Header,
    codec::BlockDecoder,
    shard::{ShardWriter, WriteError},
};

use super::record::{Record, SavedLease, State};

/// Bound on the checked bytes, as a multiple of a file's length. The search behind a damaged record
/// tries each place, and any bytes may look like a length.
const MAX_CHECKED_FACTOR: usize = 16;

/// Sum of a file's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Nonce of the request.
    pub nonce: Option<String>,
    /// The lease; its expiry includes a renewal.
    pub lease: Option<SavedLease>,
    /// No game follows.
    pub is_closed: bool,
    /// The finished games, each encoded on its own.
    pub games: BTreeMap<u64, Vec<u8>>,
    /// First games of the submissions that need not be sent again.
    pub settled: BTreeSet<u64>,
}

/// How much of a file could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes without a torn write at the end. Others are appended here.
    pub length: u64,
    /// Number of damaged places.
    pub damaged: usize,
    /// Another version wrote some of its records.
    pub is_foreign: bool,
}

impl Contents {
    /// Adds up the whole records of a file. Records behind a damaged one are found by their checks.
    #[must_use]
    pub fn read(bytes: &[u8]) -> (Self, Extent) {
        Self::read_within(bytes, &mut (MAX_CHECKED_FACTOR * bytes.len()))
    }

    /// Reads a file. Its budget is the number of bytes that may be checked.
    fn read_within(bytes: &[u8], budget: &mut usize) -> (Self, Extent) {
        let (mut contents, mut extent, mut rest) = (Self::default(), Extent::default(), bytes);
        while !rest.is_empty() {
            if let Some((record, after)) = Record::frame(rest, budget) {
                match Record::parse(record) {
                    Some(record) => contents.add(record),
                    None => extent.is_foreign = true,
                }
                rest = after;
                continue;
            }
            let place =
                |place: &usize| Record::may_begin(&rest[*place..]) && Record::frame(&rest[*place..], budget).is_some();
            let next = (1..rest.len()).find(place);
            if next.is_none() && *budget > 0 && Record::is_cut(rest) {
                break;
            }
            extent.damaged += 1;
            rest = next.map_or(&[], |place| &rest[place..]);
        }
        extent.length = (bytes.len() - rest.len()) as u64;
        (contents, extent)
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::Asked(nonce) => self.nonce = Some(nonce),
            Record::Lease(lease) => self.lease = Some(*lease),
            Record::Game(number, game) => {
                self.games.insert(number, game);
            }
            Record::Renewed(until) => {
                if let Some(lease) = &mut self.lease {
                    lease.until = until;
                }
            }
            Record::Closed => self.is_closed = true,
            Record::Settled(first) => {
                // The record of the end may be damaged.
                self.is_closed = true;
                self.settled.insert(first);
            }
        }
    }

    /// Returns the state; none without a record.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        match (&self.lease, &self.nonce) {
            (Some(_), _) if self.is_closed => Some(State::Closed),
            (Some(_), _) => Some(State::Open),
            (None, Some(_)) => Some(State::Asked),
            (None, None) => None,
        }
    }

    /// Returns the numbers of the finished games of the lease.
    #[must_use]
    pub fn finished(&self) -> BTreeSet<u64> {
        let numbers = self.lease.as_ref().map_or(0..0, |saved| saved.lease.numbers());
        self.games.range(numbers).map(|(number, _)| *number).collect()
    }

    /// Returns the gapless runs of finished games, each a submission; of a match, of whole pairs.
    #[must_use]
    pub fn runs(&self) -> Vec<Range<u64>> {
        let Some(SavedLease { lease, .. }) = &self.lease else { return Vec::new() };
        let unit = if lease.terms.opponent.is_some() { 2 } else { 1 };
        let (start, finished) = (lease.numbers().start, self.finished());
        let is_whole = |first: &u64| {
            (first - start).is_multiple_of(unit) && (*first..first + unit).all(|game| finished.contains(&game))
        };
        let mut runs: Vec<Range<u64>> = Vec::new();
        for first in finished.iter().copied().filter(is_whole) {
            match runs.last_mut() {
                Some(run) if run.end == first => run.end += unit,
                _ => runs.push(first..first + unit),
            }
        }
        runs
    }

    /// Returns the first game that is not submitted: from there on the lease is released. None if
    /// there is no such game.
    #[must_use]
    pub fn release_from(&self) -> Option<u64> {
        let Range { start, end } = self.lease.as_ref()?.lease.numbers();
        let runs = self.runs();
        let missing = runs.first().filter(|run| run.start == start).map_or(start, |run| run.end);
        (missing < end).then_some(missing)
    }

    /// Assembles the shard of a run, the same bytes at every attempt.
    ///
    /// # Errors
    ///
    /// If a game is missing or cannot be decoded.
    pub fn shard(&self, run: &Range<u64>) -> io::Result<Vec<u8>> {
        let missing = || damaged("a game is missing");
        let terms = &self.lease.as_ref().ok_or_else(missing)?.lease.terms;
        let header = Header { first_game: run.start, ..terms.clone() };
        let mut shard = ShardWriter::new(Vec::new(), header)?;
        for number in run.clone() {
            let game = self.games.get(&number).ok_or_else(missing)?;
            let decoded = BlockDecoder::new(terms, game, number, 1).next(|_| {}).map_err(damaged)?;
            let (_, game) = decoded.ok_or_else(missing)?;
            shard.add(&game).map_err(not_io)?;
        }
        Ok(shard.finish().map_err(not_io)?.0)
    }
}

fn not_io(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        other => damaged(other),
    }
}

fn damaged(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: u64) -> Vec<u8> {
        Record::Game(number, vec![number as u8; 200]).to_bytes().expect("it can be encoded")
    }

    /// Reads a file; also returns the number of checked bytes.
    fn read(bytes: &[u8], budget: usize) -> (Contents, Extent, usize) {
        let mut left = budget;
        let (contents, extent) = Contents::read_within(bytes, &mut left);
        (contents, extent, budget - left)
    }

    #[test]
    fn the_search_behind_a_damaged_record_is_short() {
        // Bytes as after a compression, which cost a thousand records.
        let noise = (0_u64..8192).flat_map(|number| *dataset::Digest::of(&number.to_le_bytes()).as_bytes());
        let sound = (0..1000).flat_map(game);
        let bytes: Vec<u8> = [255; 4].into_iter().chain(noise).chain(sound).collect();
        let (contents, extent, checked) = read(&bytes, usize::MAX);
        assert_eq!((contents.games.len(), extent.damaged, extent.length), (1000, 1, bytes.len() as u64));
        assert!(checked < 4 * bytes.len(), "{checked} bytes of {} were checked", bytes.len());
    }

    #[test]
    fn the_search_in_the_worst_bytes_ends() {
        // At each fourth byte a long record may begin.
        let worst = [b'G', 255, 0, 0].repeat(1 << 12);
        let bytes = [&game(1)[..], &[255; 4], &worst, &game(2)].concat();
        let bytes = [&bytes[..], &bytes[..]].concat().repeat(8);
        let games = |contents: &Contents| contents.games.keys().copied().collect::<Vec<_>>();
        let (all, _, checked) = read(&bytes, usize::MAX);
        assert_eq!(games(&all), [1, 2]);
        assert!(checked > 4 * MAX_CHECKED_FACTOR * bytes.len(), "{checked} bytes of {} were checked", bytes.len());
        // What is not searched is damaged, and is not cut off.
        let (found, extent) = Contents::read(&bytes);
        assert_eq!((games(&found), extent.damaged, extent.length), (vec![1], 1, bytes.len() as u64));
    }
}
