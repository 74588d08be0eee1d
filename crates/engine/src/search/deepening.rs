//! The root: iterative deepening with aspiration windows, and soft time management.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use xiangqi::{Move, rules::Game};

use super::{Shared, StackEntry, Worker};
use crate::{
    report::{Line, LineBound, Report},
    score::{INFINITE, MAX_PLY, Score},
    tune::Parameters,
};

/// A root move with its last score and line.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub(super) score: Score,
    pub(super) previous_score: Score,
    pub(super) bound: LineBound,
    pub(super) moves: Vec<Move>,
    nodes: u64,
}

impl RootMove {
    pub(super) fn new(mv: Move, score: Score, bound: LineBound) -> Self {
        Self { score, previous_score: -INFINITE, bound, moves: vec![mv], nodes: 0 }
    }
}

impl Worker {
    /// Searches the game's last position; calls `report` after each completed iteration.
    pub(crate) fn run(&mut self, game: &Game, shared: &Shared<'_>, report: &mut dyn FnMut(&Report)) -> Report {
        self.begin(game, shared);
        let lines = shared.limits.lines.clamp(1, self.root_moves.len().max(1));
        let max_depth = shared.limits.depth.map_or(MAX_PLY as i32 - 1, |depth| depth.min(MAX_PLY as u32 - 1) as i32);
        let mut last = self.report(shared, lines, 0);
        if self.root_moves.is_empty() {
            return last;
        }
        let mut stability = Stability::default();
        // The root moves after the last completed iteration.
        let mut completed = Vec::new();
        for depth in 1..=max_depth {
            self.root_depth = depth;
            // Lazy SMP: each helper skips every third depth, so that the threads diverge.
            if self.index > 0 && (depth as usize + self.index).is_multiple_of(3) && depth < max_depth {
                continue;
            }
            for root_move in &mut self.root_moves {
                // Until the iteration reaches a move, reports use its previous score.
                root_move.previous_score = root_move.score;
                root_move.score = -INFINITE;
                root_move.bound = LineBound::Exact;
                root_move.nodes = 0;
            }
            let nodes_before = self.nodes;
            for line in 0..lines {
                self.first_line = line;
                self.search_window(shared, depth, line);
                if self.stopped {
                    break;
                }
                self.root_moves[..=line].sort_by_key(|root_move| std::cmp::Reverse(root_move.score));
            }
            shared.nodes[self.index].store(self.nodes, Relaxed);
            if self.stopped {
                self.discard_unfinished(&completed);
                last = self.report(shared, lines, last.depth);
                break;
            }
            completed.clone_from(&self.root_moves);
            last = self.report(shared, lines, depth as u32);
            if self.index == 0 {
                report(&last);
                stability.update(shared.parameters, &last, self.root_moves[0].nodes, self.nodes - nodes_before);
                if self.should_end(shared, depth, &stability) {
                    break;
                }
            }
        }
        if self.index == 0 {
            shared.stop.store(true, Relaxed);
        }
        last
    }

    fn begin(&mut self, game: &Game, shared: &Shared<'_>) {
        self.game = game.clone();
        self.root = self.game.len();
        self.evaluator.reset(self.game.position());
        self.nodes = 0;
        self.selective_depth = 0;
        self.stopped = false;
        self.first_line = 0;
        self.stack.fill(StackEntry::NEW);
        let wanted = &shared.limits.root_moves;
        self.restricted = !wanted.is_empty();
        self.root_moves = self
            .game
            .position()
            .legal_moves()
            .into_iter()
            .filter(|mv| wanted.is_empty() || wanted.contains(mv))
            .map(|mv| RootMove::new(mv, -INFINITE, LineBound::Exact))
            .collect();
    }

    /// Aspiration window: searches a window around the previous score, and widens it until the
    /// score lies inside. The initial width grows with the score's size.
    fn search_window(&mut self, shared: &Shared<'_>, depth: i32, line: usize) {
        let expected = self.root_moves[line].previous_score;
        let tune = shared.parameters;
        let growth = expected.abs().min(tune.aspiration_score_max) / tune.aspiration_score_divisor;
        let mut delta = tune.aspiration_delta + growth;
        let (mut alpha, mut beta) = if depth >= tune.aspiration_depth && expected > -INFINITE {
            ((expected - delta).max(-INFINITE), (expected + delta).min(INFINITE))
        } else {
            (-INFINITE, INFINITE)
        };
        let mut reduction = 0;
        loop {
            let score = self.search::<true>(shared, alpha, beta, (depth - reduction).max(1), 0, false);
            self.sort_from(line);
            if self.stopped {
                return;
            }
            if score <= alpha {
                beta = Score::midpoint(alpha, beta);
                alpha = (score - delta).max(-INFINITE);
                reduction = 0;
            } else if score >= beta {
                beta = (score + delta).min(INFINITE);
                // After a fail high a shallower search usually confirms the move.
                reduction = (reduction + 1).min(tune.aspiration_max_reduction);
            } else {
                return;
            }
            delta += (delta * tune.aspiration_widening / 100).max(1);
        }
    }

    /// Resolves an unfinished iteration. A better move stands, with its score if that is exact.
    /// After a fail low the result of the last completed iteration is restored.
    pub(super) fn discard_unfinished(&mut self, completed: &[RootMove]) {
        // Further MultiPV lines with a mere bound keep their previous score.
        for root_move in self.root_moves.iter_mut().skip(1).filter(|root_move| root_move.bound != LineBound::Exact) {
            root_move.score = -INFINITE;
            root_move.bound = LineBound::Exact;
        }
        let Some(first) = self.root_moves.first() else { return };
        // Without a completed iteration there is nothing to restore.
        let Some(last) = completed.first() else { return };
        match first.bound {
            LineBound::Exact if first.score > -INFINITE => {}
            LineBound::AtLeast => {
                // A fail high, possibly of a window that had sunk: at most the previous score is
                // certain.
                let (mv, score) = (first.moves[0], first.score.min(last.score));
                self.root_moves.clone_from_slice(completed);
                if let Some(index) = self.root_moves.iter().position(|root_move| root_move.moves[0] == mv) {
                    self.root_moves[..=index].rotate_right(1);
                }
                let first = &mut self.root_moves[0];
                first.score = score;
                first.bound = LineBound::AtLeast;
            }
            LineBound::Exact | LineBound::AtMost => self.root_moves.clone_from_slice(completed),
        }
    }

    /// Sorts the lines not yet placed by score; stable.
    fn sort_from(&mut self, line: usize) {
        self.root_moves[line..].sort_by_key(|root_move| std::cmp::Reverse(root_move.score));
    }

    /// Whether root moves are left out, so that the score is not the position's.
    pub(super) fn is_partial(&self) -> bool {
        self.first_line > 0 || self.restricted
    }

    pub(super) fn is_root_candidate(&self, mv: Move) -> bool {
        self.root_moves[self.first_line..].iter().any(|root_move| root_move.moves[0] == mv)
    }

    /// Records a root move's result. Moves that are not best get no score; `bound` is for the best.
    pub(super) fn record_root_move(&mut self, mv: Move, score: Score, bound: LineBound, is_best: bool, nodes: u64) {
        let Some(root_move) = self.root_moves.iter_mut().find(|root_move| root_move.moves[0] == mv) else { return };
        root_move.nodes += nodes;
        if is_best {
            root_move.score = score;
            root_move.bound = bound;
            root_move.moves.truncate(1);
            root_move.moves.extend(&self.pv_table[1]);
        } else {
            root_move.score = -INFINITE;
            root_move.bound = LineBound::Exact;
        }
    }

    fn report(&self, shared: &Shared<'_>, lines: usize, depth: u32) -> Report {
        let lines = self.root_moves.iter().take(lines).map(|root_move| {
            // A line that the iteration did not reach keeps its previous score.
            let score = if root_move.score == -INFINITE { root_move.previous_score } else { root_move.score };
            Line { score, bound: root_move.bound, moves: root_move.moves.clone() }
        });
        Report {
            depth,
            selective_depth: self.selective_depth,
            nodes: if shared.nodes.len() == 1 { self.nodes } else { shared.total_nodes() },
            time: Self::elapsed(shared),
            table_fullness: shared.table.fullness(),
            lines: lines.collect(),
        }
    }

    /// Whether not to begin another iteration.
    fn should_end(&self, shared: &Shared<'_>, depth: i32, stability: &Stability) -> bool {
        let limits = shared.limits;
        if limits.soft_nodes.is_some_and(|limit| self.nodes >= limit) {
            return true;
        }
        if shared.control.is_pondering() {
            return false;
        }
        let Some(soft) = limits.soft_time else { return false };
        if self.root_moves.len() == 1 && depth >= shared.parameters.time_forced_depth {
            return true;
        }
        shared.clock.elapsed() >= stability.scaled(shared.parameters, soft)
    }
}

/// Best-move stability, which scales the soft time limit.
#[derive(Default)]
struct Stability {
    best: Option<Move>,
    iterations: i32,
    last_score: Score,
    fall: Score,
    effort: i32,
}

impl Stability {
    fn update(&mut self, tune: &Parameters, report: &Report, best_move_nodes: u64, nodes: u64) {
        let best = report.best_move();
        self.iterations = if best == self.best { (self.iterations + 1).min(tune.time_stability_max) } else { 0 };
        self.best = best;
        let score = report.score().unwrap_or(0);
        self.fall = (self.last_score - score).clamp(0, tune.time_fall_max);
        self.last_score = score;
        self.effort = (100 * best_move_nodes).checked_div(nodes).unwrap_or(0).min(100) as i32;
    }

    /// Scales the time from about half, with a stable best move that took most nodes, to twice. A
    /// falling score adds up to a half.
    fn scaled(&self, tune: &Parameters, time: Duration) -> Duration {
        let stability = (tune.time_stability_base - tune.time_stability_step * self.iterations).max(1) as u32;
        let effort = (tune.time_effort_base - self.effort).max(1) as u32;
        let fall = (100 + self.fall / tune.time_fall_divisor) as u32;
        time * stability * effort / 100 * fall / 10_000
    }
}
