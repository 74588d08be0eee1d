//! The finished games of a lease, as they come: a file that grows by one game at a time, in whatever order they end.
//!
//! ```text
//! length (4) | check (8) | a shard of one game        any number of them
//! ```
//!
//! The check is the beginning of the shard's SHA-256. What a crash cut off is taken away when the journal is opened again.

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

const HEAD: usize = 4 + CHECK;
const CHECK: usize = 8;

/// A journal that is open.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// How much of it is whole.
    length: u64,
    /// Something may follow that is not.
    torn: bool,
}

impl Journal {
    /// Opens a lease's journal, or begins it; the games in it come too.
    pub(crate) fn open(path: &Path, header: &Header) -> io::Result<(Self, BTreeMap<u64, Record>)> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
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
        journal.mend()?;
        Ok((journal, games))
    }

    /// Adds a game. After a crash of the program it is there; after one of the machine, when it was synced.
    pub(crate) fn add(&mut self, header: &Header, number: u64, record: &Record) -> io::Result<()> {
        self.mend()?;
        let header = Header { first_game: number, ..header.clone() };
        let shard = shard_of(&header, [record])?;
        let mut bytes = Vec::with_capacity(HEAD + shard.len());
        bytes.extend((shard.len() as u32).to_le_bytes());
        bytes.extend(&Digest::of(&shard).as_bytes()[..CHECK]);
        bytes.extend(shard);
        self.torn = true;
        self.file.write_all(&bytes)?;
        self.torn = false;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// What syncs it, so that nobody who adds has to wait.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    fn mend(&mut self) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.length)?;
            self.torn = false;
        }
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }
}

/// The first game, its number, and what follows.
fn first_game<'a>(bytes: &'a [u8], header: &Header) -> Option<(u64, Record, &'a [u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (check, rest) = rest.split_first_chunk::<CHECK>()?;
    let (shard, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if Digest::of(shard).as_bytes()[..CHECK] != check[..] {
        return None;
    }
    let shard = Shard::new(shard.to_vec()).ok()?;
    if !header.differences(shard.header()).is_empty() {
        return None;
    }
    let (number, record) = shard.records().next()?.ok()?;
    Some((number, record, rest))
}

/// The bytes of a shard.
pub(crate) fn shard_of<'a>(header: &Header, games: impl IntoIterator<Item = &'a Record>) -> io::Result<Vec<u8>> {
    let mut shard = ShardWriter::new(Vec::new(), header.clone())?;
    let io = |error| match error {
        WriteError::Io(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    };
    games.into_iter().try_for_each(|record| shard.add(record)).map_err(io)?;
    Ok(shard.finish().map_err(io)?.0)
}
