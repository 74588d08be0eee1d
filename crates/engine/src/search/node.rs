//! Interior nodes: principal variation search (PVS) with pruning, reductions and extensions.
//!
//! `reach` is the path dependence of the returned score ([`Worker::reach`]). At plies below it the
//! score is valid on any path, otherwise only on the current one. Path-dependent scores,
//! which come from repetitions, must not enter the transposition table. **Every early return must
//! set `self.reach`**, directly or through the child search whose score it returns.
//!
//! Margins are parameters ([`crate::tune`]), in hundredths of a pawn; each default changes the
//! bench signature. SPSA tuned many of them together (`docs/SEARCH.md`).
//! SEE pruning leaves captures and checks alone: of those it cost games.

use xiangqi::{Move, MoveList};

use super::{ANYWHERE, Shared, Worker, learning::history_bonus};
use crate::{
    history::PieceTo,
    picker::Picker,
    report::LineBound,
    score::{self, INFINITE, MAX_PLY, MIN_VERDICT, Score},
    table::{Bound, Entry},
};

impl Worker {
    /// Searches a node to `depth` within the window; fail-soft.
    #[allow(clippy::too_many_lines, reason = "the steps of one node, in order")]
    pub(super) fn search<const PV: bool>(
        &mut self,
        shared: &Shared<'_>,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
        cut_node: bool,
    ) -> Score {
        let tune = shared.parameters;
        let in_check = self.game.position().in_check();
        // Quiescence search at the horizon.
        if depth <= 0 {
            return self.quiesce::<PV>(shared, alpha, beta, ply, tune.qs_checks);
        }
        depth = depth.min(MAX_PLY as i32 - 1);
        let at_root = PV && ply == 0;
        if PV {
            self.pv_table[ply].clear();
            self.selective_depth = self.selective_depth.max(ply);
        }
        if self.should_stop(shared) {
            return 0;
        }
        self.reach = ANYWHERE;
        if !at_root {
            if let Some(verdict) = self.verdict(ply) {
                return verdict;
            }
            if ply >= MAX_PLY {
                return if in_check { 0 } else { self.evaluate() };
            }
            // Mate-distance pruning: no line from here beats a shorter mate already found.
            alpha = alpha.max(score::mated_in(ply));
            beta = beta.min(score::mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        // Transposition table lookup. A singular extension search has no entry of its own.
        let excluded = self.ss(ply).excluded;
        let key = self.key();
        let tt_entry = if excluded.is_some() { None } else { shared.table.probe(key, ply) };
        let tt_move = if at_root {
            self.root_moves[self.first_line].moves.first().copied()
        } else {
            tt_entry.and_then(|entry| entry.mv)
        };
        // Transposition table cutoff, not in PV nodes, where the line must stay whole. A fail low
        // needs one ply more than a fail high. A quiet move that cuts off is rewarded in the
        // histories.
        if let Some(entry) = tt_entry
            && !PV
            && entry.depth >= depth + if entry.score <= alpha { tune.tt_upper_depth } else { 0 }
            && entry.cuts_off(alpha, beta)
        {
            if entry.score >= beta
                && let Some(mv) = entry.mv
                && self.game.position().piece_at(mv.to()).is_none()
                && self.game.position().is_legal(mv)
            {
                self.update_quiet_histories(tune, ply, mv, history_bonus(tune, depth));
            }
            return entry.score;
        }
        let tt_pv = PV || tt_entry.is_some_and(|entry| entry.tt_pv);

        // Static evaluation: from the table or computed, corrected by correction history. A table
        // score whose bound points the right way is the better estimate.
        let mut raw_evaluation = None;
        let mut evaluation = -INFINITE;
        if in_check {
            self.ss(ply).static_evaluation = None;
        } else if excluded.is_some() {
            evaluation = self.ss(ply).static_evaluation.unwrap_or(0);
        } else {
            let raw = tt_entry.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluate());
            raw_evaluation = Some(raw);
            evaluation = self.corrected(tune, raw, ply);
            self.ss(ply).static_evaluation = Some(evaluation);
            if let Some(entry) = tt_entry
                && entry.refines(evaluation)
                && !score::is_decided(entry.score)
            {
                evaluation = entry.score;
            }
        }
        // Improving: the static evaluation rose since the side's last move, or the one before.
        let improving = !in_check
            && match (self.ss_before(ply, 2).static_evaluation, self.ss_before(ply, 4).static_evaluation) {
                (Some(before), _) | (None, Some(before)) => {
                    self.ss(ply).static_evaluation.is_some_and(|now| now > before)
                }
                (None, None) => true,
            };
        self.ss(ply + 1).cutoffs = 0;
        self.ss(ply + 1).excluded = None;
        self.ss(ply).double_extensions = if ply == 0 { 0 } else { self.ss_before(ply, 1).double_extensions };

        if !PV && !in_check && excluded.is_none() {
            // Razoring: this far below alpha only captures help, so quiescence search decides. The
            // margin estimates what quiet moves can gain.
            if depth <= tune.razoring_depth
                && evaluation + tune.razoring_slope * depth + tune.razoring_base < alpha
                && !score::is_decided(alpha)
            {
                let score = self.quiesce::<false>(shared, alpha, alpha + 1, ply, tune.qs_checks);
                if score <= alpha || self.stopped {
                    return score;
                }
            }
            // Reverse futility pruning: this far above beta the opponent will not catch up. The
            // margin estimates what the opponent's moves gain, and is lower if improving.
            if depth <= tune.rfp_depth
                && !tt_pv
                && evaluation - tune.rfp_slope * depth + if improving { tune.rfp_improving } else { 0 } >= beta
                && !score::is_decided(beta)
                && evaluation < MIN_VERDICT
            {
                self.reach = ANYWHERE;
                return Score::midpoint(evaluation, beta);
            }
            // Null-move pruning, verified at high depth: if beta holds even though the opponent
            // moves twice, a move will hold it too. At low depth the static evaluation must exceed
            // beta by a margin, as the reduced search sees little.
            let null_beta = beta + tune.null_margin_base - tune.null_margin_slope * depth;
            if depth >= tune.null_depth
                && evaluation >= beta
                && self.ss(ply).static_evaluation.is_some_and(|now| now >= null_beta)
                && self.ss_before(ply, 1).mv.is_some()
                && !score::is_decided(beta)
                && self.allows_null_move()
            {
                let reduction = tune.null_reduction_base
                    + depth / tune.null_reduction_divisor
                    + ((evaluation - beta) / tune.null_reduction_evaluation).min(tune.null_reduction_max);
                let ss = self.ss(ply);
                ss.mv = None;
                ss.piece_to = None;
                ss.captured = false;
                let null = self.game.make_null();
                let score = -self.search::<false>(shared, -beta, -beta + 1, depth - reduction, ply + 1, !cut_node);
                self.game.unmake_null(null);
                if self.stopped {
                    return 0;
                }
                if score >= beta {
                    let score = if score::is_decided(score) { beta } else { score };
                    if depth < tune.null_verification_depth {
                        return score;
                    }
                    // Verification search: excludes zugzwang where an error would cost a large
                    // subtree.
                    self.ss(ply).excluded = None;
                    let verified = self.verify_null_move(shared, beta, depth - reduction, ply);
                    if verified >= beta || self.stopped {
                        return score;
                    }
                }
            }
            // ProbCut: a capture that beats beta by a margin in a shallower search would most
            // likely beat beta. The margin is the error of the shallow search.
            let probcut_beta = beta + tune.probcut_margin - if improving { tune.probcut_improving } else { 0 };
            if depth >= tune.probcut_depth
                && !score::is_decided(beta)
                && tt_entry
                    .is_none_or(|entry| entry.depth <= depth - tune.probcut_reduction || entry.score >= probcut_beta)
                && let Some(score) =
                    self.probcut(shared, probcut_beta, depth, ply, cut_node, tt_move, key, raw_evaluation, tt_pv)
            {
                return score;
            }
        }
        if self.stopped {
            return 0;
        }
        // Internal iterative reduction (IIR): without a table move the ordering is poor, so one ply
        // less finds a move for the next visit cheaply.
        if depth >= tune.iir_depth && tt_move.is_none() && (PV || cut_node) && excluded.is_none() {
            depth -= 1;
        }

        self.search_moves::<PV>(
            shared,
            NodeArguments { alpha, beta, depth, ply, cut_node },
            NodeState { key, tt_entry, tt_move, raw_evaluation, tt_pv, improving, in_check, excluded },
        )
    }

    /// Null-move verification: searches this node again without a null move.
    fn verify_null_move(&mut self, shared: &Shared<'_>, beta: Score, depth: i32, ply: usize) -> Score {
        // A stack entry without a move looks like a null move, after which none is tried.
        let before = self.stack[ply + super::STACK_OFFSET - 1];
        self.stack[ply + super::STACK_OFFSET - 1].mv = None;
        let score = self.search::<false>(shared, beta - 1, beta, depth, ply, false);
        self.stack[ply + super::STACK_OFFSET - 1] = before;
        score
    }

    /// ProbCut: returns a score if a capture fails high against `probcut_beta`, first in
    /// quiescence, then in a reduced search.
    #[allow(clippy::too_many_arguments, reason = "a step of the node, in a function of its own")]
    fn probcut(
        &mut self,
        shared: &Shared<'_>,
        probcut_beta: Score,
        depth: i32,
        ply: usize,
        cut_node: bool,
        tt_move: Option<Move>,
        key: u64,
        raw_evaluation: Option<Score>,
        tt_pv: bool,
    ) -> Option<Score> {
        let tune = shared.parameters;
        // SEE pruning: the exchange must gain what the static evaluation lacks.
        let needed = probcut_beta - self.ss(ply).static_evaluation.unwrap_or(0);
        let mut picker = Picker::captures(self.game.position(), tt_move, needed);
        let context = self.context(ply);
        while let Some(mv) = picker.next(&self.game, &self.histories, tune, context) {
            if Some(mv) == tt_move && !self.game.position().see_ge(mv, needed) {
                continue;
            }
            shared.table.prefetch(self.game.position().key_after(mv));
            self.make(ply, mv);
            let mut score = -self.quiesce::<false>(shared, -probcut_beta, -probcut_beta + 1, ply + 1, 0);
            if score >= probcut_beta && !self.stopped {
                let reduced = depth - tune.probcut_reduction;
                score = -self.search::<false>(shared, -probcut_beta, -probcut_beta + 1, reduced, ply + 1, !cut_node);
            }
            self.unmake();
            if self.stopped {
                return Some(0);
            }
            if score >= probcut_beta {
                let depth = depth - tune.probcut_reduction + 1;
                let entry =
                    Entry { mv: Some(mv), score, evaluation: raw_evaluation, depth, bound: Bound::Lower, tt_pv };
                self.store(shared, key, ply, entry);
                // Part of the margin back: an estimate for beta, not for the raised bound.
                return Some(if score::is_decided(score) { score } else { score - tune.probcut_return });
            }
        }
        None
    }

    /// The move loop of a node.
    #[allow(clippy::too_many_lines, reason = "the steps of one node, in order")]
    fn search_moves<const PV: bool>(
        &mut self,
        shared: &Shared<'_>,
        arguments: NodeArguments,
        state: NodeState,
    ) -> Score {
        let NodeArguments { mut alpha, beta, depth, ply, cut_node } = arguments;
        let NodeState { key, tt_entry, tt_move, raw_evaluation, tt_pv, improving, in_check, excluded } = state;
        let tune = shared.parameters;
        let at_root = PV && ply == 0;
        let original_alpha = alpha;
        let side = self.game.position().turn();
        let context = self.context(ply);
        let mut picker = Picker::new(self.game.position(), tt_move);
        let mut best = -INFINITE;
        let mut best_move = None;
        // The reach of the best move's score, and the least of all moves.
        let (mut reach, mut reach_of_all) = (ANYWHERE, ANYWHERE);
        let mut move_count = 0;
        let mut quiets = MoveList::new();
        let mut captures = MoveList::new();
        let tt_move_captures = tt_move.is_some_and(|mv| self.game.position().piece_at(mv.to()).is_some());

        while let Some(mv) = picker.next(&self.game, &self.histories, tune, context) {
            if Some(mv) == excluded || (at_root && !self.is_root_candidate(mv)) {
                continue;
            }
            move_count += 1;
            let Some(piece) = self.moved_piece(mv) else { continue };
            let victim = self.game.position().piece_at(mv.to());
            let gives_check = picker.checks.given_by(mv, self.game.position());
            let piece_to = PieceTo::new(piece, mv.to());
            let history = match victim {
                Some(victim) => self.histories.capture(piece, mv.to(), victim.kind()),
                None => {
                    tune.history_quiet_weight * self.histories.quiet(side, mv)
                        + self.histories.continuation(context.before[0]).get(piece_to)
                        + self.histories.continuation(context.before[1]).get(piece_to)
                }
            };
            let mut reduction = shared.reductions.base(depth, move_count);

            // Pruning of quiet moves, but not while looking for a faster mate.
            if victim.is_none() && !at_root && best > -MIN_VERDICT && !score::is_decided(alpha) {
                let reduced = (depth - reduction / 1024).max(0);
                // Late move pruning (LMP): a quiet move this late rarely helps. Not in check.
                let max_moves = (tune.lmp_base + tune.lmp_slope * depth * depth) as usize;
                let is_late = !in_check && move_count >= max_moves;
                // History pruning: near the horizon, of moves that have failed often. Deeper
                // subtrees need stronger evidence.
                let has_failed = !gives_check
                    && depth <= tune.history_pruning_depth
                    && history < -tune.history_pruning_margin * depth;
                // Futility pruning: the static evaluation plus a margin stays below alpha. The
                // margin estimates what the move can gain; it grows with the reduced depth and the
                // history.
                let margin = tune.futility_base + tune.futility_slope * reduced + history / tune.futility_history;
                let is_futile = !gives_check
                    && !in_check
                    && reduced <= tune.futility_depth
                    && self.ss(ply).static_evaluation.is_some_and(|now| now + margin <= alpha);
                // SEE pruning: moves onto attacked squares. The deeper the search below, the more a
                // sacrifice may be worth.
                let below = (reduced - 1).max(0);
                let loss = (tune.see_pruning_curve * below + tune.see_pruning_slope) * below;
                let is_pruned = !gives_check && (has_failed || is_futile || !self.game.position().see_ge(mv, -loss));
                // No pruning of moves that close a repetition, whose verdict no margin foresees.
                if (is_late || is_pruned) && !self.game.may_repeat(mv) {
                    if is_late || has_failed {
                        picker.skip_quiets();
                    }
                    if is_pruned {
                        continue;
                    }
                }
            }
            shared.table.prefetch(self.game.position().key_after(mv));

            // Singular extension: if all other moves fail low against a bound below the table
            // score, the table move is extended. The bound is lower by `depth`: an extension costs
            // more at high depth, so the gap must be wider there.
            let mut extension = 0;
            if !at_root
                && depth >= tune.singular_depth
                && Some(mv) == tt_move
                && excluded.is_none()
                && ply < 2 * self.root_depth as usize
                && let Some(entry) = tt_entry
                && matches!(entry.bound, Bound::Lower | Bound::Exact)
                && entry.depth >= depth - tune.singular_tt_depth
                && !score::is_decided(entry.score)
            {
                let singular_beta = entry.score - depth * tune.singular_margin / 16;
                let singular_depth = (depth - 1) / tune.singular_depth_divisor;
                self.ss(ply).excluded = Some(mv);
                let score =
                    self.search::<false>(shared, singular_beta - 1, singular_beta, singular_depth, ply, cut_node);
                self.ss(ply).excluded = None;
                if self.stopped {
                    return 0;
                }
                if score < singular_beta {
                    extension = 1;
                    // Double extension: far better than the rest. Limited on a path, or lines
                    // explode.
                    if !PV
                        && score < singular_beta - tune.singular_double_margin
                        && self.ss(ply).double_extensions < tune.singular_double_max as u32
                    {
                        extension = 2;
                        self.ss(ply).double_extensions += 1;
                    }
                } else if singular_beta >= beta {
                    // Multi-cut: without the table move the node fails high too.
                    return singular_beta;
                } else if entry.score >= beta {
                    // Negative extensions: the table move is not singular, and a cutoff is
                    // expected.
                    extension = -tune.singular_negative_beta;
                } else if cut_node {
                    extension = -tune.singular_negative_cut;
                }
            } else if gives_check
                && depth <= tune.check_extension_depth
                && self.game.position().see_ge(mv, tune.check_extension_see)
            {
                // Check extension, for checks that lose no material by SEE.
                extension = 1;
            }

            let nodes_before = self.nodes;
            self.make(ply, mv);
            let new_depth = depth - 1 + extension;
            let mut score = 0;
            // Late move reductions (LMR), in 1/1024 of a ply. Less on the principal variation, for
            // checks and for moves with good history. More in expected cut nodes and after a table
            // move that captures. More also without improvement, and where the children often cut
            // off.
            let is_late = depth >= tune.lmr_depth && move_count > 1 + usize::from(at_root);
            if is_late {
                if tt_pv {
                    reduction -= tune.lmr_tt_pv + if PV { tune.lmr_pv } else { 0 };
                }
                if cut_node {
                    reduction += tune.lmr_cut_node;
                }
                if tt_move_captures {
                    reduction += tune.lmr_tt_capture;
                }
                if !improving {
                    reduction += tune.lmr_not_improving;
                }
                if gives_check {
                    reduction -= tune.lmr_check;
                }
                if self.ss(ply + 1).cutoffs > tune.lmr_cutoffs as u32 {
                    reduction += tune.lmr_cutoffs_reduction;
                }
                reduction -= if victim.is_some() {
                    tune.lmr_capture + history / tune.lmr_capture_history
                } else {
                    history / tune.lmr_quiet_history
                };
                let reduced = (new_depth - reduction / 1024).clamp(1, new_depth.max(1));
                score = -self.search::<false>(shared, -alpha - 1, -alpha, reduced, ply + 1, true);
                if score > alpha && reduced < new_depth && !self.stopped {
                    // Search again without the reduction, a ply deeper if far above the best score
                    // and a ply less if hardly above it.
                    let deeper = new_depth + i32::from(score > best + tune.lmr_deeper_margin)
                        - i32::from(score < best + tune.lmr_shallower_margin);
                    if deeper > reduced {
                        score = -self.search::<false>(shared, -alpha - 1, -alpha, deeper, ply + 1, !cut_node);
                    }
                    if victim.is_none() && !self.stopped {
                        let sign = if score >= beta { 1 } else { -1 };
                        self.update_continuations(tune, ply, piece_to, sign * history_bonus(tune, depth));
                    }
                }
            } else if !PV || move_count > 1 {
                // PVS: a zero window shows that a later move is no better.
                score = -self.search::<false>(shared, -alpha - 1, -alpha, new_depth, ply + 1, !cut_node);
            }
            // PVS: the first move, and any that beats alpha, gets the full window.
            if PV && (move_count == 1 || score > alpha) && !self.stopped {
                score = -self.search::<true>(shared, -beta, -alpha, new_depth, ply + 1, false);
            }
            self.unmake();
            if self.stopped {
                return 0;
            }
            if at_root {
                let bound = if score >= beta {
                    LineBound::AtLeast
                } else if score <= alpha {
                    LineBound::AtMost
                } else {
                    LineBound::Exact
                };
                self.record_root_move(mv, score, bound, move_count == 1 || score > alpha, self.nodes - nodes_before);
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
                        self.ss(ply).cutoffs += 1;
                        break;
                    }
                    alpha = score;
                }
            }
            if Some(mv) != best_move {
                if victim.is_some() { captures.push(mv) } else { quiets.push(mv) }
            }
        }

        if move_count == 0 {
            self.reach = ANYWHERE;
            return if excluded.is_some() { alpha } else { score::mated_in(ply) };
        }
        if let Some(mv) = best_move {
            self.update_histories(tune, ply, mv, depth, &quiets, &captures);
        } else if excluded.is_none() {
            self.reward_refutation(tune, ply, depth);
        }
        self.set_reach(ply, if best >= beta { reach } else { reach_of_all });
        if excluded.is_none() && !(at_root && self.is_partial()) {
            let bound = Bound::of::<PV>(best, original_alpha, beta);
            self.store(
                shared,
                key,
                ply,
                Entry { mv: best_move, score: best, evaluation: raw_evaluation, depth, bound, tt_pv },
            );
            // Correction history learns from quiet, path-independent scores whose bound contradicts
            // the static evaluation.
            let quiet = best_move.is_none_or(|mv| self.game.position().piece_at(mv.to()).is_none());
            if let Some(evaluation) = self.ss(ply).static_evaluation
                && !in_check
                && quiet
                && !score::is_decided(best)
                && self.is_path_independent(ply)
                && !(bound == Bound::Lower && best <= evaluation)
                && !(bound == Bound::Upper && best >= evaluation)
            {
                let keys = self.correction_keys(ply);
                self.histories.update_correction(tune, &keys, depth, best - evaluation);
            }
        }
        best
    }

    /// Sets this ply's principal variation: the move, then the child's line.
    pub(super) fn update_pv(&mut self, ply: usize, mv: Move) {
        let (above, below) = self.pv_table.split_at_mut(ply + 1);
        let line = &mut above[ply];
        line.clear();
        line.push(mv);
        let child = &below[0];
        let capacity = line.capacity() - 1;
        line.extend(child.iter().take(capacity).copied());
    }
}

/// The arguments of a node.
#[derive(Clone, Copy)]
struct NodeArguments {
    alpha: Score,
    beta: Score,
    depth: i32,
    ply: usize,
    cut_node: bool,
}

/// The state of a node before its move loop.
#[derive(Clone, Copy)]
struct NodeState {
    key: u64,
    tt_entry: Option<Entry>,
    tt_move: Option<Move>,
    raw_evaluation: Option<Score>,
    tt_pv: bool,
    improving: bool,
    in_check: bool,
    excluded: Option<Move>,
}
