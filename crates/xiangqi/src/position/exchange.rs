//! Static exchange evaluation: what a capture is worth when both sides go on taking on its point.

use super::Position;
use crate::{Bitboard, Color, Move, Piece, PieceKind, Square};

/// What the pieces are worth in exchanges, by [`PieceKind::index`], in hundredths of a pawn.
pub const EXCHANGE_VALUES: [i32; PieceKind::COUNT] = [900, 400, 450, 100, 200, 200, 10_000];

fn worth(piece: Piece) -> i32 {
    EXCHANGE_VALUES[piece.kind().index()]
}

/// In which order a side takes.
const LEAST_FIRST: [PieceKind; PieceKind::COUNT] = [
    PieceKind::Pawn,
    PieceKind::Advisor,
    PieceKind::Elephant,
    PieceKind::Horse,
    PieceKind::Cannon,
    PieceKind::Chariot,
    PieceKind::King,
];

impl Position {
    /// What the mover gains or loses by this move if both sides then take on its target, the least valuable piece
    /// first, for as long as it pays. A king takes only if nothing can take him back; pins are not seen. As pieces
    /// leave, lines and legs open and cannons win or lose their screens. Of two equal pieces the one on the lower point
    /// takes first, which can matter to a cannon.
    #[must_use]
    pub fn exchange(&self, mv: Move) -> i32 {
        let mut gains = [0; 33];
        let mut depth = 0;
        let (to, mut exchange) = self.begin_exchange(mv);
        gains[0] = self.piece_at(to).map_or(0, worth);
        let mut at_stake = self.piece_at(mv.from()).map_or(0, worth);
        while let Some(kind) = exchange.take() {
            depth += 1;
            gains[depth] = at_stake - gains[depth - 1];
            at_stake = EXCHANGE_VALUES[kind.index()];
        }
        while depth > 0 {
            gains[depth - 1] = gains[depth - 1].min(-gains[depth]);
            depth -= 1;
        }
        gains[0]
    }

    /// Whether [`Position::exchange`] is at least `threshold`; cheaper, since it stops as soon as that is known.
    #[must_use]
    pub fn exchange_at_least(&self, mv: Move, threshold: i32) -> bool {
        let value_at = |square| self.piece_at(square).map_or(0, worth);
        // What the mover is ahead of its need if nobody takes back.
        let ahead = value_at(mv.to()) - threshold;
        if ahead < 0 {
            return false;
        }
        // What the side that is to take next must overcome: positive while it still has something to gain.
        let mut behind = value_at(mv.from()) - ahead;
        if behind <= 0 {
            return true;
        }
        let (_, mut exchange) = self.begin_exchange(mv);
        let mut mover_succeeds = true;
        while let Some(kind) = exchange.take() {
            mover_succeeds = !mover_succeeds;
            behind = EXCHANGE_VALUES[kind.index()] - behind;
            // Even losing the piece it took with, the taker keeps what it needs: the mover wins ties.
            if behind < i32::from(mover_succeeds) {
                break;
            }
        }
        mover_succeeds
    }

    fn begin_exchange(&self, mv: Move) -> (Square, Exchange<'_>) {
        let occupied = self.occupied().without(mv.from()).with(mv.to());
        let color = self.piece_at(mv.from()).map_or(self.turn, Piece::color);
        (mv.to(), Exchange { position: self, to: mv.to(), occupied, taker: !color })
    }
}

/// The captures on one point, one after the other.
struct Exchange<'a> {
    position: &'a Position,
    to: Square,
    occupied: Bitboard,
    taker: Color,
}

impl Exchange<'_> {
    /// Takes with the least valuable piece of the side whose turn it is; names its kind, or `None` if none can.
    fn take(&mut self) -> Option<PieceKind> {
        // The piece that stands on the point is not the one the position knows there.
        let attackers = self.position.attackers_to(self.to, self.occupied).without(self.to);
        let own = attackers & self.position.by_color(self.taker);
        let kind = LEAST_FIRST.into_iter().find(|kind| own.intersects(self.position.by_kind(*kind)))?;
        let from = (own & self.position.by_kind(kind)).first()?;
        let left = self.occupied.without(from);
        if kind == PieceKind::King {
            let back = self.position.attackers_to(self.to, left).without(self.to);
            if back.intersects(self.position.by_color(!self.taker)) {
                return None;
            }
        }
        self.occupied = left;
        self.taker = !self.taker;
        Some(kind)
    }
}
