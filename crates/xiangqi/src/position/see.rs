//! Static exchange evaluation (SEE): the material balance of a capture when both sides continue to
//! capture on its target.

use super::Position;
use crate::{Bitboard, Color, Move, Piece, PieceKind, Square};

/// The piece values of [SEE](Position::see), by [`PieceKind::index`], in centipawns.
pub const SEE_VALUES: [i32; PieceKind::COUNT] = [900, 400, 450, 100, 200, 200, 10_000];

fn see_value(piece: Piece) -> i32 {
    SEE_VALUES[piece.kind().index()]
}

/// Least valuable attacker (LVA) first.
const LVA_ORDER: [PieceKind; PieceKind::COUNT] = [
    PieceKind::Pawn,
    PieceKind::Advisor,
    PieceKind::Elephant,
    PieceKind::Horse,
    PieceKind::Cannon,
    PieceKind::Chariot,
    PieceKind::King,
];

impl Position {
    /// Returns the static exchange evaluation (SEE) of a move, in centipawns.
    ///
    /// Both sides capture on the target with their least valuable attacker, for as long as it pays.
    /// X-rays are included: lines and legs open, and cannons win or lose their screens. A king
    /// captures only if he cannot be recaptured. Pins are ignored. Of two equal attackers the one
    /// on the lower point captures first, which can matter to a cannon.
    #[must_use]
    pub fn see(&self, mv: Move) -> i32 {
        let mut gains = [0; 33];
        let mut depth = 0;
        let (to, mut sequence) = self.captures_on_target(mv);
        gains[0] = self.piece_at(to).map_or(0, see_value);
        let mut at_stake = self.piece_at(mv.from()).map_or(0, see_value);
        while let Some(kind) = sequence.take() {
            depth += 1;
            gains[depth] = at_stake - gains[depth - 1];
            at_stake = SEE_VALUES[kind.index()];
        }
        while depth > 0 {
            gains[depth - 1] = gains[depth - 1].min(-gains[depth]);
            depth -= 1;
        }
        gains[0]
    }

    /// Whether [`Position::see`] is at least `threshold`; cheaper, since it stops as soon as that
    /// is known.
    #[must_use]
    pub fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        let value_at = |square| self.piece_at(square).map_or(0, see_value);
        // The mover's margin if there is no recapture.
        let margin = value_at(mv.to()) - threshold;
        if margin < 0 {
            return false;
        }
        // The deficit of the next side to capture: positive while it still has something to gain.
        let mut deficit = value_at(mv.from()) - margin;
        if deficit <= 0 {
            return true;
        }
        let (_, mut sequence) = self.captures_on_target(mv);
        let mut mover_succeeds = true;
        while let Some(kind) = sequence.take() {
            mover_succeeds = !mover_succeeds;
            deficit = SEE_VALUES[kind.index()] - deficit;
            // Cutoff: even after losing the capturing piece this side keeps its margin. The mover
            // wins ties.
            if deficit < i32::from(mover_succeeds) {
                break;
            }
        }
        mover_succeeds
    }

    fn captures_on_target(&self, mv: Move) -> (Square, CaptureSequence<'_>) {
        let occupied = self.occupied().without(mv.from()).with(mv.to());
        let color = self.piece_at(mv.from()).map_or(self.turn, Piece::color);
        (mv.to(), CaptureSequence { position: self, to: mv.to(), occupied, side: !color })
    }
}

/// The sequence of captures on one point.
struct CaptureSequence<'a> {
    position: &'a Position,
    to: Square,
    occupied: Bitboard,
    side: Color,
}

impl CaptureSequence<'_> {
    /// Captures with the least valuable attacker of the side to move; returns its kind, `None`
    /// without attackers.
    fn take(&mut self) -> Option<PieceKind> {
        // The piece on the target is no longer the one of the position.
        let attackers = self.position.attackers_to(self.to, self.occupied).without(self.to);
        let own = attackers & self.position.by_color(self.side);
        let kind = LVA_ORDER.into_iter().find(|kind| own.intersects(self.position.by_kind(*kind)))?;
        let from = (own & self.position.by_kind(kind)).first()?;
        let left = self.occupied.without(from);
        if kind == PieceKind::King {
            let back = self.position.attackers_to(self.to, left).without(self.to);
            if back.intersects(self.position.by_color(!self.side)) {
                return None;
            }
        }
        self.occupied = left;
        self.side = !self.side;
        Some(kind)
    }
}
