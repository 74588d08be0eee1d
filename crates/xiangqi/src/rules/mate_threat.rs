//! Threats of mate, forbidden only by the older custom.

use crate::{Bitboard, Color, Position};

impl Position {
    /// The pieces with which `attacker` could mate in one if it were its turn.
    ///
    /// Empty if the defender is to move and in check: that is a check, not a threat. The attacker
    /// is never in check while the defender is to move.
    pub(super) fn mating_pieces(&mut self, attacker: Color) -> Bitboard {
        if self.turn() == attacker {
            return self.mating_origins();
        }
        if self.in_check() {
            return Bitboard::EMPTY;
        }
        debug_assert!(
            self.attackers_in_palace(self.king(attacker), attacker, self.occupied(), self.by_color(!attacker))
                .is_empty(),
            "{attacker:?} left its king in check"
        );
        let undo = self.make_null();
        let pieces = self.mating_origins();
        self.unmake_null(undo);
        pieces
    }

    fn mating_origins(&mut self) -> Bitboard {
        let mut origins = Bitboard::EMPTY;
        let checks = self.checks();
        for mv in self.legal_moves() {
            if checks.given_by(mv, self) {
                let undo = self.make(mv);
                if !self.has_legal_move() {
                    origins |= mv.from().into();
                }
                self.unmake(mv, undo);
            }
        }
        origins
    }
}
