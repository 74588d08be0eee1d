//! Every game, played again.

use std::{collections::BTreeMap, ops::Range};

use xiangqi::rules::Outcome;

use super::{Refusal, door::opened};
use crate::{
    codec::Ply,
    digest::Digest,
    entrant::Entrant,
    header::Header,
    record::{Reason, Record},
    stats::{Figures, repeated},
    verify::{Fault, FaultKind, StartOf, Verifier},
};

/// From so many random moves on, two games of a shard do not begin alike by chance: there are some forty moves to
/// choose from each time. With fewer, or with a book alone, they may; and games that begin alike are the same, because
/// a game is a function. Where honest players cannot help it a game that comes twice is told, not refused.
pub const DISTINCT_PLIES: u32 = 8;

/// What is known of games that were played again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many there are.
    pub games: u64,
    /// Their moves after the openings.
    pub positions: u64,
    /// How many of them Red won.
    pub red_wins: u64,
    /// How many Black won.
    pub black_wins: u64,
    /// How many nobody won; games that grew too long are among them.
    pub draws: u64,
    /// How many ended for each reason; those for which none did are not in it.
    pub reasons: BTreeMap<Reason, u64>,
    /// Their digests, in the order of their numbers.
    pub digests: Vec<Digest>,
    /// Of a match: for each pair of which both games are here, twice the points of A, from 0 (lost both) to 4 (won
    /// both). In the order of their numbers.
    pub pairs: Vec<u8>,
    /// What their positions with a move of the search are like.
    pub figures: Figures,
    /// How many of these positions, pieces and turn, were there already in the same bytes.
    pub repeated_positions: u64,
    /// Of a match under time: for each of these pairs, in how many of its games A lost on time, and B.
    pub time_losses: Vec<[u8; 2]>,
    /// Those that are the same as an earlier one of another pair, where this may be chance.
    pub repeated: Vec<u64>,
}

/// Whether these bytes are the games that were asked for: everything that [`at_the_door`](super::at_the_door) asks, and
/// every game played again. `start_of` knows the book's positions; without it starts are taken as they are recorded.
///
/// Besides the bytes it holds a block, a game, some hundred bytes for each game asked for, and eight for each of
/// their positions.
///
/// # Errors
///
/// With the first thing that is wrong with them.
pub fn by_replay(
    bytes: &[u8],
    expected: &Header,
    games: Range<u64>,
    start_of: Option<&StartOf<'_>>,
) -> Result<Proof, Refusal> {
    let shard = opened(bytes, expected, games)?;
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
        // What was read before the bytes made no sense comes first.
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        read.map_err(|error| Refusal::of_bytes(bytes, &error))?;
    }
    proof.figures = figures;
    proof.repeated_positions = repeated(&mut keys);
    Ok(proof)
}

/// Whether a fault is one that honest players cannot help.
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

    /// `first` keeps what a pair's first game brought until its second comes.
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

/// What a game of a pair brought.
struct OfPair {
    /// Twice A's points.
    points: u8,
    /// Whether A lost it on time, and whether B did.
    time_losses: [u8; 2],
}
