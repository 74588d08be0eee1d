//! All games of a shard.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use xiangqi::Fen;

use super::{Fault, FaultKind, verify_game};
use crate::{
    Header,
    record::Record,
    shard::{Shard, ShardError, Source},
};

/// Verifies games one after the other, and knows those it has seen.
pub struct Verifier<'a> {
    header: &'a Header,
    start_of: Option<&'a dyn Fn(u64) -> Fen>,
    seen: BTreeMap<[u8; 16], u64>,
}

impl<'a> Verifier<'a> {
    /// A verifier of games under this header. `start_of` says from where the game with a seed starts: whoever has the
    /// header's book knows; without it, starts are taken as they are recorded.
    #[must_use]
    pub fn new(header: &'a Header, start_of: Option<&'a dyn Fn(u64) -> Fen>) -> Self {
        Self { header, start_of, seen: BTreeMap::new() }
    }

    /// Verifies a game.
    ///
    /// # Errors
    ///
    /// With the first thing that is wrong with it.
    pub fn verify(&mut self, number: u64, record: &Record) -> Result<(), Fault> {
        if let Some(start_of) = self.start_of
            && self.header.openings.book.is_some()
            && start_of(self.header.seed_of(number)) != record.opening.start
        {
            return Err(Fault { game: number, ply: None, kind: FaultKind::Start });
        }
        verify_game(self.header, number, record)?;
        match self.seen.insert(moves_of(record), number) {
            None => Ok(()),
            Some(of) => Err(Fault { game: number, ply: None, kind: FaultKind::Duplicate { of } }),
        }
    }
}

/// The moves of a game and where it starts, as half a SHA-256: nobody finds two of one.
fn moves_of(record: &Record) -> [u8; 16] {
    let mut bytes = Vec::with_capacity(2 * (record.opening.moves.len() + record.moves.len()) + 100);
    let moves = record.opening.moves.iter().copied().chain(record.moves.iter().map(|scored| scored.mv));
    bytes.extend(moves.flat_map(|mv| mv.to_bits().to_le_bytes()));
    bytes.extend(record.opening.start.to_string().bytes());
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    *digest.first_chunk().expect("a digest is longer than its half")
}

/// What was found in a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many games were looked at.
    pub games: u64,
    /// How many moves these have after their openings.
    pub positions: u64,
    /// What is wrong, in the order of the games.
    pub faults: Vec<Fault>,
}

/// Verifies a shard. Every block is read; a game that cannot be read is a fault, which stands for the games behind
/// it in its block as well.
///
/// # Errors
///
/// If a block is damaged: then it is not what was written, and says nothing.
pub fn verify_shard<S: Source>(shard: &Shard<S>, start_of: Option<&dyn Fn(u64) -> Fen>) -> Result<Report, ShardError> {
    let mut verifier = Verifier::new(shard.header(), start_of);
    let mut report = Report::default();
    for block in 0..shard.index().len() {
        let read = shard.block(block)?.read(|number, record| {
            report.games += 1;
            report.positions += record.moves.len() as u64;
            report.faults.extend(verifier.verify(number, &record).err());
        });
        match read {
            Err(ShardError::Game { game, cause, .. }) => {
                report.faults.push(Fault { game, ply: None, kind: FaultKind::Unreadable(cause) });
            }
            other => other?,
        }
    }
    Ok(report)
}
