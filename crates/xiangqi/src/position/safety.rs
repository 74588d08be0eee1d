//! King safety: check evasions and pins, computed once for a whole position.
//!
//! A move of another piece exposes the king to one enemy piece in one of four ways:
//!
//! * a chariot, or the enemy king, with at most one piece between;
//! * a cannon with at most two pieces between;
//! * a horse, whether its leg is free or blocked;
//! * a pawn next to the king.
//!
//! Each such enemy has a mask of targets that keep the king safe from it. The mask is the same for
//! all pieces except the pinned ones in its way. A move is legal if its target is in every mask.

use arrayvec::ArrayVec;

use super::Position;
use crate::{Bitboard, Color, PieceKind, Square, attacks};

/// A pin: pieces in an enemy's way, with a mask that differs from the one for the rest.
#[derive(Clone, Copy)]
struct Pin {
    /// The pieces in the way.
    pinned: Bitboard,
    /// The targets of the pinned pieces.
    allowed: Bitboard,
    /// The targets of all other pieces.
    others: Bitboard,
}

/// The upper bound on enemies that look at a king: two chariots, two cannons, two horses and the
/// other king.
const MAX_PINS: usize = 7;

/// The targets of a side's pieces, except the king, that do not expose the king.
pub(super) struct Safety {
    /// The mask of unpinned pieces.
    free: Bitboard,
    /// The part of the mask that is common to all pieces.
    common: Bitboard,
    pinned: Bitboard,
    pins: ArrayVec<Pin, MAX_PINS>,
}

impl Safety {
    /// The targets that keep the king safe when the piece on `from` moves.
    #[inline]
    pub(super) fn targets(&self, from: Square) -> Bitboard {
        if self.pinned.contains(from) { self.pinned_targets(from) } else { self.free }
    }

    #[cold]
    fn pinned_targets(&self, from: Square) -> Bitboard {
        self.pins.iter().fold(self.common, |targets, pin| {
            targets & if pin.pinned.contains(from) { pin.allowed } else { pin.others }
        })
    }

    fn restrict(&mut self, targets: Bitboard) {
        self.common &= targets;
        self.free &= targets;
    }

    fn pin(&mut self, pinned: Bitboard, allowed: Bitboard, others: Bitboard) {
        self.free &= others;
        self.pinned |= pinned;
        self.pins.push(Pin { pinned, allowed, others });
    }
}

impl Position {
    /// Computes the masks that keep `color`'s king safe, as if it were that side's turn.
    #[inline]
    pub(super) fn safety(&self, color: Color) -> Safety {
        let mut safety =
            Safety { free: Bitboard::ALL, common: Bitboard::ALL, pinned: Bitboard::EMPTY, pins: ArrayVec::new() };
        let king = self.king(color);
        let own = self.by_color(color);
        let enemies = self.by_color(!color);
        let occupied = own | enemies;

        let pawns = attacks::pawn_to(!color, king) & enemies & self.by_kind(PieceKind::Pawn);
        for pawn in pawns {
            safety.restrict(pawn.into());
        }

        for horse in attacks::horse_unblocked(king) & enemies & self.by_kind(PieceKind::Horse) {
            let leg = Bitboard::of(attacks::leg(horse, king));
            if !occupied.intersects(leg) {
                safety.restrict(leg.with(horse));
            } else if own.intersects(leg) {
                safety.pin(leg, horse.into(), Bitboard::ALL);
            }
        }

        let lines = attacks::cross(king) & enemies;
        for chariot in lines & (self.by_kind(PieceKind::Chariot) | self.by_kind(PieceKind::King)) {
            let between = attacks::between(king, chariot);
            let blockers = between & occupied;
            match blockers.count() {
                0 => safety.restrict(between.with(chariot)),
                1 if own.intersects(blockers) => safety.pin(blockers, between.with(chariot), Bitboard::ALL),
                _ => {}
            }
        }

        for cannon in lines & self.by_kind(PieceKind::Cannon) {
            let between = attacks::between(king, cannon);
            let screens = between & occupied;
            match screens.count() {
                // Empty line: a piece that steps on it becomes the screen.
                0 => safety.restrict(!between),
                // Check: interpose beside the screen, capture the cannon, or move the screen off
                // the line.
                1 => {
                    let others = (between - occupied).with(cannon);
                    if own.intersects(screens) {
                        safety.pin(screens, !between, others);
                    } else {
                        safety.restrict(others);
                    }
                }
                // Two screens: neither may leave the line, nor capture the other.
                2 if own.intersects(screens) => {
                    safety.pin(screens & own, (between - occupied).with(cannon), Bitboard::ALL);
                }
                _ => {}
            }
        }
        safety
    }
}
