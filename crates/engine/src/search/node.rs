//! The inner nodes of the tree: a principal variation search with what prunes, reduces and extends it.

use xiangqi::{Move, MoveList};

use super::{ANYWHERE, Shared, Worker, reductions};
use crate::{
    history::Arrival,
    picker::Picker,
    report::LineBound,
    score::{self, INFINITE, LEAST_VERDICT, MAX_PLY, Score},
    table::{Bound, Entry},
};

impl Worker {
    /// The score of a position, searched `depth` plies deep within a window.
    #[allow(clippy::too_many_lines, reason = "one node, read from top to bottom")]
    pub(super) fn search<const PV: bool>(
        &mut self,
        shared: &Shared<'_>,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
        expect_cut: bool,
    ) -> Score {
        let in_check = self.game.position().in_check();
        if depth <= 0 {
            return self.quiesce::<PV>(shared, alpha, beta, ply);
        }
        depth = depth.min(MAX_PLY as i32 - 1);
        let at_root = PV && ply == 0;
        if PV {
            self.variations[ply].clear();
            self.selective_depth = self.selective_depth.max(ply);
        }
        if self.must_stop(shared) {
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
            alpha = alpha.max(score::mated_in(ply));
            beta = beta.min(score::mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        let excluded = self.frame(ply).excluded;
        let key = self.key();
        let found = if excluded.is_some() { None } else { shared.table.probe(key, ply) };
        let table_move = if at_root {
            self.root_moves[self.first_line].moves.first().copied()
        } else {
            found.and_then(|entry| entry.mv)
        };
        if let Some(entry) = found
            && !PV
            && entry.depth >= depth + i32::from(entry.score <= alpha)
            && entry.settles(alpha, beta)
        {
            if entry.score >= beta
                && let Some(mv) = entry.mv
                && self.game.position().piece_at(mv.to()).is_none()
                && self.game.position().is_legal(mv)
            {
                self.reward_quiet(ply, mv, bonus(depth));
            }
            return entry.score;
        }
        let was_pv = PV || found.is_some_and(|entry| entry.was_pv);

        // What the position is worth at first sight.
        let mut raw = None;
        let mut evaluation = -INFINITE;
        if in_check {
            self.frame(ply).evaluation = None;
        } else if excluded.is_some() {
            evaluation = self.frame(ply).evaluation.unwrap_or(0);
        } else {
            let static_evaluation = found.and_then(|entry| entry.evaluation).unwrap_or_else(|| self.evaluate());
            raw = Some(static_evaluation);
            evaluation = self.corrected(static_evaluation);
            self.frame(ply).evaluation = Some(evaluation);
            if let Some(entry) = found
                && entry.improves_on(evaluation)
                && !score::is_decided(entry.score)
            {
                evaluation = entry.score;
            }
        }
        let improving = !in_check
            && match (self.before(ply, 2).evaluation, self.before(ply, 4).evaluation) {
                (Some(before), _) | (None, Some(before)) => self.frame(ply).evaluation.is_some_and(|now| now > before),
                (None, None) => true,
            };
        self.frame(ply + 1).cutoffs = 0;
        self.frame(ply + 1).excluded = None;
        self.frame(ply).double_extensions = if ply == 0 { 0 } else { self.before(ply, 1).double_extensions };

        if !PV && !in_check && excluded.is_none() {
            // So far below that only a tactical stroke could help: look for one.
            if depth <= 3 && evaluation + 220 * depth + 60 < alpha && !score::is_decided(alpha) {
                let score = self.quiesce::<false>(shared, alpha, alpha + 1, ply);
                if score <= alpha || self.stopped {
                    return score;
                }
            }
            // So far above that the opponent could not make up for it in the few plies left.
            if depth <= 8
                && !was_pv
                && evaluation - 75 * (depth - i32::from(improving)) >= beta
                && !score::is_decided(beta)
                && evaluation < LEAST_VERDICT
            {
                self.reach = ANYWHERE;
                return Score::midpoint(evaluation, beta);
            }
            // Good enough even if the opponent moves twice in a row.
            if depth >= 3
                && evaluation >= beta
                && self.frame(ply).evaluation.is_some_and(|now| now + 18 * depth - 130 >= beta)
                && self.before(ply, 1).mv.is_some()
                && !score::is_decided(beta)
                && self.can_pass()
            {
                let reduction = 3 + depth / 4 + ((evaluation - beta) / 180).min(3);
                let frame = self.frame(ply);
                frame.mv = None;
                frame.arrival = None;
                frame.captured = false;
                let null = self.game.advance_null();
                let score = -self.search::<false>(shared, -beta, -beta + 1, depth - reduction, ply + 1, !expect_cut);
                self.game.retract_null(null);
                if self.stopped {
                    return 0;
                }
                if score >= beta {
                    let score = if score::is_decided(score) { beta } else { score };
                    if depth < 14 {
                        return score;
                    }
                    // Deep down, make sure that it was not only that every move would harm.
                    self.frame(ply).excluded = None;
                    let verified = self.search_without_null(shared, beta, depth - reduction, ply);
                    if verified >= beta || self.stopped {
                        return score;
                    }
                }
            }
            // A capture that is far too good even for a shallow search.
            let raised = beta + 190 - 60 * i32::from(improving);
            if depth >= 5
                && !score::is_decided(beta)
                && found.is_none_or(|entry| entry.depth < depth - 3 || entry.score >= raised)
                && let Some(score) =
                    self.try_captures(shared, raised, depth, ply, expect_cut, table_move, key, raw, was_pv)
            {
                return score;
            }
        }
        if self.stopped {
            return 0;
        }
        // Nothing is known of this node: it is not worth its full depth.
        if depth >= 4 && table_move.is_none() && (PV || expect_cut) && excluded.is_none() {
            depth -= 1;
        }

        self.search_moves::<PV>(
            shared,
            Window { alpha, beta, depth, ply, expect_cut },
            Knowledge { key, found, table_move, raw, was_pv, improving, in_check, excluded },
        )
    }

    /// A verification of a passed turn: the same search with the turn not passed.
    fn search_without_null(&mut self, shared: &Shared<'_>, beta: Score, depth: i32, ply: usize) -> Score {
        // Before a frame without a move the turn is not passed again: what is verified is this node's moves.
        let before = self.frames[ply + super::BEFORE_ROOT - 1];
        self.frames[ply + super::BEFORE_ROOT - 1].mv = None;
        let score = self.search::<false>(shared, beta - 1, beta, depth, ply, false);
        self.frames[ply + super::BEFORE_ROOT - 1] = before;
        score
    }

    #[allow(clippy::too_many_arguments, reason = "a part of the node above, set apart to be read")]
    fn try_captures(
        &mut self,
        shared: &Shared<'_>,
        raised: Score,
        depth: i32,
        ply: usize,
        expect_cut: bool,
        table_move: Option<Move>,
        key: u64,
        raw: Option<Score>,
        was_pv: bool,
    ) -> Option<Score> {
        let needed = raised - self.frame(ply).evaluation.unwrap_or(0);
        let mut picker = Picker::captures(self.game.position(), table_move, needed);
        let context = self.context(ply);
        while let Some(mv) = picker.next(&self.game, &self.histories, context) {
            if Some(mv) == table_move && !self.game.position().exchange_at_least(mv, needed) {
                continue;
            }
            shared.table.prefetch(self.game.position().key_after(mv));
            self.make(ply, mv);
            let mut score = -self.quiesce::<false>(shared, -raised, -raised + 1, ply + 1);
            if score >= raised && !self.stopped {
                score = -self.search::<false>(shared, -raised, -raised + 1, depth - 4, ply + 1, !expect_cut);
            }
            self.unmake();
            if self.stopped {
                return Some(0);
            }
            if score >= raised {
                let depth = depth - 3;
                let entry = Entry { mv: Some(mv), score, evaluation: raw, depth, bound: Bound::Lower, was_pv };
                self.remember(shared, key, ply, entry);
                return Some(if score::is_decided(score) { score } else { score - 95 });
            }
        }
        None
    }

    #[allow(clippy::too_many_lines, reason = "one node, read from top to bottom")]
    fn search_moves<const PV: bool>(&mut self, shared: &Shared<'_>, window: Window, known: Knowledge) -> Score {
        let Window { mut alpha, beta, depth, ply, expect_cut } = window;
        let Knowledge { key, found, table_move, raw, was_pv, improving, in_check, excluded } = known;
        let at_root = PV && ply == 0;
        let before_alpha = alpha;
        let side = self.game.position().turn();
        let context = self.context(ply);
        let mut picker = Picker::new(self.game.position(), table_move);
        let mut best = -INFINITE;
        let mut best_move = None;
        // How far the best move's score depends on the path, and how far any move's does.
        let (mut reach, mut reach_of_any) = (ANYWHERE, ANYWHERE);
        let mut count = 0;
        let mut quiets = MoveList::new();
        let mut captures = MoveList::new();
        let table_move_takes = table_move.is_some_and(|mv| self.game.position().piece_at(mv.to()).is_some());

        while let Some(mv) = picker.next(&self.game, &self.histories, context) {
            if Some(mv) == excluded || (at_root && !self.is_root_candidate(mv)) {
                continue;
            }
            shared.table.prefetch(self.game.position().key_after(mv));
            count += 1;
            let Some(piece) = self.moved_piece(mv) else { continue };
            let victim = self.game.position().piece_at(mv.to());
            let gives_check = self.game.position().gives_check(mv);
            let arrival = Arrival::new(piece, mv.to());
            let history = match victim {
                Some(victim) => self.histories.capture(piece, mv.to(), victim.kind()),
                None => {
                    2 * self.histories.quiet(side, mv)
                        + self.histories.continuation(context.before[0], arrival)
                        + self.histories.continuation(context.before[1], arrival)
                }
            };
            let mut reduction = reductions::base(depth, count);

            // Nothing is pruned while a quicker mate is sought, nor what closes a loop.
            let spared = score::is_decided(alpha) || victim.is_none() && self.game.may_repeat(mv);
            if !at_root && best > -LEAST_VERDICT && !spared {
                let reduced = (depth - reduction / 1024).max(0);
                if victim.is_none() {
                    let most = (8 + 2 * depth * depth) as usize;
                    if !in_check && count >= most {
                        picker.skip_quiets();
                    }
                    if !gives_check {
                        if depth <= 5 && history < -3500 * depth {
                            picker.skip_quiets();
                            continue;
                        }
                        if !in_check
                            && reduced <= 8
                            && self.frame(ply).evaluation.is_some_and(|now| now + 90 + 85 * reduced <= alpha)
                        {
                            picker.skip_quiets();
                            continue;
                        }
                    }
                }
            }

            let mut extension = 0;
            if !at_root
                && depth >= 7
                && Some(mv) == table_move
                && excluded.is_none()
                && ply < 2 * self.root_depth as usize
                && let Some(entry) = found
                && matches!(entry.bound, Bound::Lower | Bound::Exact)
                && entry.depth >= depth - 3
                && !score::is_decided(entry.score)
            {
                // Is the table's move alone as good as that?
                let bar = entry.score - depth;
                self.frame(ply).excluded = Some(mv);
                let score = self.search::<false>(shared, bar - 1, bar, (depth - 1) / 2, ply, expect_cut);
                self.frame(ply).excluded = None;
                if self.stopped {
                    return 0;
                }
                if score < bar {
                    extension = 1;
                    if !PV && score < bar - 20 && self.frame(ply).double_extensions < 8 {
                        extension = 2;
                        self.frame(ply).double_extensions += 1;
                    }
                } else if bar >= beta {
                    // Several moves are good enough.
                    return bar;
                } else if entry.score >= beta {
                    extension = -2;
                } else if expect_cut {
                    extension = -1;
                }
            } else if gives_check && depth <= 10 && self.game.position().exchange_at_least(mv, 0) {
                extension = 1;
            }

            let nodes_before = self.nodes;
            self.make(ply, mv);
            let new_depth = depth - 1 + extension;
            let mut score = 0;
            let late = depth >= 2 && count > 1 + usize::from(at_root);
            if late {
                if was_pv {
                    reduction -= 900 + 500 * i32::from(PV);
                }
                if expect_cut {
                    reduction += 1500;
                }
                if table_move_takes {
                    reduction += 700;
                }
                if !improving {
                    reduction += 350;
                }
                if gives_check {
                    reduction -= 800;
                }
                if self.frame(ply + 1).cutoffs > 3 {
                    reduction += 700;
                }
                reduction -= if victim.is_some() { 900 + history / 8 } else { history / 12 };
                let reduced = (new_depth - reduction / 1024).clamp(1, new_depth.max(1));
                score = -self.search::<false>(shared, -alpha - 1, -alpha, reduced, ply + 1, true);
                if score > alpha && reduced < new_depth && !self.stopped {
                    let deeper = new_depth + i32::from(score > best + 60) - i32::from(score < best + 8);
                    if deeper > reduced {
                        score = -self.search::<false>(shared, -alpha - 1, -alpha, deeper, ply + 1, !expect_cut);
                    }
                    if victim.is_none() && !self.stopped {
                        let sign = if score >= beta { 1 } else { -1 };
                        self.update_continuations(ply, arrival, sign * bonus(depth));
                    }
                }
            } else if !PV || count > 1 {
                score = -self.search::<false>(shared, -alpha - 1, -alpha, new_depth, ply + 1, !expect_cut);
            }
            if PV && (count == 1 || score > alpha) && !self.stopped {
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
                self.note_root_move(mv, score, bound, count == 1 || score > alpha, self.nodes - nodes_before);
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
                        self.frame(ply).cutoffs += 1;
                        break;
                    }
                    alpha = score;
                }
            }
            if Some(mv) != best_move {
                if victim.is_some() { captures.push(mv) } else { quiets.push(mv) }
            }
        }

        if count == 0 {
            self.reach = ANYWHERE;
            return if excluded.is_some() { alpha } else { score::mated_in(ply) };
        }
        if let Some(mv) = best_move {
            self.learn(ply, mv, depth, &quiets, &captures);
        }
        self.settle_reach(ply, if best >= beta { reach } else { reach_of_any });
        if excluded.is_none() && !(at_root && self.is_partial()) {
            let bound = Bound::of::<PV>(best, before_alpha, beta);
            self.remember(
                shared,
                key,
                ply,
                Entry { mv: best_move, score: best, evaluation: raw, depth, bound, was_pv },
            );
            let quiet = best_move.is_none_or(|mv| self.game.position().piece_at(mv.to()).is_none());
            if let Some(evaluation) = self.frame(ply).evaluation
                && !in_check
                && quiet
                && !score::is_decided(best)
                && self.is_free_of_path(ply)
                && !(bound == Bound::Lower && best <= evaluation)
                && !(bound == Bound::Upper && best >= evaluation)
            {
                let position = self.game.position();
                let (pawns, material) = (position.pawn_key(), position.material_key());
                self.histories.update_correction(side, pawns, material, depth, best - evaluation);
            }
        }
        best
    }

    /// Rewards the move that was best, and blames those that were tried before it.
    fn learn(&mut self, ply: usize, best: Move, depth: i32, quiets: &MoveList, captures: &MoveList) {
        let reward = bonus(depth);
        let position = self.game.position();
        if let Some(victim) = position.piece_at(best.to()) {
            if let Some(piece) = self.moved_piece(best) {
                self.histories.update_capture(piece, best.to(), victim.kind(), reward);
            }
        } else {
            self.reward_quiet(ply, best, reward);
            for mv in quiets {
                self.reward_quiet(ply, *mv, -reward);
            }
        }
        for mv in captures {
            let position = self.game.position();
            if let (Some(piece), Some(victim)) = (position.piece_at(mv.from()), position.piece_at(mv.to())) {
                self.histories.update_capture(piece, mv.to(), victim.kind(), -reward);
            }
        }
    }

    fn reward_quiet(&mut self, ply: usize, mv: Move, bonus: i32) {
        let Some(piece) = self.moved_piece(mv) else { return };
        self.histories.update_quiet(self.game.position().turn(), mv, bonus);
        self.update_continuations(ply, Arrival::new(piece, mv.to()), bonus);
    }

    fn update_continuations(&mut self, ply: usize, arrival: Arrival, bonus: i32) {
        for before in self.context(ply).before {
            self.histories.update_continuation(before, arrival, bonus);
        }
    }

    /// Puts a move before the line that answers it.
    pub(super) fn extend_variation(&mut self, ply: usize, mv: Move) {
        let (above, below) = self.variations.split_at_mut(ply + 1);
        let line = &mut above[ply];
        line.clear();
        line.push(mv);
        let answer = &below[0];
        let room = line.capacity() - 1;
        line.extend(answer.iter().take(room).copied());
    }
}

/// Where a node stands in the tree, and what it is asked.
#[derive(Clone, Copy)]
struct Window {
    alpha: Score,
    beta: Score,
    depth: i32,
    ply: usize,
    expect_cut: bool,
}

/// What is known of a node before its moves are tried.
#[derive(Clone, Copy)]
struct Knowledge {
    key: u64,
    found: Option<Entry>,
    table_move: Option<Move>,
    raw: Option<Score>,
    was_pv: bool,
    improving: bool,
    in_check: bool,
    excluded: Option<Move>,
}

/// What a success at this depth teaches.
const fn bonus(depth: i32) -> i32 {
    let bonus = 170 * depth - 60;
    if bonus < 1700 { bonus } else { 1700 }
}
