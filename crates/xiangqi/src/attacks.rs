//! Which points a piece reaches, by table. Every table is a constant of the binary.
//!
//! Chariots and cannons look up their rank and their file apart, by the occupancy of the inner points, in tables of
//! two bytes an entry that together fit the first-level cache. Horses and elephants gather their four blocking points
//! with one multiplication a bank. What stands on the target is not asked here: a reached point may hold any piece.

mod blockable;
mod lines;
mod steps;

use crate::{Bitboard, Color, Piece, PieceKind, Square};

pub use lines::between;
pub(crate) use lines::cross;

/// The points a chariot reaches: along each line up to and including the first piece.
#[must_use]
#[inline]
pub fn chariot(from: Square, occupied: Bitboard) -> Bitboard {
    lines::reach(&lines::CHARIOT, from, occupied)
}

/// The points a cannon attacks: beyond the first piece of each line (the screen), up to and including the next one.
/// Moves that take nothing go where a chariot's do.
#[must_use]
#[inline]
pub fn cannon(from: Square, occupied: Bitboard) -> Bitboard {
    lines::reach(&lines::CANNON, from, occupied)
}

/// The points a horse reaches: those whose leg is free.
#[must_use]
#[inline]
pub fn horse(from: Square, occupied: Bitboard) -> Bitboard {
    blockable::HORSE[from.index()].look_up(occupied)
}

/// The points from which a horse reaches `to`. Not the same as [`horse`]: the leg stands beside the horse.
#[must_use]
#[inline]
pub fn horse_to(to: Square, occupied: Bitboard) -> Bitboard {
    blockable::HORSE_TO[to.index()].look_up(occupied)
}

/// The points a horse reaches, and those it is reached from, if nothing stands in the way.
#[must_use]
#[inline]
pub(crate) const fn horse_unblocked(square: Square) -> Bitboard {
    blockable::HORSE[square.index()].all()
}

/// Where a horse's leg stands on its way from `from` to `to`.
#[must_use]
pub(crate) const fn leg(from: Square, to: Square) -> Square {
    let files = to.file() as i8 - from.file() as i8;
    let ranks = to.rank() as i8 - from.rank() as i8;
    let offset = if files.abs() == 2 { files / 2 } else { ranks / 2 * 9 };
    Square::at((from.index() as i8 + offset) as usize)
}

/// The points an elephant reaches: those whose eye is free, on its own bank.
#[must_use]
#[inline]
pub fn elephant(from: Square, occupied: Bitboard) -> Bitboard {
    blockable::ELEPHANT[from.index()].look_up(occupied)
}

/// The points an advisor reaches within its palace.
#[must_use]
#[inline]
pub fn advisor(from: Square) -> Bitboard {
    steps::ADVISOR[from.index()]
}

/// The points a king reaches within its palace.
#[must_use]
#[inline]
pub fn king(from: Square) -> Bitboard {
    steps::KING[from.index()]
}

/// The points a pawn of this side reaches: ahead, and once across the river to both sides.
#[must_use]
#[inline]
pub fn pawn(color: Color, from: Square) -> Bitboard {
    steps::PAWN[color.index()][from.index()]
}

/// The points from which a pawn of this side reaches `to`.
#[must_use]
#[inline]
pub fn pawn_to(color: Color, to: Square) -> Bitboard {
    steps::PAWN_TO[color.index()][to.index()]
}

/// The points a piece attacks, standing on `from`: where it could take an enemy.
#[must_use]
#[inline]
pub fn captures(piece: Piece, from: Square, occupied: Bitboard) -> Bitboard {
    match piece.kind() {
        PieceKind::Chariot => chariot(from, occupied),
        PieceKind::Horse => horse(from, occupied),
        PieceKind::Cannon => cannon(from, occupied),
        PieceKind::Pawn => pawn(piece.color(), from),
        PieceKind::Advisor => advisor(from),
        PieceKind::Elephant => elephant(from, occupied),
        PieceKind::King => king(from),
    }
}

/// The points on which a piece can ever stand.
#[must_use]
pub const fn home(piece: Piece) -> Bitboard {
    steps::HOME[piece.index()]
}

/// The nine points of a side's palace.
#[must_use]
pub const fn palace(color: Color) -> Bitboard {
    home(Piece::new(color, PieceKind::King))
}

/// The points from which or to which a piece's move can matter to a king that is not in check: his own, his lines, and
/// the legs of the horses that could reach him.
#[inline]
pub(crate) const fn concerns(king: Square) -> Bitboard {
    CONCERNS[king.index()]
}

const CONCERNS: [Bitboard; Square::COUNT] = {
    let mut concerns = [Bitboard::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        let square = Square::at(index);
        concerns[index] = cross(square).with(square).or(blockable::HORSE_TO_BLOCKERS[index]);
        index += 1;
    }
    concerns
};

/// Where a side's pieces come to if each steps one rank ahead.
#[inline]
pub(crate) const fn ahead(color: Color, pieces: Bitboard) -> Bitboard {
    const RANK: u32 = 9;
    const BANK: u32 = 45;
    let moved = match color {
        Color::Red => {
            Bitboard { south: pieces.south << RANK, north: pieces.north << RANK | pieces.south >> (BANK - RANK) }
        }
        Color::Black => {
            Bitboard { south: pieces.south >> RANK | pieces.north << (BANK - RANK), north: pieces.north >> RANK }
        }
    };
    moved.and(Bitboard::ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_is_a_pawns_step_up_the_file() {
        for color in Color::ALL {
            for square in Square::all() {
                let step = pawn(color, square) & Bitboard::file(square.file());
                assert_eq!(ahead(color, square.into()), step, "{color:?} {square}");
            }
        }
    }

    #[test]
    fn leg_is_what_blocks() {
        for from in Square::all() {
            for to in horse_unblocked(from) {
                let leg = leg(from, to);
                assert!(!horse(from, leg.into()).contains(to));
                assert!(horse(from, !Bitboard::of(leg)).contains(to));
                assert!(concerns(to).contains(leg));
            }
        }
    }
}
