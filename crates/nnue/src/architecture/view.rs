//! The perspective of a side.

use xiangqi::{Color, Piece, Square};

use super::{
    Attackers,
    points::{PIECE_POINTS, TABLE},
};

/// The number of king buckets: the places of the own king, mirrored to the d and e files.
pub const KING_BUCKETS: usize = 6;

/// A side's view of the board: its bucket, and whether the board is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View(u8);

impl View {
    /// The number of views for each value of attackers.
    const OF_KINGS: u8 = 2 * KING_BUCKETS as u8;

    /// Returns the view of `side` by the kings' places alone.
    #[must_use]
    #[inline]
    pub fn from_kings(side: Color, own: Square, enemy: Square) -> Self {
        const E: u8 = 4;
        let own = if side == Color::Red { own } else { own.flipped() };
        let mirrored = own.file() > E || own.file() == E && enemy.file() > E;
        let from_edge = if own.file() > E { 8 - own.file() } else { own.file() };
        Self((own.rank() * 2 + from_edge - 3) << 1 | u8::from(mirrored))
    }

    /// Replaces the attackers.
    #[must_use]
    #[inline]
    pub const fn with_attackers(self, attackers: Attackers) -> Self {
        Self(self.0 % Self::OF_KINGS + attackers.index() as u8 * Self::OF_KINGS)
    }

    /// Replaces the kings' part by that of another view.
    #[must_use]
    #[inline]
    pub const fn with_kings_of(self, other: Self) -> Self {
        Self(self.0 - self.0 % Self::OF_KINGS + other.0 % Self::OF_KINGS)
    }

    /// The index, below [`Inputs::views`](super::Inputs::views).
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The bucket: the king bucket (twice the rank, plus one on the e file), plus [`KING_BUCKETS`]
    /// times the attackers, if the inputs have them.
    #[must_use]
    #[inline]
    pub const fn bucket(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the board is mirrored.
    #[must_use]
    #[inline]
    pub const fn is_mirrored(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the input of `piece` on `square` in a view of `side`, below
    /// [`Inputs::count`](super::Inputs::count). The piece must be able to stand there. An own king
    /// must be in the view's bucket, and an own attacker among the view's attackers.
    #[must_use]
    #[inline]
    pub fn input(self, side: Color, piece: Piece, square: Square) -> usize {
        let table = &TABLE[side.index()][usize::from(self.is_mirrored())];
        let point = usize::from(table[piece.index()][square.index()]);
        debug_assert!(point < PIECE_POINTS, "no {piece:?} stands on {square}");
        self.bucket() * PIECE_POINTS + point
    }
}

#[cfg(test)]
mod tests {
    use xiangqi::{PieceKind, attacks};

    use super::*;
    use crate::architecture::{Inputs, points::point};

    /// Returns every view, with the kings' places.
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
                let mut met = vec![0_u32; Inputs::Kings.count()];
                for bucket in 0..KING_BUCKETS {
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
                assert!(view.bucket() < KING_BUCKETS && view.index() < Inputs::Kings.views());
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
    fn mirrored_and_flipped_boards_have_equal_inputs() {
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

    #[test]
    fn kings_and_attackers_are_replaced_independently() {
        for (view, ..) in views(Color::Red) {
            for attackers in Attackers::ALL {
                let extended = view.with_attackers(attackers);
                assert_eq!(extended.bucket(), attackers.index() * KING_BUCKETS + view.bucket());
                assert_eq!(extended.is_mirrored(), view.is_mirrored());
                assert!(extended.index() < Inputs::KingsAttackers.views());
                assert_eq!(Attackers::ALL.map(|other| extended.with_attackers(other)), {
                    Attackers::ALL.map(|other| view.with_attackers(other))
                });
                for (other, ..) in views(Color::Red) {
                    assert_eq!(extended.with_kings_of(other.with_attackers(Attackers::ALL[1])), {
                        other.with_attackers(attackers)
                    });
                    assert_eq!(view.with_kings_of(other), other);
                }
            }
        }
    }
}
