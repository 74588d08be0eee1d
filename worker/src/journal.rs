//! Journal of a lease: an append-only file of its finished games, in the order in which they end.
//!
//! ```text
//! length (4) | check (8) | a shard of one game        any number of them
//! ```
//!
//! The check is the first bytes of the shard's SHA-256. Opening the journal truncates a torn tail.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use dataset::{
    Digest, Header, Record,
    shard::{Shard, ShardWriter, WriteError},
};

use crate::state::sync_folder_of;

const HEADER_BYTES: usize = 4 + CHECKSUM_BYTES;
const CHECKSUM_BYTES: usize = 8;

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// Length of the valid part.
    length: u64,
    /// A torn write may follow the valid part.
    torn: bool,
}

impl Journal {
    /// Opens or creates a lease's journal; also returns its games.
    pub(crate) fn open(path: &Path, header: &Header) -> io::Result<(Self, BTreeMap<u64, Record>)> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        // The file's name has to be durable before its content.
        sync_folder_of(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut games = BTreeMap::new();
        let mut rest = &bytes[..];
        while let Some((number, record, after)) = first_game(rest, header) {
            games.insert(number, record);
            rest = after;
        }
        let length = (bytes.len() - rest.len()) as u64;
        let mut journal = Self { file, length, torn: !rest.is_empty() };
        journal.truncate_torn_tail()?;
        Ok((journal, games))
    }

    /// Appends a game. It survives a crash of the program at once, and one of the machine after a
    /// sync.
    pub(crate) fn append(&mut self, header: &Header, number: u64, record: &Record) -> io::Result<()> {
        self.truncate_torn_tail()?;
        let header = Header { first_game: number, ..header.clone() };
        let shard = shard_of(&header, [record])?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + shard.len());
        bytes.extend((shard.len() as u32).to_le_bytes());
        bytes.extend(&Digest::of(&shard).as_bytes()[..CHECKSUM_BYTES]);
        bytes.extend(shard);
        self.torn = true;
        self.file.write_all(&bytes)?;
        self.torn = false;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Returns a handle for syncing, so that no player waits for the disk.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    fn truncate_torn_tail(&mut self) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.length)?;
            self.torn = false;
        }
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }
}

/// Splits off the first game and its number.
fn first_game<'a>(bytes: &'a [u8], header: &Header) -> Option<(u64, Record, &'a [u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (check, rest) = rest.split_first_chunk::<CHECKSUM_BYTES>()?;
    let (shard, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if Digest::of(shard).as_bytes()[..CHECKSUM_BYTES] != check[..] {
        return None;
    }
    let shard = Shard::new(shard.to_vec()).ok()?;
    if !header.differences(shard.header()).is_empty() {
        return None;
    }
    let (number, record) = shard.records().next()?.ok()?;
    Some((number, record, rest))
}

/// Encodes games as a shard.
pub(crate) fn shard_of<'a>(header: &Header, games: impl IntoIterator<Item = &'a Record>) -> io::Result<Vec<u8>> {
    let mut shard = ShardWriter::new(Vec::new(), header.clone())?;
    let io = |error| match error {
        WriteError::Io(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    };
    games.into_iter().try_for_each(|record| shard.add(record)).map_err(io)?;
    Ok(shard.finish().map_err(io)?.0)
}

#[cfg(test)]
mod tests {
    use selfplay::selfplay::Run;

    use super::*;

    fn header() -> Header {
        Header {
            bench_signature: engine::bench::SIGNATURE,
            net: None,
            opponent: None,
            clock: None,
            parameters: dataset::Overrides::default(),
            opponent_parameters: dataset::Overrides::default(),
            rules: xiangqi::rules::RuleSet::Cxr,
            settings: dataset::GameSettings {
                hash_mebibytes: 1,
                soft_nodes: None,
                hard_nodes: 50,
                adjudication: dataset::Adjudication::default(),
                ply_cap: 40,
            },
            openings: dataset::OpeningPolicy { book: None, plies: 8, filter: None },
            seed: 3,
            first_game: 10,
        }
    }

    fn game(number: u64) -> Record {
        let run = Run::from_header(&header(), engine::Evaluation::Plain, None, None).unwrap();
        run.game(&mut run.players(), number).unwrap().record
    }

    /// After a crash at any byte the earlier games are intact and the journal can be appended to.
    #[test]
    fn a_journal_that_was_cut_anywhere_can_be_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let (mut journal, games) = Journal::open(&path, &header()).unwrap();
        assert!(games.is_empty());
        let mut ends = vec![0];
        for number in [12, 10, 15] {
            journal.append(&header(), number, &game(number)).unwrap();
            ends.push(journal.length);
        }
        let whole = std::fs::read(&path).unwrap();
        for cut in (0..=whole.len()).step_by(7).chain([whole.len()]) {
            for flip in [false, true] {
                let mut bytes = whole[..cut].to_vec();
                if flip && let Some(last) = bytes.last_mut() {
                    *last ^= 1;
                }
                std::fs::write(&path, &bytes).unwrap();
                let sound = cut - usize::from(flip && cut > 0);
                let count = ends.iter().filter(|end| **end <= sound as u64).count() - 1;
                let (mut journal, games) = Journal::open(&path, &header()).unwrap();
                assert_eq!(games.len(), count, "{cut}");
                journal.append(&header(), 11, &game(11)).unwrap();
                let (_, games) = Journal::open(&path, &header()).unwrap();
                assert_eq!((games.len(), games.get(&11)), (count + 1, Some(&game(11))));
            }
        }
    }

    #[test]
    fn games_of_other_terms_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        Journal::open(&path, &header()).unwrap().0.append(&header(), 10, &game(10)).unwrap();
        let other = Header { seed: 4, ..header() };
        assert!(Journal::open(&path, &other).unwrap().1.is_empty());
    }
}
