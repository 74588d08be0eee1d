//! Updates of the histories after a node: bonuses and maluses of moves.

use xiangqi::{Move, MoveList};

use super::Worker;
use crate::{history::PieceTo, tune::Parameters};

impl Worker {
    /// Updates the histories: a bonus for the best move, a malus for the moves tried before it.
    pub(super) fn update_histories(
        &mut self,
        tune: &Parameters,
        ply: usize,
        best: Move,
        depth: i32,
        quiets: &MoveList,
        captures: &MoveList,
    ) {
        let reward = history_bonus(tune, depth);
        let position = self.game.position();
        if let Some(victim) = position.piece_at(best.to()) {
            if let Some(piece) = self.moved_piece(best) {
                self.histories.update_capture(tune, piece, best.to(), victim.kind(), reward);
            }
        } else {
            self.update_quiet_histories(tune, ply, best, reward);
            for mv in quiets {
                self.update_quiet_histories(tune, ply, *mv, -reward);
            }
        }
        for mv in captures {
            let position = self.game.position();
            if let (Some(piece), Some(victim)) = (position.piece_at(mv.from()), position.piece_at(mv.to())) {
                self.histories.update_capture(tune, piece, mv.to(), victim.kind(), -reward);
            }
        }
    }

    /// Updates the histories after a fail low: a bonus for the quiet move that led here.
    pub(super) fn reward_refutation(&mut self, tune: &Parameters, ply: usize, depth: i32) {
        let prior = *self.ss_before(ply, 1);
        if let (Some(mv), Some(piece_to), false) = (prior.mv, prior.piece_to, prior.captured) {
            let bonus = history_bonus(tune, depth) * tune.fail_low_bonus / 100;
            self.histories.update_quiet(tune, !self.game.position().turn(), mv, bonus);
            self.update_continuations(tune, ply - 1, piece_to, bonus);
        }
    }

    pub(super) fn update_quiet_histories(&mut self, tune: &Parameters, ply: usize, mv: Move, bonus: i32) {
        let Some(piece) = self.moved_piece(mv) else { return };
        let (position, piece_to) = (self.game.position(), PieceTo::new(piece, mv.to()));
        let (side, pawns) = (position.turn(), position.pawn_key());
        self.histories.update_quiet(tune, side, mv, bonus);
        self.histories.update_pawn(tune, pawns, piece_to, bonus);
        self.update_continuations(tune, ply, piece_to, bonus);
    }

    pub(super) fn update_continuations(&mut self, tune: &Parameters, ply: usize, piece_to: PieceTo, bonus: i32) {
        for before in self.context(ply).before {
            self.histories.update_continuation(tune, before, piece_to, bonus);
        }
    }
}

/// The history bonus of a cutoff at this depth.
pub(super) fn history_bonus(tune: &Parameters, depth: i32) -> i32 {
    (tune.history_bonus_slope * depth - tune.history_bonus_offset).min(tune.history_bonus_max)
}
