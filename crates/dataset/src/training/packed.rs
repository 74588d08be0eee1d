//! Compact positions, for large pools.

use xiangqi::{Bitboard, Color, Piece, Position, Square};

/// The pieces and the side to move in forty bytes. A position has at most 32 pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackedPosition {
    /// The occupied points of either half of the board, the lowest point in the lowest bit.
    taken: [u64; 2],
    /// The pieces on them in this order, two to a byte, the first in the low half.
    pieces: [u8; 16],
    black: bool,
}

const BANK: usize = Square::COUNT / 2;

impl From<&Position> for PackedPosition {
    #[inline]
    fn from(position: &Position) -> Self {
        let mut packed = Self { taken: [0; 2], pieces: [0; 16], black: position.turn() == Color::Black };
        for (place, square) in position.occupied().into_iter().enumerate() {
            let piece = position.piece_at(square).map_or(0, Piece::index) as u8;
            packed.taken[square.index() / BANK] |= 1 << (square.index() % BANK);
            packed.pieces[(place / 2) % 16] |= piece << (4 * (place % 2));
        }
        packed
    }
}

impl PackedPosition {
    /// The side to move.
    #[must_use]
    pub const fn turn(&self) -> Color {
        if self.black { Color::Black } else { Color::Red }
    }

    /// The pieces and their points, from Red's left corner.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        let banks = self.taken.into_iter().enumerate();
        let squares = banks.flat_map(|(bank, mut word)| {
            std::iter::from_fn(move || {
                let index = (word != 0).then_some(word.trailing_zeros() as usize)?;
                word &= word - 1;
                Square::from_index(BANK * bank + index)
            })
        });
        squares.enumerate().map(|(place, square)| {
            let piece = self.pieces[place / 2 % 16] >> (4 * (place % 2)) & 15;
            (square, Piece::ALL[usize::from(piece)])
        })
    }

    /// The number of pieces.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.taken[0].count_ones() + self.taken[1].count_ones()
    }

    /// The position as a FEN without counters.
    #[must_use]
    pub fn to_fen(&self) -> String {
        let mut board = [None; Square::COUNT];
        for (square, piece) in self.pieces() {
            board[square.index()] = Some(piece.letter());
        }
        let mut text = String::with_capacity(80);
        for rank in board.chunks(9).rev() {
            let mut empty = 0_u8;
            for point in rank.iter().copied().chain([Some('/')]) {
                let Some(letter) = point else {
                    empty += 1;
                    continue;
                };
                if empty > 0 {
                    text.push(char::from(b'0' + empty));
                    empty = 0;
                }
                text.push(letter);
            }
        }
        text.pop();
        text.push_str(if self.turn() == Color::Red { " w" } else { " b" });
        text
    }

    /// The occupied points.
    #[must_use]
    pub fn occupied(&self) -> Bitboard {
        self.pieces().map(|(square, _)| square).collect()
    }
}
