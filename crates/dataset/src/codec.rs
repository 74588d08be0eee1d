//! The codec of games: adaptive entropy coding in integers.
//!
//! A block is a stream of games. Every block begins with the same probabilities, so that it can be
//! read alone. Only the search's decisions are coded: openings are walked again from their attempt,
//! positions follow from the moves, seeds from the numbers. `docs/FORMATS.md` has the details, and
//! the variants that were tried.
//!
//! Decoded games are legal for any input: a code that means an illegal move is an error. Whether
//! games ended as recorded is checked by [`verify`](crate::verify).

mod coder;
mod game;
mod moves;
mod number;
mod scores;
mod slots;
mod start;

use xiangqi::{FenError, Position, rules::LimitCounter};

use crate::{
    Header,
    opening::Rejection,
    record::{MAX_SCORE, Record, ScoredMove},
};
use coder::{Decoder, Encoder};
use slots::Slots;

/// The reason why games cannot be encoded or decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum CodecError {
    #[error("the walk of attempt {attempt} is no opening: {cause}")]
    NoOpening { attempt: u64, cause: Rejection },
    #[error("the record's opening is not what its rules, start, seed and attempt lead to")]
    OtherOpening,
    #[error("the start: {0}")]
    Start(FenError),
    #[error("there is no such outcome")]
    NoSuchOutcome,
    #[error("there is no such reason")]
    NoSuchReason,
    #[error("{moves} moves after the opening; at most {max} fit under the ply cap")]
    TooLong { moves: u64, max: u64 },
    #[error("ply {ply}: the move is not legal")]
    IllegalMove { ply: usize },
    #[error("ply {ply}: a score further from even than {MAX_SCORE}")]
    BeyondScores { ply: usize },
    #[error("the bytes end before the games, or the games before the bytes")]
    Misaligned,
}

/// A decoded move with its context.
#[derive(Clone, Copy, Debug)]
pub struct Ply<'a> {
    /// The position before the move.
    pub position: &'a Position,
    /// The move and its score.
    pub scored: ScoredMove,
    /// The natural limit's counter before the move.
    pub limit: LimitCounter,
    /// The ply of the game, from 1, the opening counted.
    pub number: usize,
}

/// Encodes games into a block.
pub struct BlockEncoder {
    coder: Encoder,
    slots: Slots,
}

impl Default for BlockEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl BlockEncoder {
    /// An empty block.
    #[must_use]
    pub fn new() -> Self {
        Self { coder: Encoder::new(), slots: Slots::new() }
    }

    /// Encodes the game with this number.
    ///
    /// # Errors
    ///
    /// If it is not a game of this header, or a move is illegal. Afterwards the block is unusable.
    pub fn add(&mut self, header: &Header, number: u64, record: &Record) -> Result<(), CodecError> {
        let (coder, slots) = (&mut self.coder, &mut self.slots);
        let head = game::code_head(coder, slots, header, number, Some(record))?;
        if head.opening != record.opening {
            return Err(CodecError::OtherOpening);
        }
        game::code_moves(coder, slots, &head, Some(&record.moves), |_| {})
    }

    /// The block's bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.coder.finish()
    }
}

/// Decodes the games of a block.
pub struct BlockDecoder<'a> {
    header: &'a Header,
    coder: Decoder<'a>,
    slots: Slots,
    next: u64,
    left: u64,
}

impl<'a> BlockDecoder<'a> {
    /// Decodes `games` games; the first has the number `first`.
    #[must_use]
    pub fn new(header: &'a Header, bytes: &'a [u8], first: u64, games: u64) -> Self {
        Self { header, coder: Decoder::new(bytes), slots: Slots::new(), next: first, left: games }
    }

    /// Decodes the next game and returns it with its number; `None` after the last. `each` is
    /// called for every move.
    ///
    /// # Errors
    ///
    /// If the bytes are not games. The decoder is unusable after an error.
    pub fn next(&mut self, mut each: impl FnMut(Ply<'_>)) -> Result<Option<(u64, Record)>, CodecError> {
        if self.left == 0 {
            return if self.coder.is_at_end() { Ok(None) } else { Err(CodecError::Misaligned) };
        }
        let (coder, slots, number) = (&mut self.coder, &mut self.slots, self.next);
        let head = game::code_head(coder, slots, self.header, number, None)?;
        let mut moves = Vec::with_capacity(head.length);
        game::code_moves(coder, slots, &head, None, |ply| {
            moves.push(ply.scored);
            each(ply);
        })?;
        if self.coder.is_past_end() {
            return Err(CodecError::Misaligned);
        }
        self.next = self.next.wrapping_add(1);
        self.left -= 1;
        Ok(Some((number, Record { opening: head.opening, moves, outcome: head.outcome, reason: head.reason })))
    }
}

/// Counts the bits that each slot codes in some games; the format's initial probabilities were made
/// with it.
#[cfg(feature = "tuning")]
pub struct Tuner(coder::Tally);

#[cfg(feature = "tuning")]
impl Default for Tuner {
    fn default() -> Self {
        Self(coder::Tally(vec![[0; 2]; slots::COUNT]))
    }
}

#[cfg(feature = "tuning")]
impl Tuner {
    /// Counts the game with this number.
    ///
    /// # Errors
    ///
    /// If it is not a game of this header.
    pub fn add(&mut self, header: &Header, number: u64, record: &Record) -> Result<(), CodecError> {
        let mut slots = Slots::new();
        let head = game::code_head(&mut self.0, &mut slots, header, number, Some(record))?;
        game::code_moves(&mut self.0, &mut slots, &head, Some(&record.moves), |_| {})
    }

    /// The measured probabilities, in the format of `priors.bin`.
    #[must_use]
    pub fn priors(&self) -> Vec<u8> {
        // Laplace smoothing: rarely used slots stay near one half.
        let odds = self.0.0.iter().map(|[no, yes]| (65_536 * (2 * yes + 1)) / (2 * (no + yes) + 2));
        odds.flat_map(|odds| (odds.clamp(64, 65_472) as u16).to_le_bytes()).collect()
    }
}
