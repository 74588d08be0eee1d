//! Replay of all games of a shard.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    iter,
    num::NonZeroUsize,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use sha2::{Digest as _, Sha256};
use xiangqi::{Fen, Move};

use super::{Fault, FaultKind, verify_game};
use crate::{
    Header,
    record::{Opening, Record},
    shard::{Shard, ShardError, Source},
};

/// Returns the start of the game with a seed, from the header's book.
pub type StartOf<'a> = dyn Fn(u64) -> Fen + Sync + 'a;

/// Verifies games in order, and finds duplicates among them.
pub struct Verifier<'a> {
    games: Games<'a>,
    seen: Seen<'a>,
}

impl<'a> Verifier<'a> {
    /// Creates a verifier for this header. Without `start_of`, starts are taken as recorded.
    #[must_use]
    pub fn new(header: &'a Header, start_of: Option<&'a StartOf<'a>>) -> Self {
        Self { games: Games { header, start_of }, seen: Seen::new(header) }
    }

    /// Verifies a game.
    ///
    /// # Errors
    ///
    /// The first violation.
    pub fn verify(&mut self, number: u64, record: &Record) -> Result<(), Fault> {
        let sound = self.games.verify(number, record)?;
        self.seen.add(number, sound)
    }
}

/// The checks of a game alone.
#[derive(Clone, Copy)]
struct Games<'a> {
    header: &'a Header,
    start_of: Option<&'a StartOf<'a>>,
}

impl Games<'_> {
    fn verify(self, number: u64, record: &Record) -> Result<Sound, Fault> {
        if let Some(start_of) = self.start_of
            && self.header.openings.book.is_some()
            && start_of(self.header.seed_of(number)) != record.opening.start
        {
            return Err(Fault { game: number, ply: None, kind: FaultKind::Start });
        }
        verify_game(self.header, number, record)?;
        let after = record.moves.iter().map(|scored| scored.mv);
        let opening = self.header.opponent.map(|_| hash_of(&record.opening, iter::empty()));
        Ok(Sound { moves: hash_of(&record.opening, after), opening })
    }
}

/// The hashes of a verified game, for comparison with others.
struct Sound {
    moves: Moves,
    /// Those of its opening, in a match.
    opening: Option<Moves>,
}

/// Half a SHA-256 of a game's start and moves; collisions are infeasible.
type Moves = [u8; 16];

fn hash_of(opening: &Opening, after: impl Iterator<Item = Move>) -> Moves {
    let mut bytes = Vec::with_capacity(600);
    bytes.extend(opening.moves.iter().copied().chain(after).flat_map(|mv| mv.to_bits().to_le_bytes()));
    bytes.extend(opening.start.to_string().bytes());
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    *digest.first_chunk().expect("a digest is longer than its half")
}

/// The verified games and their numbers.
struct Seen<'a> {
    header: &'a Header,
    first: BTreeMap<Moves, u64>,
    /// The previous game's number and opening.
    before: Option<(u64, Moves)>,
}

impl<'a> Seen<'a> {
    const fn new(header: &'a Header) -> Self {
        Self { header, first: BTreeMap::new(), before: None }
    }

    /// Adds a game; a duplicate is a fault, which names the first. But the two games of a pair must
    /// begin alike, and are equal where both entrants move alike: that is not a fault.
    fn add(&mut self, number: u64, Sound { moves, opening }: Sound) -> Result<(), Fault> {
        if let Some(opening) = opening
            && let Some((of, other)) = self.before.replace((number, opening))
            && self.header.are_pair(of, number)
            && other != opening
        {
            return Err(Fault { game: number, ply: None, kind: FaultKind::Pair { of } });
        }
        match self.first.entry(moves) {
            Entry::Vacant(place) => {
                place.insert(number);
                Ok(())
            }
            Entry::Occupied(first) if self.header.are_pair(*first.get(), number) => Ok(()),
            Entry::Occupied(first) => {
                Err(Fault { game: number, ply: None, kind: FaultKind::Duplicate { of: *first.get() } })
            }
        }
    }
}

/// The result of verifying a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of games verified.
    pub games: u64,
    /// The number of their moves after the openings.
    pub positions: u64,
    /// The violations, in the order of the games.
    pub faults: Vec<Fault>,
}

/// Verifies a shard, its blocks in parallel; the report does not depend on the number of threads.
/// Every block is read. A game that cannot be decoded is a fault, which stands for the rest of its
/// block too.
///
/// # Errors
///
/// If a block is damaged: then the bytes are not those that were written.
pub fn verify_shard<S: Source + Sync>(
    shard: &Shard<S>,
    start_of: Option<&StartOf<'_>>,
    threads: NonZeroUsize,
) -> Result<Report, ShardError> {
    verify_shard_with(shard, start_of, threads, |_| ())
}

/// [`verify_shard`], which calls `progress` with the number of verified games after each block.
///
/// # Errors
///
/// See [`verify_shard`].
pub fn verify_shard_with<S: Source + Sync>(
    shard: &Shard<S>,
    start_of: Option<&StartOf<'_>>,
    threads: NonZeroUsize,
    mut progress: impl FnMut(u64),
) -> Result<Report, ShardError> {
    let games = Games { header: shard.header(), start_of };
    let blocks = shard.index().len();
    let mut sum = Sum { blocks: 0, seen: Seen::new(shard.header()), report: Report::default() };
    if threads.get() == 1 {
        for block in 0..blocks {
            sum.add(verify_block(shard, games, block)?);
            progress(sum.report.games);
        }
        return Ok(sum.report);
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, verified) = mpsc::channel();
        for _ in 0..threads.get().min(blocks) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let block = next.fetch_add(1, Ordering::Relaxed);
                    // The receiver is gone after an error in an earlier block.
                    if block >= blocks || sender.send((block, verify_block(shard, games, block))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Blocks arrive in any order and are added in their own.
        let mut early = BTreeMap::new();
        for (block, found) in verified {
            early.insert(block, found);
            while let Some(entry) = early.first_entry().filter(|entry| *entry.key() == sum.blocks) {
                sum.add(entry.remove()?);
                progress(sum.report.games);
            }
        }
        Ok(sum.report)
    })
}

/// The verified games of a block, each with its hashes or its fault.
#[derive(Default)]
struct Verified {
    games: Vec<(u64, Result<Sound, Fault>)>,
    positions: u64,
    unreadable: Option<Fault>,
}

fn verify_block(shard: &Shard<impl Source>, games: Games<'_>, block: usize) -> Result<Verified, ShardError> {
    let mut verified = Verified::default();
    let read = shard.block(block)?.read(|number, record| {
        verified.positions += record.moves.len() as u64;
        verified.games.push((number, games.verify(number, &record)));
    });
    match read {
        Err(ShardError::Game { game, cause, .. }) => {
            verified.unreadable = Some(Fault { game, ply: None, kind: FaultKind::Unreadable(cause) });
        }
        other => other?,
    }
    Ok(verified)
}

/// The report so far, and the next block.
struct Sum<'a> {
    blocks: usize,
    seen: Seen<'a>,
    report: Report,
}

impl Sum<'_> {
    fn add(&mut self, Verified { games, positions, unreadable }: Verified) {
        let Self { blocks, seen, report } = self;
        *blocks += 1;
        report.games += games.len() as u64;
        report.positions += positions;
        let faults =
            games.into_iter().filter_map(|(number, found)| found.and_then(|sound| seen.add(number, sound)).err());
        report.faults.extend(faults.chain(unreadable));
    }
}
