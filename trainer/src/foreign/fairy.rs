//! Nets for Fairy-Stockfish: their inputs and stacks, and the transformer in their files.
//!
//! Its nets have 10,530 inputs: a piece on a point, for each of the nine points of the own king.
//! Both kings share the last plane, and nothing is mirrored. Here a net learns the inputs of
//! [`nnue::architecture`], in which a king on the f file is mirrored, so that there are fewer.
//! [`ForeignNet::to_bytes`] writes all of them out. 512 sums of each side are clipped, and followed
//! by layers of 16, 32 and 1. There are eight stacks, by the number of pieces.

use nnue::architecture::{PIECE_POINTS, View};
use xiangqi::{Color, Piece, PieceKind, Square, attacks};

use super::{ForeignNet, KINDS};

/// The hash value by which it knows the inputs.
pub(super) const INPUTS_HASH: u32 = 0x5f23_4cb8;

/// Most pieces on a board.
const PIECES: usize = 32;

/// The stack of a position with so many pieces.
pub(crate) fn stack(pieces: usize, stacks: usize) -> usize {
    (pieces.saturating_sub(1) * stacks / PIECES).min(stacks - 1)
}

/// The view of a side by its own king alone.
pub(crate) fn view(side: Color, king: Square) -> View {
    View::from_kings(side, king, king)
}

impl ForeignNet {
    /// Writes the biases and rows of the transformer, then the rows of the head.
    pub(super) fn write_fairy_transformer(&self, bytes: &mut Vec<u8>) {
        let (width, stacks) = (self.transformer_bias.len(), self.stacks.len());
        bytes.extend(self.transformer_bias.iter().flat_map(|number| number.to_le_bytes()));
        let rows = rows();
        for row in &rows {
            match row {
                Some(row) => {
                    bytes.extend(self.transformer[row * width..][..width].iter().flat_map(|it| it.to_le_bytes()));
                }
                None => bytes.resize(bytes.len() + 2 * width, 0),
            }
        }
        for row in &rows {
            match row {
                Some(row) => bytes.extend(self.head[row * stacks..][..stacks].iter().flat_map(|it| it.to_le_bytes())),
                None => bytes.resize(bytes.len() + 4 * stacks, 0),
            }
        }
    }
}

/// The learned row of each input of Fairy-Stockfish; none where no piece can stand.
fn rows() -> Vec<Option<usize>> {
    let square = |index| Square::from_index(index).expect("an index of a square");
    let palace = attacks::palace(Color::Red);
    let kings = (0..Square::COUNT).map(square).filter(|king| palace.contains(*king));
    let mut rows = Vec::new();
    for king in kings {
        let view = view(Color::Red, king);
        let row = |piece: Piece, square: Square| {
            let stands = attacks::home(piece).contains(square) && (piece != Piece::RedKing || square == king);
            stands.then(|| view.input(Color::Red, piece, square))
        };
        for kind in KINDS {
            let [own, enemy] = [Color::Red, Color::Black].map(|color| {
                let piece = Piece::new(color, kind);
                (0..Square::COUNT).map(move |index| (piece, square(index)))
            });
            if kind == PieceKind::King {
                rows.extend(own.zip(enemy).map(|(own, enemy)| row(own.0, own.1).or_else(|| row(enemy.0, enemy.1))));
            } else {
                rows.extend(own.chain(enemy).map(|(piece, square)| row(piece, square)));
            }
        }
    }
    debug_assert!(rows.iter().flatten().all(|row| *row < 6 * PIECE_POINTS));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_has_its_row() {
        let rows = rows();
        assert_eq!(rows.len(), 9 * 13 * 90);
        let mut met = vec![0; 6 * PIECE_POINTS];
        for row in rows.iter().flatten() {
            met[*row] += 1;
        }
        // Kings on the d and f files share rows. Of the own king's six points one is its own.
        let count = |times| met.iter().filter(|met| **met == times).count();
        assert_eq!([0, 1, 2].map(count), [6 * 5, 3 * 684, 3 * 684]);
        // An own chariot on a1 and on i1, for kings on d1 and f1: the second is the mirror image.
        let king = |file: usize| (file - 3) * 13 * 90;
        assert_eq!(rows[king(3)], rows[king(5) + 8]);
        assert_ne!(rows[king(3)], rows[king(3) + 8]);
        assert_ne!(rows[king(4)], rows[king(4) + 8], "a king on the e file mirrors nothing");
    }

    #[test]
    fn the_most_pieces_have_the_last_stack() {
        assert_eq!([2, 5, 8, 9, 31, 32].map(|pieces| stack(pieces, 8)), [0, 1, 1, 2, 7, 7]);
    }
}
