//! Static exchange evaluation (SEE): the material balance of a capture when both sides continue to
//! capture on its target.

use super::Position;
use crate::{Bitboard, Color, Move, Piece, PieceKind, Square, attacks};

/// The piece values of [SEE](Position::see), by [`PieceKind::index`], in centipawns.
pub const SEE_VALUES: [i32; PieceKind::COUNT] = [900, 400, 450, 100, 200, 200, 10_000];

fn see_value(piece: Piece) -> i32 {
    SEE_VALUES[piece.kind().index()]
}

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
        let (kind, from) = self.least_attacker(self.side, self.occupied)?;
        let left = self.occupied.without(from);
        if kind == PieceKind::King && self.least_attacker(!self.side, left).is_some() {
            return None;
        }
        self.occupied = left;
        self.side = !self.side;
        Some(kind)
    }

    /// The least valuable attacker of a side under this occupancy. Lines and legs are looked up
    /// only if a piece stands on them.
    #[inline]
    fn least_attacker(&self, side: Color, occupied: Bitboard) -> Option<(PieceKind, Square)> {
        use PieceKind::{Advisor, Cannon, Chariot, Elephant, Horse, King, Pawn};
        let to = self.to;
        // The piece on the target is no longer the one of the position.
        let own = self.position.by_color(side) & occupied.without(to);
        let among = |kind, points: Bitboard| points & own & self.position.by_kind(kind);
        let first = |kind, attackers: Bitboard| Some((kind, attackers.first()?));
        let with = |kind, near: Bitboard, look_up: fn(Square, Bitboard) -> Bitboard| {
            let near = among(kind, near);
            if near.any() { first(kind, look_up(to, occupied) & near) } else { None }
        };
        // The order is that of their values. An elephant's eye is the same from both ends.
        first(Pawn, among(Pawn, attacks::pawn_to(side, to)))
            .or_else(|| first(Advisor, among(Advisor, attacks::advisor(to))))
            .or_else(|| with(Elephant, attacks::elephant_unblocked(to), attacks::elephant))
            .or_else(|| with(Horse, attacks::horse_unblocked(to), attacks::horse_to))
            .or_else(|| with(Cannon, attacks::cross(to), attacks::cannon))
            .or_else(|| with(Chariot, attacks::cross(to), attacks::chariot))
            .or_else(|| first(King, among(King, attacks::king(to))))
    }
}
