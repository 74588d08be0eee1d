//! The numbering of possible (piece, point) pairs.

use xiangqi::{Piece, PieceKind, Square, attacks};

/// The number of possible (piece, point) pairs from a side's view. Chariots, horses and cannons of
/// both colours have 90 points, pawns 55, elephants 7, advisors 5. The own king has 6, the enemy's
/// 9.
pub const PIECE_POINTS: usize = 689;

/// The entry of an impossible pair.
const NOWHERE: u16 = u16::MAX;

type Points = [[u16; Square::COUNT]; Piece::COUNT];

/// The numbers of the pairs: own pieces (here Red's), then the enemy's; kinds by
/// [`PieceKind::index`], points by [`Square::index`].
const POINTS: Points = {
    let mut points = [[NOWHERE; Square::COUNT]; Piece::COUNT];
    let mut next = 0;
    let mut piece = 0;
    while piece < Piece::COUNT {
        let mut index = 0;
        while index < Square::COUNT {
            let square = square(index);
            let beyond = matches!(Piece::ALL[piece], Piece::RedKing) && square.file() > 4;
            if attacks::home(Piece::ALL[piece]).contains(square) && !beyond {
                points[piece][index] = next;
                next += 1;
            }
            index += 1;
        }
        piece += 1;
    }
    assert!(next as usize == PIECE_POINTS);
    points
};

/// [`POINTS`] by side, straight and mirrored.
pub(super) static TABLE: [[Points; 2]; 2] = {
    let mut table = [[[[NOWHERE; Square::COUNT]; Piece::COUNT]; 2]; 2];
    let mut piece = 0;
    while piece < Piece::COUNT {
        let kinds = PieceKind::COUNT;
        let mut index = 0;
        while index < Square::COUNT {
            let square = square(index);
            let exchanged = (piece + kinds) % Piece::COUNT;
            let flipped = square.flipped();
            table[0][0][piece][index] = POINTS[piece][index];
            table[0][1][piece][index] = POINTS[piece][square.mirrored().index()];
            table[1][0][piece][index] = POINTS[exchanged][flipped.index()];
            table[1][1][piece][index] = POINTS[exchanged][flipped.mirrored().index()];
            index += 1;
        }
        piece += 1;
    }
    table
};

const fn square(index: usize) -> Square {
    match Square::from_index(index) {
        Some(square) => square,
        None => unreachable!(),
    }
}

/// Returns the number of a pair, own pieces being Red's; `None` if it is impossible.
pub(crate) fn point(piece: Piece, square: Square) -> Option<usize> {
    let point = POINTS[piece.index()][square.index()];
    (point != NOWHERE).then_some(usize::from(point))
}
