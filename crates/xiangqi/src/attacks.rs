//! Attack tables: the points each piece reaches. Every table is a compile-time constant.
//!
//! Chariots and cannons look up rank and file separately, by the occupancy of the inner points.
//! Their tables have two bytes per entry and fit the first-level cache together. Horses and
//! elephants gather their four blocking points with one multiplication per bank. The target's
//! occupant is ignored: a reached point may hold any piece.

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

/// The points a cannon attacks: beyond the first piece of each line (the screen), up to and
/// including the next one. Its quiet moves are a chariot's.
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

/// The points from which a horse reaches `to`. It differs from [`horse`], for the leg is next to
/// the horse.
#[must_use]
#[inline]
pub fn horse_to(to: Square, occupied: Bitboard) -> Bitboard {
    blockable::HORSE_TO[to.index()].look_up(occupied)
}

/// The points a horse reaches, and is reached from, on an empty board.
#[must_use]
#[inline]
pub(crate) const fn horse_unblocked(square: Square) -> Bitboard {
    blockable::HORSE[square.index()].all()
}

/// The points an elephant reaches on an empty board.
#[must_use]
#[inline]
pub(crate) const fn elephant_unblocked(square: Square) -> Bitboard {
    blockable::ELEPHANT[square.index()].all()
}

/// The point of the horse's leg between `from` and `to`.
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

/// The points on which a piece on `from` attacks an enemy.
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

/// The points a piece can ever reach.
#[must_use]
pub const fn home(piece: Piece) -> Bitboard {
    steps::HOME[piece.index()]
}

/// The nine points of a side's palace.
#[must_use]
pub const fn palace(color: Color) -> Bitboard {
    home(Piece::new(color, PieceKind::King))
}

/// The points that matter to the safety of a king not in check. A move that neither leaves nor
/// enters one of them cannot expose him.
///
/// They are his own point, his lines, and the legs of the horses that could reach him.
#[inline]
pub(crate) const fn king_zone(king: Square) -> Bitboard {
    KING_ZONE[king.index()]
}

const KING_ZONE: [Bitboard; Square::COUNT] = {
    let mut zones = [Bitboard::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        let square = Square::at(index);
        zones[index] = cross(square).with(square).or(blockable::HORSE_TO_BLOCKERS[index]);
        index += 1;
    }
    zones
};

/// The pieces shifted one rank ahead, as their side sees it.
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
    fn the_leg_blocks() {
        for from in Square::all() {
            for to in horse_unblocked(from) {
                let leg = leg(from, to);
                assert!(!horse(from, leg.into()).contains(to));
                assert!(horse(from, !Bitboard::of(leg)).contains(to));
                assert!(king_zone(to).contains(leg));
            }
        }
    }
}
