//! Quiescence search: captures until the position is quiet, all evasions in check. At first also
//! quiet checks. Moves that lose material by SEE are skipped.

use super::{ANYWHERE, Shared, Worker};
use crate::{
    picker::{Context, Picker},
    score::{self, INFINITE, MAX_PLY, MIN_VERDICT, Score},
    table::{Bound, Entry},
};

impl Worker {
    /// Searches captures, and quiet checks for so many of the side's moves; in check, all moves.
    #[allow(clippy::too_many_lines, reason = "the steps of one node, in order")]
    pub(super) fn quiesce<const PV: bool>(
        &mut self,
        shared: &Shared<'_>,
        mut alpha: Score,
        beta: Score,
        ply: usize,
        checks: i32,
    ) -> Score {
        let tune = shared.parameters;
        if PV {
            self.pv_table[ply].clear();
            self.selective_depth = self.selective_depth.max(ply);
        }
        if self.should_stop(shared) {
            return 0;
        }
        self.reach = ANYWHERE;
        if ply > 0
            && let Some(verdict) = self.verdict(ply)
        {
            return verdict;
        }
        let in_check = self.game.position().in_check();
        if ply >= MAX_PLY {
            return if in_check { 0 } else { self.evaluate() };
        }

        let key = self.key();
        let tt_entry = shared.table.probe(key, ply);
        // Its depth in the table: an entry without quiet checks does not answer a node with them.
        let depth = if in_check || checks > 0 { 0 } else { -1 };
        if let Some(entry) = tt_entry
            && !PV
            && entry.depth >= depth
            && entry.cuts_off(alpha, beta)
        {
            return entry.score;
        }

        // Stand pat: the side to move need not capture, so the static evaluation is a lower bound.
        let mut best = -INFINITE;
        let mut raw_evaluation = None;
        let mut futility = -INFINITE;
        if !in_check {
            let evaluation = tt_entry.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluate());
            raw_evaluation = Some(evaluation);
            best = self.corrected(tune, evaluation, ply);
            if let Some(entry) = tt_entry
                && entry.refines(best)
                && !score::is_decided(entry.score)
            {
                best = entry.score;
            }
            if best >= beta {
                if tt_entry.is_none() {
                    let entry = Entry {
                        mv: None,
                        score: best,
                        evaluation: raw_evaluation,
                        depth: -1,
                        bound: Bound::Lower,
                        tt_pv: false,
                    };
                    shared.table.store(key, ply, entry);
                }
                return best;
            }
            alpha = alpha.max(best);
            futility = best + tune.qs_delta_margin;
        }

        let original_alpha = alpha;
        let (mut reach, mut reach_of_all) = (ANYWHERE, ANYWHERE);
        let tt_move = tt_entry.and_then(|entry| entry.mv);
        let context = if in_check || checks > 0 { self.context(ply) } else { Context::NONE };
        let position = self.game.position();
        let mut picker = if in_check {
            Picker::new(position, tt_move)
        } else if checks > 0 {
            Picker::captures_and_checks(position, tt_move, tune.qs_see, tune.qs_check_see)
        } else {
            Picker::captures(position, tt_move, tune.qs_see)
        };
        let mut best_move = None;
        let mut move_count = 0;
        while let Some(mv) = picker.next(&self.game, &self.histories, tune, context) {
            shared.table.prefetch(self.game.position().key_after(mv));
            move_count += 1;
            if !in_check && best > -MIN_VERDICT && !picker.checks.given_by(mv, self.game.position()) {
                // Delta pruning: not even the victim and the margin lift the score to alpha.
                let optimistic = futility + self.victim_value(mv);
                if optimistic <= alpha {
                    best = best.max(optimistic);
                    continue;
                }
            }
            // Late evasion pruning: after some moves, losing captures will not save the position.
            if in_check && move_count > tune.qs_evasions && best > -MIN_VERDICT && picker.is_at_bad_captures() {
                break;
            }
            self.make(ply, mv);
            let score = -self.quiesce::<PV>(shared, -beta, -alpha, ply + 1, checks - i32::from(!in_check));
            self.unmake();
            if self.stopped {
                return 0;
            }
            reach_of_all = reach_of_all.min(self.reach);
            if score > best {
                best = score;
                reach = self.reach;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        self.update_pv(ply, mv);
                    }
                    if score >= beta {
                        break;
                    }
                    alpha = score;
                }
                // Evasion pruning: one evasion that does not lose is enough; skip further quiet
                // ones.
                if in_check && best > -MIN_VERDICT {
                    picker.skip_quiets();
                }
            }
        }
        if in_check && move_count == 0 {
            return score::mated_in(ply);
        }
        self.set_reach(ply, if best >= beta { reach } else { reach_of_all });
        let bound = Bound::of::<PV>(best, original_alpha, beta);
        let tt_pv = PV || tt_entry.is_some_and(|entry| entry.tt_pv);
        self.store(
            shared,
            key,
            ply,
            Entry { mv: best_move, score: best, evaluation: raw_evaluation, depth, bound, tt_pv },
        );
        best
    }
}
