//! The selection of the layer stack (output bucket) by material.

use xiangqi::{PieceKind, Position};

/// The force of a piece, by [`PieceKind::index`]: roughly its attacking value. Advisors, elephants
/// and kings do not mark the phase of a game.
pub(super) const FORCE: [u32; PieceKind::COUNT] = [6, 3, 3, 1, 0, 0, 0];

/// The force of the starting position, the maximum.
const MAX_FORCE: u32 = 4 * 6 + 8 * 3 + 10;

/// Returns the stack of a position: the force of both sides, in equal steps. The last stack is the
/// opening's, the first that of bare endings.
#[must_use]
#[inline]
pub fn stack(position: &Position, stacks: usize) -> usize {
    let force: u32 = PieceKind::ALL
        .into_iter()
        .filter(|kind| FORCE[kind.index()] > 0)
        .map(|kind| FORCE[kind.index()] * position.by_kind(kind).count())
        .sum();
    of_force(force, stacks)
}

/// [`stack`] for a list of pieces.
#[must_use]
#[inline]
pub fn stack_of_pieces(pieces: impl IntoIterator<Item = PieceKind>, stacks: usize) -> usize {
    of_force(pieces.into_iter().map(|kind| FORCE[kind.index()]).sum(), stacks)
}

const fn of_force(force: u32, stacks: usize) -> usize {
    force as usize * stacks / (MAX_FORCE as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_follow_the_force() {
        let stack_of = |fen: &str, stacks| stack(&Position::from_fen(fen).unwrap(), stacks);
        let start = Position::start();
        let kinds = || start.occupied().into_iter().map(|square| start.piece_at(square).unwrap().kind());
        for stacks in 1..=16 {
            assert_eq!(stack_of_pieces(kinds(), stacks), stacks - 1);
            assert_eq!(stack_of(Position::START_FEN, stacks), stacks - 1);
            assert_eq!(stack_of("3akab2/9/9/9/9/9/9/9/9/3K5 w", stacks), 0);
        }
        // A chariot, a horse and five pawns each.
        assert_eq!(stack_of("2bakab2/r3n4/9/p1p1p1p1p/9/9/P1P1P1P1P/9/R3N4/2BAKAB2 w", 8), 3);
        assert_eq!(stack_of("3k5/9/9/9/9/9/9/9/4R4/4K4 w", 16), 1);
    }
}
