//! Attackers of a point.

use super::Position;
use crate::{Bitboard, Color, Move, PieceKind, Square, attacks};

impl Position {
    /// The pieces of both sides that attack a point under a given occupancy, pins ignored. A piece
    /// outside `occupied` counts as removed.
    #[must_use]
    pub fn attackers_to(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let chariots = self.by_kind(PieceKind::Chariot);
        let cannons = self.by_kind(PieceKind::Cannon);
        let mut attackers = Bitboard::EMPTY;
        let lines = attacks::cross(square);
        if lines.intersects(chariots) {
            attackers |= attacks::chariot(square, occupied) & chariots;
        }
        if lines.intersects(cannons) {
            attackers |= attacks::cannon(square, occupied) & cannons;
        }
        attackers |= attacks::horse_to(square, occupied) & self.by_kind(PieceKind::Horse);
        for color in Color::ALL {
            attackers |= attacks::pawn_to(color, square) & self.pieces(color, PieceKind::Pawn);
        }
        attackers |= attacks::advisor(square) & self.by_kind(PieceKind::Advisor);
        // An elephant's eye is the same from both ends.
        attackers |= attacks::elephant(square, occupied) & self.by_kind(PieceKind::Elephant);
        attackers |= attacks::king(square) & self.by_kind(PieceKind::King);
        attackers & occupied
    }

    /// The pieces that give check to a side's king.
    #[inline]
    pub(super) fn attackers_of_king(&self, color: Color) -> Bitboard {
        self.attackers_in_palace(self.king(color), color, self.occupied(), self.by_color(!color))
    }

    /// The pieces among `enemies` that would attack `color`'s king on a point of its palace under
    /// this occupancy. They include the enemy king on an open file. Advisors and elephants never
    /// reach the other palace.
    #[inline]
    pub(crate) fn attackers_in_palace(
        &self,
        king: Square,
        color: Color,
        occupied: Bitboard,
        enemies: Bitboard,
    ) -> Bitboard {
        let mut attackers = attacks::pawn_to(!color, king) & self.by_kind(PieceKind::Pawn);
        if (attacks::horse_unblocked(king) & enemies).intersects(self.by_kind(PieceKind::Horse)) {
            attackers |= attacks::horse_to(king, occupied) & self.by_kind(PieceKind::Horse);
        }
        let lines = attacks::cross(king) & enemies;
        let chariots = self.by_kind(PieceKind::Chariot) | self.by_kind(PieceKind::King);
        if lines.intersects(chariots) {
            attackers |= attacks::chariot(king, occupied) & chariots;
        }
        if lines.intersects(self.by_kind(PieceKind::Cannon)) {
            attackers |= attacks::cannon(king, occupied) & self.by_kind(PieceKind::Cannon);
        }
        attackers & enemies
    }

    /// Whether a pseudo-legal move leaves the mover's king unattacked, and so is legal.
    #[must_use]
    #[inline]
    pub fn keeps_king_safe(&self, mv: Move) -> bool {
        let Some(piece) = self.piece_at(mv.from()) else { return false };
        let color = piece.color();
        let king = if piece.kind() == PieceKind::King { mv.to() } else { self.king(color) };
        let zone = attacks::king_zone(king);
        if color == self.turn && !self.in_check() && !zone.contains(mv.from()) && !zone.contains(mv.to()) {
            return true;
        }
        let occupied = self.occupied().without(mv.from()).with(mv.to());
        self.attackers_in_palace(king, color, occupied, self.by_color(!color).without(mv.to())).is_empty()
    }

    /// Whether a legal move gives check. For many moves of one position see [`Position::checks`].
    #[must_use]
    pub fn gives_check(&self, mv: Move) -> bool {
        let Some(piece) = self.piece_at(mv.from()) else { return false };
        let color = piece.color();
        let (from, to) = (mv.from(), mv.to());
        let king = self.king(!color);
        let occupied = self.occupied().without(from).with(to);
        // Direct check: by the moved piece.
        if attacks::captures(piece, to, occupied).contains(king) && piece.kind() != PieceKind::King {
            return true;
        }
        // Discovered check: by the other pieces. A king that leaves a file may uncover a line;
        // facing kings are illegal and so no check.
        let others = self.by_color(color).without(from) - self.by_kind(PieceKind::King);
        self.attackers_in_palace(king, !color, occupied, others).any()
    }

    /// Finds the points that matter for checks by the side to move.
    #[must_use]
    pub fn checks(&self) -> Checks {
        let king = self.king(!self.turn);
        let own = self.by_color(self.turn);
        let occupied = self.occupied();
        let mut checks = Checks {
            direct: [Bitboard::EMPTY; PieceKind::COUNT],
            uncovering: Bitboard::EMPTY,
            covering: Bitboard::EMPTY,
        };
        checks.direct[PieceKind::Chariot.index()] = attacks::chariot(king, occupied);
        checks.direct[PieceKind::Cannon.index()] = attacks::cannon(king, occupied);
        checks.direct[PieceKind::Horse.index()] = attacks::horse_to(king, occupied);
        checks.direct[PieceKind::Pawn.index()] = attacks::pawn_to(self.turn, king);
        // A piece that leaves a line uncovers a chariot if it stood there alone, and a cannon if
        // one other is left as its screen. A piece that enters the line of a cannon is its screen.
        let lines = attacks::cross(king) & own;
        for chariot in lines & self.by_kind(PieceKind::Chariot) {
            let blockers = attacks::between(king, chariot) & occupied;
            checks.uncovering |= Bitboard::of(chariot);
            if blockers.count() == 1 {
                checks.uncovering |= blockers;
            }
        }
        for cannon in lines & self.by_kind(PieceKind::Cannon) {
            let between = attacks::between(king, cannon);
            let screens = between & occupied;
            checks.uncovering |= Bitboard::of(cannon);
            match screens.count() {
                0 => checks.covering |= between,
                2 => checks.uncovering |= screens,
                _ => {}
            }
        }
        for horse in attacks::horse_unblocked(king) & own & self.by_kind(PieceKind::Horse) {
            checks.uncovering |= Bitboard::of(attacks::leg(horse, king));
        }
        checks
    }
}

/// The points that matter for checks by the side to move, of one position for all its moves.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// The points from which a piece of each kind gives check.
    direct: [Bitboard; PieceKind::COUNT],
    /// The origins of moves that may uncover a check, and of chariots and cannons on the king's
    /// lines.
    uncovering: Bitboard,
    /// The destinations of moves that may become the screen of a cannon.
    covering: Bitboard,
}

impl Checks {
    /// The destinations at which a move from here may give check: elsewhere it does not.
    #[must_use]
    #[inline]
    pub fn candidates(&self, from: Square, position: &Position) -> Bitboard {
        match position.piece_at(from) {
            Some(piece) if !self.uncovering.contains(from) => self.direct[piece.kind().index()] | self.covering,
            _ => Bitboard::ALL,
        }
    }

    /// Whether a legal move of the position gives check.
    #[must_use]
    #[inline]
    pub fn given_by(&self, mv: Move, position: &Position) -> bool {
        let Some(piece) = position.piece_at(mv.from()) else { return false };
        if self.uncovering.contains(mv.from()) || self.covering.contains(mv.to()) {
            return position.gives_check(mv);
        }
        self.direct[piece.kind().index()].contains(mv.to())
    }
}
