//! Which moves keep the king safe, asked once for a whole position.
//!
//! Every way in which a move of another piece can expose the king comes from one enemy piece that looks at him: a
//! chariot or the enemy king with at most one piece between, a cannon with at most two, a horse whatever stands on its
//! leg, a pawn beside him. For each such piece there is a set of targets that keep the king safe from it, the same for
//! all pieces but those that stand in its way. A move is legal if its target is in the sets of all of them.

use arrayvec::ArrayVec;

use super::Position;
use crate::{Bitboard, Color, PieceKind, Square, attacks};

/// What one enemy piece asks of the pieces that stand in its way, where that differs from what it asks of the rest.
#[derive(Clone, Copy)]
struct Tie {
    /// The pieces in the way.
    tied: Bitboard,
    /// Where they may go.
    allowed: Bitboard,
    /// Where all others may go.
    others: Bitboard,
}

/// What looks at a king at most: two chariots, two cannons, two horses and the other king.
const MAX_TIES: usize = 7;

/// Where a side's pieces, its king apart, may go without exposing the king.
pub(super) struct Safety {
    /// For all pieces that are not tied.
    free: Bitboard,
    /// The enemies' demands that make no difference between pieces.
    common: Bitboard,
    tied: Bitboard,
    ties: ArrayVec<Tie, MAX_TIES>,
}

impl Safety {
    /// The targets that keep the king safe when the piece on `from` moves.
    #[inline]
    pub(super) fn targets(&self, from: Square) -> Bitboard {
        if self.tied.contains(from) { self.tied_targets(from) } else { self.free }
    }

    #[cold]
    fn tied_targets(&self, from: Square) -> Bitboard {
        self.ties
            .iter()
            .fold(self.common, |targets, tie| targets & if tie.tied.contains(from) { tie.allowed } else { tie.others })
    }

    fn demand(&mut self, targets: Bitboard) {
        self.common &= targets;
        self.free &= targets;
    }

    fn tie(&mut self, tied: Bitboard, allowed: Bitboard, others: Bitboard) {
        self.free &= others;
        self.tied |= tied;
        self.ties.push(Tie { tied, allowed, others });
    }
}

impl Position {
    /// What keeps `color`'s king safe, as if it were that side's turn.
    #[inline]
    pub(super) fn safety(&self, color: Color) -> Safety {
        let mut safety =
            Safety { free: Bitboard::ALL, common: Bitboard::ALL, tied: Bitboard::EMPTY, ties: ArrayVec::new() };
        let king = self.king(color);
        let own = self.by_color(color);
        let enemies = self.by_color(!color);
        let occupied = own | enemies;

        let pawns = attacks::pawn_to(!color, king) & enemies & self.by_kind(PieceKind::Pawn);
        for pawn in pawns {
            safety.demand(pawn.into());
        }

        for horse in attacks::horse_unblocked(king) & enemies & self.by_kind(PieceKind::Horse) {
            let leg = Bitboard::of(attacks::leg(horse, king));
            if !occupied.intersects(leg) {
                safety.demand(leg.with(horse));
            } else if own.intersects(leg) {
                safety.tie(leg, horse.into(), Bitboard::ALL);
            }
        }

        let lines = attacks::cross(king) & enemies;
        for chariot in lines & (self.by_kind(PieceKind::Chariot) | self.by_kind(PieceKind::King)) {
            let between = attacks::between(king, chariot);
            let blockers = between & occupied;
            match blockers.count() {
                0 => safety.demand(between.with(chariot)),
                1 if own.intersects(blockers) => safety.tie(blockers, between.with(chariot), Bitboard::ALL),
                _ => {}
            }
        }

        for cannon in lines & self.by_kind(PieceKind::Cannon) {
            let between = attacks::between(king, cannon);
            let screens = between & occupied;
            match screens.count() {
                // An empty line: whatever steps on it becomes the screen.
                0 => safety.demand(!between),
                // Check: step on the line beside the screen, take the cannon, or, for the screen, leave the line.
                1 => {
                    let others = (between - occupied).with(cannon);
                    if own.intersects(screens) {
                        safety.tie(screens, !between, others);
                    } else {
                        safety.demand(others);
                    }
                }
                // Two screens: neither may leave the line, nor take the other.
                2 if own.intersects(screens) => {
                    safety.tie(screens & own, (between - occupied).with(cannon), Bitboard::ALL);
                }
                _ => {}
            }
        }
        safety
    }
}
