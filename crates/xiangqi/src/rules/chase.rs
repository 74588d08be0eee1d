//! Chases: the chased pieces of a position.

use crate::{Bitboard, Color, Move, Piece, PieceKind, Position, Square, attacks};

impl Position {
    /// The pieces among `victims` that `chaser` chases, as if it were its turn. A piece other than
    /// king or pawn can capture them legally. Exceptions:
    ///
    /// * pawns on their own bank,
    /// * pieces protected by a legal recapture, unless a horse or a cannon attacks a chariot,
    /// * pieces that can capture their attacker in turn, being of its kind.
    pub(super) fn chased(&self, chaser: Color, victims: Bitboard) -> Bitboard {
        let mut chased = Bitboard::EMPTY;
        self.visit_chases(chaser, victims, |_, victim| {
            chased |= victim.into();
        });
        chased
    }

    /// Calls `visit` with each chaser and the piece it chases (see [`Position::chased`]).
    pub(super) fn visit_chases(&self, chaser: Color, victims: Bitboard, mut visit: impl FnMut(Square, Square)) {
        use PieceKind::{King, Pawn};
        let prey = !chaser;
        let at_home = self.by_kind(Pawn) & Bitboard::bank(prey);
        let victims = (victims & self.by_color(prey)) - self.by_kind(King) - at_home;
        if victims.is_empty() {
            return;
        }
        let chasers = self.by_color(chaser) - self.by_kind(King) - self.by_kind(Pawn);
        self.visit_captures(chaser, chasers, victims, |piece, from, targets| {
            for to in targets {
                if self.is_chase(piece, Move::new(from, to)) {
                    visit(from, to);
                }
            }
        });
    }

    /// Whether a legal capture, by a piece other than king and pawn, is a chase.
    fn is_chase(&self, attacker: Piece, capture: Move) -> bool {
        let Some(victim) = self.piece_at(capture.to()) else { return false };
        let by_lesser = matches!(attacker.kind(), PieceKind::Horse | PieceKind::Cannon);
        if by_lesser && victim.kind() == PieceKind::Chariot {
            return true;
        }
        if self.has_recapture(capture) {
            return false;
        }
        let back = Move::new(capture.to(), capture.from());
        !(attacker.kind() == victim.kind() && self.is_pseudo_legal(back) && self.keeps_king_safe(back))
    }

    /// Whether the other side has a legal recapture.
    fn has_recapture(&self, capture: Move) -> bool {
        let (from, to) = (capture.from(), capture.to());
        let Some(attacker) = self.piece_at(from) else { return false };
        let defender = !attacker.color();
        let occupied = self.occupied().without(from);
        // The capturing piece would be captured: only the rest of its side can make the recapture
        // illegal.
        let left = self.by_color(attacker.color()).without(from);
        let takers = self.attackers_to(to, occupied) & self.by_color(defender).without(to);
        takers.into_iter().any(|taker| {
            let king = if self.king(defender) == taker { to } else { self.king(defender) };
            self.attackers_in_palace(king, defender, occupied.without(taker), left).is_empty()
        })
    }

    /// The chariots pinned by `holder`'s horses: they block the leg towards their own king.
    pub(super) fn chariots_on_leg(&self, holder: Color) -> Bitboard {
        let king = self.king(!holder);
        let chariots = self.pieces(!holder, PieceKind::Chariot);
        (attacks::horse_unblocked(king) & self.pieces(holder, PieceKind::Horse))
            .into_iter()
            .map(|horse| attacks::leg(horse, king))
            .filter(|leg| chariots.contains(*leg))
            .collect()
    }
}
