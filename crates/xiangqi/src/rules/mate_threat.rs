//! Threats of mate, which only the older custom forbids.

use crate::{Bitboard, Color, Position};

impl Position {
    /// The pieces with which `attacker` could give mate in one if it were its turn. Empty if it is in check: such a
    /// side threatens nothing before it has answered.
    pub(super) fn mating_pieces(&mut self, attacker: Color) -> Bitboard {
        if self.turn() == attacker {
            return self.mating_origins();
        }
        if self.in_check() {
            return Bitboard::EMPTY;
        }
        let undo = self.make_null();
        let pieces = self.mating_origins();
        self.unmake_null(undo);
        pieces
    }

    fn mating_origins(&mut self) -> Bitboard {
        let mut origins = Bitboard::EMPTY;
        for mv in self.legal_moves() {
            if self.gives_check(mv) {
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
