//! The end of the tree: captures until the position is quiet.

use super::{ANYWHERE, Shared, Worker};
use crate::{
    picker::{Context, Picker},
    score::{self, INFINITE, LEAST_VERDICT, MAX_PLY, Score},
    table::{Bound, Entry},
};

/// How much better than its evaluation plus its victim a capture may turn out.
const MARGIN: Score = 180;

impl Worker {
    /// The score of a position when only captures are tried; in check, all moves.
    #[allow(clippy::too_many_lines, reason = "one node, read from top to bottom")]
    pub(super) fn quiesce<const PV: bool>(
        &mut self,
        shared: &Shared<'_>,
        mut alpha: Score,
        beta: Score,
        ply: usize,
    ) -> Score {
        if PV {
            self.variations[ply].clear();
            self.selective_depth = self.selective_depth.max(ply);
        }
        if self.must_stop(shared) {
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
        let found = shared.table.probe(key, ply);
        if let Some(entry) = found
            && !PV
            && entry.settles(alpha, beta)
        {
            return entry.score;
        }

        let mut best = -INFINITE;
        let mut raw = None;
        let mut futility = -INFINITE;
        if !in_check {
            let evaluation = found.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluate());
            raw = Some(evaluation);
            best = self.corrected(evaluation);
            if let Some(entry) = found
                && entry.improves_on(best)
                && !score::is_decided(entry.score)
            {
                best = entry.score;
            }
            if best >= beta {
                if found.is_none() {
                    let entry =
                        Entry { mv: None, score: best, evaluation: raw, depth: -1, bound: Bound::Lower, was_pv: false };
                    shared.table.store(key, ply, entry);
                }
                return best;
            }
            alpha = alpha.max(best);
            futility = best + MARGIN;
        }

        let before_alpha = alpha;
        let (mut reach, mut reach_of_any) = (ANYWHERE, ANYWHERE);
        let table_move = found.and_then(|entry| entry.mv);
        let (mut picker, context) = if in_check {
            (Picker::new(self.game.position(), table_move), self.context(ply))
        } else {
            (Picker::captures(self.game.position(), table_move, 0), Context::NONE)
        };
        let mut best_move = None;
        let mut count = 0;
        while let Some(mv) = picker.next(&self.game, &self.histories, context) {
            shared.table.prefetch(self.game.position().key_after(mv));
            count += 1;
            if !in_check && best > -LEAST_VERDICT && !self.game.position().gives_check(mv) {
                let hoped = futility + self.victim_value(mv);
                if hoped <= alpha {
                    best = best.max(hoped);
                    continue;
                }
            }
            // One quiet answer to a check has been tried: the rest of them will not be better.
            if in_check && count > 3 && best > -LEAST_VERDICT && picker.is_at_bad_captures() {
                break;
            }
            self.make(ply, mv);
            let score = -self.quiesce::<PV>(shared, -beta, -alpha, ply + 1);
            self.unmake();
            if self.stopped {
                return 0;
            }
            reach_of_any = reach_of_any.min(self.reach);
            if score > best {
                best = score;
                reach = self.reach;
                if score > alpha {
                    best_move = Some(mv);
                    if PV {
                        self.extend_variation(ply, mv);
                    }
                    if score >= beta {
                        break;
                    }
                    alpha = score;
                }
                // In check a quiet move that does not lose is answer enough.
                if in_check && best > -LEAST_VERDICT {
                    picker.skip_quiets();
                }
            }
        }
        if in_check && count == 0 {
            return score::mated_in(ply);
        }
        self.settle_reach(ply, if best >= beta { reach } else { reach_of_any });
        let bound = Bound::of::<PV>(best, before_alpha, beta);
        let was_pv = PV || found.is_some_and(|entry| entry.was_pv);
        self.remember(shared, key, ply, Entry { mv: best_move, score: best, evaluation: raw, depth: 0, bound, was_pv });
        best
    }
}
