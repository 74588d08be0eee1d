//! How games become bytes: entropy coding with odds that are learned, in integers.
//!
//! A block is games one after the other in one stream; it begins with the same odds as every other, so that it can be
//! read alone. What a search decided is coded and nothing else: openings are walked again from their attempt, positions
//! follow from the moves, seeds from the numbers. `docs/FORMATS.md` has the details, and what else was tried.
//!
//! What comes out is legal, whatever came in: a code that means an illegal move is an error. Whether games ended as they
//! say is for [`verify`](crate::verify) to find out.

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
    record::{MOST_SCORE, Record, ScoredMove},
};
use coder::{Decoder, Encoder};
use slots::Slots;

/// Why games and bytes do not fit each other.
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
    #[error("{moves} moves after the opening; at most {most} fit under the ply cap")]
    TooLong { moves: u64, most: u64 },
    #[error("ply {ply}: the move is not legal")]
    IllegalMove { ply: usize },
    #[error("ply {ply}: a score further from even than {MOST_SCORE}")]
    BeyondScores { ply: usize },
    #[error("the bytes end before the games, or the games before the bytes")]
    Misaligned,
}

/// A move on its way out of a block, with what was known when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Ply<'a> {
    /// The position in which it was made.
    pub position: &'a Position,
    /// The move and its score.
    pub scored: ScoredMove,
    /// The natural limit's counter before it.
    pub limit: LimitCounter,
    /// The how manieth move of the game it is, the opening's counted.
    pub number: usize,
}

/// Games on their way into a block.
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

    /// Adds the game with this number.
    ///
    /// # Errors
    ///
    /// If it is none that the header describes, or a move is not legal. Then the block is spoilt.
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

/// Games on their way out of a block.
pub struct BlockDecoder<'a> {
    header: &'a Header,
    coder: Decoder<'a>,
    slots: Slots,
    next: u64,
    left: u64,
}

impl<'a> BlockDecoder<'a> {
    /// Reads a block of so many games from this number on.
    #[must_use]
    pub fn new(header: &'a Header, bytes: &'a [u8], first: u64, games: u64) -> Self {
        Self { header, coder: Decoder::new(bytes), slots: Slots::new(), next: first, left: games }
    }

    /// The next game, and its number; `None` after the last. `each` sees every move with the position in which it was
    /// made.
    ///
    /// # Errors
    ///
    /// If the bytes are no games. What comes after an error means nothing.
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

/// Counts what each slot sees in some games: the tables of the format were made with it.
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
    /// Adds the game with this number.
    ///
    /// # Errors
    ///
    /// If it is none that the header describes.
    pub fn add(&mut self, header: &Header, number: u64, record: &Record) -> Result<(), CodecError> {
        let mut slots = Slots::new();
        let head = game::code_head(&mut self.0, &mut slots, header, number, Some(record))?;
        game::code_moves(&mut self.0, &mut slots, &head, Some(&record.moves), |_| {})
    }

    /// The odds seen, as the format has them.
    #[must_use]
    pub fn priors(&self) -> Vec<u8> {
        // Whatever was seen little is taken for less sure than it looked.
        let odds = self.0.0.iter().map(|[no, yes]| (65_536 * (2 * yes + 1)) / (2 * (no + yes) + 2));
        odds.flat_map(|odds| (odds.clamp(64, 65_472) as u16).to_le_bytes()).collect()
    }
}
