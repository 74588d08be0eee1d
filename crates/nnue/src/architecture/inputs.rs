//! What a net sees: which input a piece on a point is.

use xiangqi::{Color, Piece, PieceKind, Position, Square, attacks};

/// The places of a side's own king, mirrored to the d and e files.
pub const BUCKETS: usize = 6;

/// The (piece, point) pairs that can occur from a side's view: chariots, horses and cannons of both colours on 90
/// points, pawns on 55, elephants on 7, advisors on 5, the own king on 6 and the enemy's on 9.
pub const PIECE_POINTS: usize = 689;

/// How many inputs there are.
pub const INPUTS: usize = BUCKETS * PIECE_POINTS;

/// How a side sees the board: in which bucket its king stands, and whether left and right are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View(u8);

impl View {
    /// How many views a side can have.
    pub const COUNT: usize = 2 * BUCKETS;

    /// How `side` sees this position.
    #[must_use]
    #[inline]
    pub fn of(position: &Position, side: Color) -> Self {
        Self::from_kings(side, position.king(side), position.king(!side))
    }

    /// How `side` sees the board when the kings stand here.
    #[must_use]
    #[inline]
    pub fn from_kings(side: Color, own: Square, enemy: Square) -> Self {
        const E: u8 = 4;
        let own = if side == Color::Red { own } else { own.flipped() };
        let mirrored = own.file() > E || own.file() == E && enemy.file() > E;
        let from_edge = if own.file() > E { 8 - own.file() } else { own.file() };
        Self((own.rank() * 2 + from_edge - 3) << 1 | u8::from(mirrored))
    }

    /// The place in tables of all views.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The place of the own king, below [`BUCKETS`]: twice the rank, and one more on the e file.
    #[must_use]
    #[inline]
    pub const fn bucket(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether left and right are exchanged.
    #[must_use]
    #[inline]
    pub const fn is_mirrored(self) -> bool {
        self.0 & 1 == 1
    }

    /// The input, below [`INPUTS`], that says that `piece` stands on `square`, in a view of `side`'s. The piece must be
    /// able to stand there, and an own king be where the view says.
    #[must_use]
    #[inline]
    pub fn input(self, side: Color, piece: Piece, square: Square) -> usize {
        let table = &TABLE[side.index()][usize::from(self.is_mirrored())];
        let point = usize::from(table[piece.index()][square.index()]);
        debug_assert!(point < PIECE_POINTS, "no {piece:?} stands on {square}");
        self.bucket() * PIECE_POINTS + point
    }
}

/// The inputs that are on in a position from a side's view.
pub fn inputs(position: &Position, side: Color) -> impl Iterator<Item = usize> + '_ {
    let view = View::of(position, side);
    position.occupied().into_iter().filter_map(move |square| Some(view.input(side, position.piece_at(square)?, square)))
}

const NOWHERE: u16 = u16::MAX;

type Points = [[u16; Square::COUNT]; Piece::COUNT];

/// The pairs in their order: own pieces (here Red's), then the enemy's; kinds as [`PieceKind::index`] counts them;
/// points as [`Square::index`] does.
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

/// [`POINTS`] as each side sees them, straight and mirrored.
static TABLE: [[Points; 2]; 2] = {
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

/// Where among the [`PIECE_POINTS`] a pair is, own pieces being Red's; `None` if it cannot occur.
pub(crate) fn point(piece: Piece, square: Square) -> Option<usize> {
    let point = POINTS[piece.index()][square.index()];
    (point != NOWHERE).then_some(usize::from(point))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every view, with kings that give it.
    fn views(side: Color) -> Vec<(View, Square, Square)> {
        let palace = |color| attacks::palace(color).into_iter();
        palace(side)
            .flat_map(|own| palace(!side).map(move |enemy| (View::from_kings(side, own, enemy), own, enemy)))
            .collect()
    }

    #[test]
    fn inputs_are_numbered_without_gaps() {
        for side in Color::ALL {
            for mirrored in [false, true] {
                let mut met = vec![0_u32; INPUTS];
                for bucket in 0..BUCKETS {
                    let (view, own, _) = *views(side)
                        .iter()
                        .find(|(view, ..)| view.bucket() == bucket && view.is_mirrored() == mirrored)
                        .unwrap();
                    for piece in Piece::ALL {
                        for square in attacks::home(piece) {
                            let is_own_king = piece == Piece::new(side, PieceKind::King);
                            if is_own_king && (square.file() > 4) != (own.file() > 4 || mirrored) && square.file() != 4
                            {
                                continue;
                            }
                            met[view.input(side, piece, square)] += 1;
                        }
                    }
                }
                assert!(met.iter().all(|times| *times == 1));
            }
        }
    }

    #[test]
    fn the_own_king_is_on_its_buckets_point() {
        for side in Color::ALL {
            for (view, own, enemy) in views(side) {
                assert!(view.bucket() < BUCKETS && view.index() < View::COUNT);
                let king = Piece::new(side, PieceKind::King);
                let bucket_point = Square::new(3 + view.bucket() as u8 % 2, view.bucket() as u8 / 2).unwrap();
                let input = view.input(side, king, own);
                assert_eq!(input - view.bucket() * PIECE_POINTS, point(Piece::RedKing, bucket_point).unwrap());
                let seen_enemy = if view.is_mirrored() { enemy.mirrored() } else { enemy };
                assert!(bucket_point.file() == 3 || seen_enemy.file() <= 4);
            }
        }
    }

    #[test]
    fn a_mirrored_or_flipped_board_is_seen_alike() {
        for (view, own, enemy) in views(Color::Red) {
            let flipped = View::from_kings(Color::Black, own.flipped(), enemy.flipped());
            let mirrored = View::from_kings(Color::Red, own.mirrored(), enemy.mirrored());
            assert_eq!(view, flipped);
            assert_eq!(view.bucket(), mirrored.bucket());
            let straight = own.file() == 4 && enemy.file() == 4;
            assert_eq!(view.is_mirrored() == mirrored.is_mirrored(), straight);
            for piece in Piece::ALL.into_iter().filter(|piece| piece.kind() != PieceKind::King) {
                for square in attacks::home(piece) {
                    let input = view.input(Color::Red, piece, square);
                    let exchanged = Piece::new(!piece.color(), piece.kind());
                    assert_eq!(flipped.input(Color::Black, exchanged, square.flipped()), input);
                    if !straight {
                        assert_eq!(mirrored.input(Color::Red, piece, square.mirrored()), input);
                    }
                }
            }
        }
    }
}
