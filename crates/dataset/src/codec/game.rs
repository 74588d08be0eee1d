//! Coding of one game, in both directions.

use xiangqi::{
    Fen, Position,
    rules::{LimitCounter, Outcome},
};

use super::{
    CodecError, Ply,
    coder::Coder,
    moves::{self, LastMoves},
    number,
    scores::{self, Previous},
    slots::{ATTEMPT, LENGTH, OUTCOME, REASON, Slots},
    start,
};
use crate::{
    Header,
    opening::{RandomWalk, Walker},
    record::{Opening, Reason, Record, ScoredMove},
};

const OUTCOMES: [Outcome; 3] = [Outcome::RedWins, Outcome::BlackWins, Outcome::Draw];

/// A game's fields before its moves.
pub(super) struct Head {
    pub(super) opening: Opening,
    pub(super) outcome: Outcome,
    pub(super) reason: Reason,
    /// The number of moves after the opening.
    pub(super) length: usize,
    /// The position after the opening, and the natural limit's counter.
    pub(super) position: Position,
    limit: LimitCounter,
    before: LastMoves,
}

/// Codes everything before the moves, and walks the opening.
pub(super) fn code_head<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    header: &Header,
    number: u64,
    known: Option<&Record>,
) -> Result<Head, CodecError> {
    let start = if header.openings.book.is_some() {
        start::code(coder, slots, known.map(|record| &record.opening.start)).map_err(CodecError::Start)?
    } else {
        Fen::start()
    };
    let attempt = number::code(coder, slots, ATTEMPT, known.map_or(0, |record| record.opening.attempt));
    let outcome = code_outcome(coder, slots, known)?;
    let reason = code_reason(coder, slots, header, outcome, known)?;
    let length = number::code(coder, slots, LENGTH, known.map_or(0, |record| record.moves.len() as u64));
    let max = header.max_moves();
    if length > max {
        return Err(CodecError::TooLong { moves: length, max });
    }
    let seed = header.seed_of(number);
    let walker = Walker { start, rules: header.rules, plies: header.openings.plies };
    let RandomWalk { position, moves, captured, limit } =
        walker.walk_unjudged(seed, attempt).map_err(|cause| CodecError::NoOpening { attempt, cause })?;
    let mut before = LastMoves::default();
    for mv in moves.iter().rev().take(2).rev() {
        before = before.then(*mv, captured);
    }
    let opening = Opening { rules: header.rules, start: walker.start, seed, attempt, moves };
    Ok(Head { opening, outcome, reason, length: length as usize, position, limit, before })
}

fn code_outcome<C: Coder>(coder: &mut C, slots: &mut Slots, known: Option<&Record>) -> Result<Outcome, CodecError> {
    let known = known.and_then(|record| OUTCOMES.iter().position(|it| *it == record.outcome)).unwrap_or(0);
    let high = usize::from(coder.bit(slots, OUTCOME + 1, known >> 1 == 1));
    let low = usize::from(coder.bit(slots, OUTCOME + 2 + high, known & 1 == 1));
    OUTCOMES.get(high << 1 | low).copied().ok_or(CodecError::NoSuchOutcome)
}

fn code_reason<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    header: &Header,
    outcome: Outcome,
    known: Option<&Record>,
) -> Result<Reason, CodecError> {
    let known = known.and_then(|record| Reason::all().position(|it| it == record.reason)).unwrap_or(0);
    let tree = REASON + 16 * OUTCOMES.iter().position(|it| *it == outcome).unwrap_or(0);
    let reason = Reason::all().nth(coder.tree(slots, tree, 4, known as u32) as usize);
    // Only a game under a clock is lost on time.
    reason.filter(|reason| *reason != Reason::TimeLoss || header.clock.is_some()).ok_or(CodecError::NoSuchReason)
}

/// Codes the moves; `each` is called for every one with the position before it.
pub(super) fn code_moves<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    head: &Head,
    known: Option<&[ScoredMove]>,
    mut each: impl FnMut(Ply<'_>),
) -> Result<(), CodecError> {
    let mut position = head.position.clone();
    let mut before = head.before;
    let mut previous = Previous::default();
    let mut limit = head.limit;
    for ply in 0..head.length {
        let known = known.map(|moves| moves[ply]);
        let known_move = known.map(|scored| scored.mv);
        let number = head.opening.moves.len() + ply + 1;
        let mv = moves::code(coder, slots, &position, before, known_move)
            .filter(|mv| known_move.is_none_or(|known| known == *mv) && position.keeps_king_safe(*mv))
            .ok_or(CodecError::IllegalMove { ply: number })?;
        let beyond = CodecError::BeyondScores { ply: number };
        let score = scores::code(coder, slots, previous, known).map_err(|scores::Beyond| beyond.clone())?;
        if known.is_some_and(|known| known.score != score) {
            return Err(beyond);
        }
        each(Ply { position: &position, scored: ScoredMove { mv, score }, limit, number });
        previous = previous.then(score);
        let (mover, answers_check) = (position.turn(), position.in_check());
        let captures = position.make(mv).captured().is_some();
        limit = limit.after(mover, captures, position.in_check(), answers_check);
        before = before.then(mv, captures);
    }
    Ok(())
}
