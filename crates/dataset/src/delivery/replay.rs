//! Validation by replay of every game.

use std::{collections::BTreeMap, ops::Range};

use xiangqi::rules::Outcome;

use super::{Refusal, precheck::open_checked};
use crate::{
    codec::Ply,
    digest::Digest,
    entrant::Entrant,
    header::Header,
    record::{Reason, Record},
    stats::{Figures, repeated},
    verify::{Fault, FaultKind, StartOf, Verifier},
};

/// With this many random plies, two games of a shard do not begin alike by chance: each ply has
/// some forty moves. With fewer, or with a book alone, they may, and games that begin alike are
/// equal, because a game is a function of its opening. Such duplicates are reported, not refused.
pub const DISTINCT_PLIES: u32 = 8;

/// The facts about replayed games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The number of games.
    pub games: u64,
    /// The number of moves after the openings.
    pub positions: u64,
    /// The number of games that Red won.
    pub red_wins: u64,
    /// The number of games that Black won.
    pub black_wins: u64,
    /// The number of draws, those by the ply cap included.
    pub draws: u64,
    /// The number of games by reason, without zeros.
    pub reasons: BTreeMap<Reason, u64>,
    /// The digests, in the order of the game numbers.
    pub digests: Vec<Digest>,
    /// Of a match: twice the points of A in each complete pair, in the order of the numbers. They
    /// are from 0 (lost both) to 4 (won both).
    pub pairs: Vec<u8>,
    /// Statistics of the positions with a searched move.
    pub figures: Figures,
    /// The number of positions (pieces and turn) that had occurred before in the same bytes.
    pub repeated_positions: u64,
    /// Of a match under a clock: for each of these pairs, the games that A lost on time, and B.
    pub time_losses: Vec<[u8; 2]>,
    /// The games equal to an earlier one of another pair, where that may be chance.
    pub repeated: Vec<u64>,
}

/// Verifies that these bytes are the requested games: all checks of
/// [`precheck()`](super::precheck()), then a replay of every game. `start_of` knows the book's
/// positions; without it, starts are taken as recorded.
///
/// Besides the bytes it holds a block, a game, some hundred bytes per requested game, and eight per
/// position.
///
/// # Errors
///
/// The first violation that is found.
pub fn by_replay(
    bytes: &[u8],
    expected: &Header,
    games: Range<u64>,
    start_of: Option<&StartOf<'_>>,
) -> Result<Proof, Refusal> {
    let shard = open_checked(bytes, expected, games)?;
    let header = shard.header();
    let mut verifier = Verifier::new(header, start_of);
    let mut proof = Proof::default();
    let mut first_game_of_pair = None;
    let mut keys = Vec::new();
    let mut figures = Figures::default();
    for block in 0..shard.index().len() {
        let mut refused = None;
        let read = shard.block(block).and_then(|block| {
            let figures = &mut figures;
            let position = |ply: Ply<'_>| {
                keys.push(ply.position.key());
                figures.add(&ply);
            };
            block.read_with(position, |number, record| {
                if refused.is_some() {
                    return;
                }
                if let Err(fault) = verifier.verify(number, &record) {
                    if !is_chance(header, &fault) {
                        refused = Some(Refusal::of_fault(fault));
                        return;
                    }
                    proof.repeated.push(number);
                }
                proof.add(&record);
                if header.opponent.is_some() {
                    proof.add_of_pair(header, number, &record, &mut first_game_of_pair);
                }
            })
        });
        // A fault in a decoded game precedes the end of the readable bytes.
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        read.map_err(|error| Refusal::of_bytes(bytes, &error))?;
    }
    proof.figures = figures;
    proof.repeated_positions = repeated(&mut keys);
    Ok(proof)
}

/// Whether honest players may cause this fault by chance.
fn is_chance(header: &Header, fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Duplicate { .. }) && header.openings.plies < DISTINCT_PLIES
}

impl Proof {
    fn add(&mut self, record: &Record) {
        self.games += 1;
        self.positions += record.moves.len() as u64;
        match record.outcome {
            Outcome::RedWins => self.red_wins += 1,
            Outcome::BlackWins => self.black_wins += 1,
            Outcome::Draw => self.draws += 1,
        }
        *self.reasons.entry(record.reason).or_default() += 1;
        self.digests.push(record.digest());
    }

    /// Adds a game of a match. `first` holds the pair's first game until its second.
    fn add_of_pair(&mut self, header: &Header, number: u64, record: &Record, first: &mut Option<OfPair>) {
        let second = number % 2 == 1;
        let loser = record.outcome.loser().map(|loser| Entrant::playing(loser, second));
        let mut game = OfPair { points: 1, time_losses: [0, 0] };
        if let Some(loser) = loser {
            game.points = if loser == Entrant::A { 0 } else { 2 };
            game.time_losses[usize::from(loser == Entrant::B)] = u8::from(record.reason == Reason::TimeLoss);
        }
        if !second {
            *first = Some(game);
        } else if let Some(first) = first.take() {
            self.pairs.push(first.points + game.points);
            if header.clock.is_some() {
                self.time_losses
                    .push([0, 1].map(|entrant: usize| first.time_losses[entrant] + game.time_losses[entrant]));
            }
        }
    }
}

/// The result of one game of a pair.
struct OfPair {
    /// Twice A's points.
    points: u8,
    /// The losses on time of A, and of B.
    time_losses: [u8; 2],
}
