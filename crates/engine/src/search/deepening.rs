//! The root: deeper and deeper, within a window around what was found before, for as long as the limits allow.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use xiangqi::{Move, rules::Game};

use super::{Frame, Shared, Worker};
use crate::{
    report::{Line, LineBound, Report},
    score::{INFINITE, MAX_PLY, Score},
};

/// The first half width of the window, in hundredths of a pawn.
const WINDOW: Score = 14;

/// A move at the root, and what was found of it.
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
    /// Searches the game's last position; calls `report` after each iteration.
    pub(crate) fn run(&mut self, game: &Game, shared: &Shared<'_>, report: &mut dyn FnMut(&Report)) -> Report {
        self.begin(game, shared);
        let lines = shared.limits.lines.clamp(1, self.root_moves.len().max(1));
        let most_depth = shared.limits.depth.map_or(MAX_PLY as i32 - 1, |depth| depth.min(MAX_PLY as u32 - 1) as i32);
        let mut last = self.report(shared, lines, 0);
        if self.root_moves.is_empty() {
            return last;
        }
        let mut steady = Steadiness::default();
        // The root moves as the last whole iteration left them.
        let mut finished = Vec::new();
        for depth in 1..=most_depth {
            self.root_depth = depth;
            // Helpers do not all do the same work.
            if self.index > 0 && (depth as usize + self.index).is_multiple_of(3) && depth < most_depth {
                continue;
            }
            for root_move in &mut self.root_moves {
                // What an iteration has not reached has no score of it; reports then take the one before.
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
                self.settle(&finished);
                last = self.report(shared, lines, last.depth);
                break;
            }
            finished.clone_from(&self.root_moves);
            last = self.report(shared, lines, depth as u32);
            if self.index == 0 {
                report(&last);
                steady.note(&last, self.root_moves[0].nodes, self.nodes - nodes_before);
                if self.is_enough(shared, depth, &steady) {
                    break;
                }
            }
        }
        if self.index == 0 {
            shared.halt.store(true, Relaxed);
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
        self.frames.fill(Frame::NEW);
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

    /// One line of one iteration: widens the window until the score lies within.
    fn search_window(&mut self, shared: &Shared<'_>, depth: i32, line: usize) {
        let expected = self.root_moves[line].previous_score;
        let mut width = WINDOW + expected.abs().min(4000) / 200;
        let (mut alpha, mut beta) = if depth >= 4 && expected > -INFINITE {
            ((expected - width).max(-INFINITE), (expected + width).min(INFINITE))
        } else {
            (-INFINITE, INFINITE)
        };
        let mut lowered = 0;
        loop {
            let score = self.search::<true>(shared, alpha, beta, (depth - lowered).max(1), 0, false);
            self.sort_from(line);
            if self.stopped {
                return;
            }
            if score <= alpha {
                beta = Score::midpoint(alpha, beta);
                alpha = (score - width).max(-INFINITE);
                lowered = 0;
            } else if score >= beta {
                beta = (score + width).min(INFINITE);
                lowered = (lowered + 1).min(3);
            } else {
                return;
            }
            width += width / 2;
        }
    }

    /// Makes of an unfinished iteration what can be said: a better move that was found stands, with its score if that is
    /// exact; what was only found to be worse than hoped is no score, and all is as the last whole iteration left it.
    pub(super) fn settle(&mut self, finished: &[RootMove]) {
        // A further line that was cut off in its window keeps its score from before.
        for root_move in self.root_moves.iter_mut().skip(1).filter(|root_move| root_move.bound != LineBound::Exact) {
            root_move.score = -INFINITE;
            root_move.bound = LineBound::Exact;
        }
        let Some(first) = self.root_moves.first() else { return };
        // Without a whole iteration there is nothing else to say.
        let Some(last) = finished.first() else { return };
        match first.bound {
            LineBound::Exact if first.score > -INFINITE => {}
            LineBound::AtLeast => {
                // Better than the window, which may have sunk below what was known.
                let (mv, score) = (first.moves[0], first.score.min(last.score));
                self.root_moves.clone_from_slice(finished);
                if let Some(index) = self.root_moves.iter().position(|root_move| root_move.moves[0] == mv) {
                    self.root_moves[..=index].rotate_right(1);
                }
                let first = &mut self.root_moves[0];
                first.score = score;
                first.bound = LineBound::AtLeast;
            }
            LineBound::Exact | LineBound::AtMost => self.root_moves.clone_from_slice(finished),
        }
    }

    /// The best of the lines not yet placed first; ties keep their order.
    fn sort_from(&mut self, line: usize) {
        self.root_moves[line..].sort_by_key(|root_move| std::cmp::Reverse(root_move.score));
    }

    /// Whether some root moves are left out: what is found is then not what the position is worth.
    pub(super) fn is_partial(&self) -> bool {
        self.first_line > 0 || self.restricted
    }

    pub(super) fn is_root_candidate(&self, mv: Move) -> bool {
        self.root_moves[self.first_line..].iter().any(|root_move| root_move.moves[0] == mv)
    }

    /// Remembers what was found of a root move; of most that they are no better than the best.
    /// `bound` is what the score says of the best.
    pub(super) fn note_root_move(&mut self, mv: Move, score: Score, bound: LineBound, is_best: bool, nodes: u64) {
        let Some(root_move) = self.root_moves.iter_mut().find(|root_move| root_move.moves[0] == mv) else { return };
        root_move.nodes += nodes;
        if is_best {
            root_move.score = score;
            root_move.bound = bound;
            root_move.moves.truncate(1);
            root_move.moves.extend(&self.variations[1]);
        } else {
            root_move.score = -INFINITE;
            root_move.bound = LineBound::Exact;
        }
    }

    fn report(&self, shared: &Shared<'_>, lines: usize, depth: u32) -> Report {
        let lines = self.root_moves.iter().take(lines).map(|root_move| {
            // A line that the iteration did not reach has its score from the one before.
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

    /// Whether another iteration is not worth beginning.
    fn is_enough(&self, shared: &Shared<'_>, depth: i32, steady: &Steadiness) -> bool {
        let limits = shared.limits;
        if limits.soft_nodes.is_some_and(|most| self.nodes >= most) {
            return true;
        }
        if shared.control.is_pondering() {
            return false;
        }
        let Some(soft) = limits.soft_time else { return false };
        if self.root_moves.len() == 1 && depth >= 4 {
            return true;
        }
        shared.clock.elapsed() >= steady.scaled(soft)
    }
}

/// How sure the search is of its move, which decides how much of its time it takes.
#[derive(Default)]
struct Steadiness {
    best: Option<Move>,
    iterations: u32,
    last_score: Score,
    fall: Score,
    effort: u64,
}

impl Steadiness {
    fn note(&mut self, report: &Report, nodes_of_best: u64, nodes: u64) {
        let best = report.best_move();
        self.iterations = if best == self.best { (self.iterations + 1).min(8) } else { 0 };
        self.best = best;
        let score = report.score().unwrap_or(0);
        self.fall = (self.last_score - score).clamp(0, 100);
        self.last_score = score;
        self.effort = (100 * nodes_of_best).checked_div(nodes).unwrap_or(0);
    }

    /// From about half the time, when the move has long been the same and got most of the nodes, to twice.
    fn scaled(&self, time: Duration) -> Duration {
        let steadiness = 140 - 9 * self.iterations;
        let effort = 160 - self.effort.min(100) as u32;
        let fall = 100 + self.fall as u32 / 2;
        time * steadiness * effort / 100 * fall / 10_000
    }
}
