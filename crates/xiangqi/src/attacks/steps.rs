//! Steppers (king, advisor, pawn), and the home points of every piece.

use crate::{Bitboard, Color, Piece, PieceKind, Square};

/// The point `files` to the right and `ranks` up, if on the board.
pub(super) const fn offset(square: Square, files: i8, ranks: i8) -> Option<Square> {
    Square::new((square.file() as i8 + files) as u8, (square.rank() as i8 + ranks) as u8)
}

/// The points each piece can reach in a game from the starting position.
pub(super) const HOME: [Bitboard; Piece::COUNT] = {
    let mut home = [Bitboard::EMPTY; Piece::COUNT];
    let mut piece = 0;
    while piece < Piece::COUNT {
        let color = Piece::ALL[piece].color();
        let mut index = 0;
        while index < Square::COUNT {
            let square = Square::at(index);
            // Ranks as the owner counts them.
            let rank = match color {
                Color::Red => square.rank(),
                Color::Black => 9 - square.rank(),
            };
            let file = square.file();
            let in_palace = rank < 3 && file >= 3 && file <= 5;
            let stands = match Piece::ALL[piece].kind() {
                PieceKind::Chariot | PieceKind::Horse | PieceKind::Cannon => true,
                PieceKind::King => in_palace,
                PieceKind::Advisor => in_palace && (rank + file) % 2 == 1,
                PieceKind::Elephant => {
                    rank == 2 && file.is_multiple_of(4) || (rank == 0 || rank == 4) && (file == 2 || file == 6)
                }
                PieceKind::Pawn => rank > 4 || rank > 2 && file.is_multiple_of(2),
            };
            if stands {
                home[piece] = home[piece].with(square);
            }
            index += 1;
        }
        piece += 1;
    }
    home
};

/// Steps to any of the given offsets that stay within `board`, from every point of `board`.
const fn steps(offsets: &[(i8, i8)], board: Bitboard) -> [Bitboard; Square::COUNT] {
    let mut table = [Bitboard::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        let from = Square::at(index);
        let mut step = 0;
        while step < offsets.len() && board.contains(from) {
            if let Some(to) = offset(from, offsets[step].0, offsets[step].1)
                && board.contains(to)
            {
                table[index] = table[index].with(to);
            }
            step += 1;
        }
        index += 1;
    }
    table
}

const fn both_homes(kind: PieceKind) -> Bitboard {
    HOME[Piece::new(Color::Red, kind).index()].or(HOME[Piece::new(Color::Black, kind).index()])
}

pub(super) const KING: [Bitboard; Square::COUNT] =
    steps(&[(0, 1), (0, -1), (1, 0), (-1, 0)], both_homes(PieceKind::King));

pub(super) const ADVISOR: [Bitboard; Square::COUNT] =
    steps(&[(1, 1), (1, -1), (-1, 1), (-1, -1)], both_homes(PieceKind::Advisor));

pub(super) const PAWN: [[Bitboard; Square::COUNT]; 2] = [pawn_steps(Color::Red), pawn_steps(Color::Black)];

const fn pawn_steps(color: Color) -> [Bitboard; Square::COUNT] {
    let ahead = match color {
        Color::Red => (0, 1),
        Color::Black => (0, -1),
    };
    let mut table = steps(&[ahead], Bitboard::ALL);
    let crossed = steps(&[ahead, (1, 0), (-1, 0)], Bitboard::bank(color.opponent()));
    let mut index = 0;
    while index < Square::COUNT {
        table[index] = table[index].or(crossed[index]);
        index += 1;
    }
    table
}

/// The inverse of [`PAWN`].
pub(super) const PAWN_TO: [[Bitboard; Square::COUNT]; 2] = [reversed(&PAWN[0]), reversed(&PAWN[1])];

const fn reversed(table: &[Bitboard; Square::COUNT]) -> [Bitboard; Square::COUNT] {
    let mut back = [Bitboard::EMPTY; Square::COUNT];
    let mut from = 0;
    while from < Square::COUNT {
        let mut to = 0;
        while to < Square::COUNT {
            if table[from].contains(Square::at(to)) {
                back[to] = back[to].with(Square::at(from));
            }
            to += 1;
        }
        from += 1;
    }
    back
}
