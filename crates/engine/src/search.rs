//! The alpha-beta search of one thread: principal variation search (PVS) with iterative deepening.
//!
//! * `deepening`: iterative deepening, aspiration windows, time management.
//! * `learning`: updates of the histories.
//! * `node`: interior nodes, with pruning, reductions and extensions.
//! * `quiescence`: quiescence search.
//! * `reductions`: the table of late move reductions (LMR).
//!
//! The threads share the transposition table (Lazy SMP).

mod deepening;
mod learning;
mod node;
mod quiescence;
mod reductions;
#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use xiangqi::{Color, Move, Piece, PieceKind, rules::Game};

use crate::{
    engine::Control,
    evaluation::{Evaluation, Evaluator},
    history::{CorrectionKeys, Histories, PieceTo},
    limits::{Clock, Limits},
    picker::Context,
    score::{self, DRAW, MAX_EVALUATION, MAX_PLY, Score, VERDICT},
    strength::Noise,
    table::{Bound, Entry, Table},
    tune::Parameters,
};

pub(crate) use reductions::Reductions;

/// Zobrist salts for positions whose score depends on the path to them.
const SALT_OF_REPETITION: u64 = 0x9ddf_ea08_eb38_2d69;
const SALT_OF_LIMIT: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Within this many plies of the natural limit, the distance to it is part of the key.
const LIMIT_HORIZON: u32 = 24;
/// Distances are grouped in steps of this many plies, so that neighbours share entries.
const LIMIT_GRAIN: u32 = 4;

/// The `reach` of a path-independent score; see [`Worker::reach`].
const ANYWHERE: usize = usize::MAX;

/// Nodes between two checks of clock and stop flag: 10 ms at 25,000 nodes a second.
const CLOCK_PERIOD: u64 = 256;

/// State shared by the threads of one search.
pub(crate) struct Shared<'a> {
    pub(crate) table: &'a Table,
    pub(crate) parameters: &'a Parameters,
    pub(crate) reductions: &'a Reductions,
    pub(crate) limits: &'a Limits,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) control: &'a Control,
    /// Set by the main thread when it has finished; stops the helpers.
    pub(crate) stop: &'a AtomicBool,
    /// The node count of each thread, as last published.
    pub(crate) nodes: &'a [AtomicU64],
}

impl Shared<'_> {
    pub(crate) fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }
}

/// A search stack entry (`ss`): the state of one ply of the current line.
#[derive(Clone, Copy)]
struct StackEntry {
    /// The move made here; none for a null move.
    mv: Option<Move>,
    /// The moved piece and its destination, the index of continuation history.
    piece_to: Option<PieceTo>,
    captured: bool,
    /// The static evaluation, corrected; none in check.
    static_evaluation: Option<Score>,
    /// The move excluded by a singular extension search.
    excluded: Option<Move>,
    /// Beta cutoffs at this ply since the parent node was entered.
    cutoffs: u32,
    /// Double extensions on the path to this node.
    double_extensions: u32,
}

impl StackEntry {
    const NEW: Self = Self {
        mv: None,
        piece_to: None,
        captured: false,
        static_evaluation: None,
        excluded: None,
        cutoffs: 0,
        double_extensions: 0,
    };
}

/// Empty stack entries before the root, so that `ss - 7` exists at every ply:
/// continuation history 6 plies back, of the move before.
const STACK_OFFSET: usize = 7;

/// A principal variation.
type PrincipalVariation = arrayvec::ArrayVec<Move, MAX_PLY>;

/// One search thread with its histories.
pub(crate) struct Worker {
    histories: Histories,
    evaluator: Evaluator,
    noise: Option<Noise>,
    game: Game,
    root: usize,
    nodes: u64,
    selective_depth: usize,
    stack: Box<[StackEntry; MAX_PLY + STACK_OFFSET + 2]>,
    pv_table: Box<[PrincipalVariation; MAX_PLY + 2]>,
    stopped: bool,
    /// The path dependence of the last returned score. At plies below `reach` the score is valid on
    /// any path, otherwise only on the current one. [`ANYWHERE`] if it is path-independent.
    reach: usize,
    index: usize,
    root_depth: i32,
    root_moves: Vec<deepening::RootMove>,
    /// The index of the current MultiPV line; the root moves before it are already placed.
    first_line: usize,
    /// Whether the root moves are restricted (`searchmoves`).
    restricted: bool,
}

impl Worker {
    pub(crate) fn new(evaluation: &Evaluation, noise: Option<Noise>, index: usize) -> Self {
        let Ok(pv_table) = vec![PrincipalVariation::new(); MAX_PLY + 2].into_boxed_slice().try_into() else {
            unreachable!("the vector has that length")
        };
        Self {
            histories: Histories::new(),
            evaluator: Evaluator::new(evaluation),
            noise,
            game: Game::new(xiangqi::Fen::start(), xiangqi::rules::RuleSet::Cxr),
            root: 0,
            nodes: 0,
            selective_depth: 0,
            stack: Box::new([StackEntry::NEW; MAX_PLY + STACK_OFFSET + 2]),
            pv_table,
            stopped: false,
            reach: ANYWHERE,
            index,
            root_depth: 0,
            root_moves: Vec::new(),
            first_line: 0,
            restricted: false,
        }
    }

    /// Clears the histories.
    pub(crate) fn clear(&mut self) {
        self.histories.clear();
    }

    pub(crate) fn set_evaluation(&mut self, evaluation: &Evaluation) {
        self.evaluator = Evaluator::new(evaluation);
    }

    pub(crate) fn set_noise(&mut self, noise: Option<Noise>) {
        self.noise = noise;
    }

    fn ss(&mut self, ply: usize) -> &mut StackEntry {
        &mut self.stack[ply + STACK_OFFSET]
    }

    /// The stack entry `back` plies earlier (`ss - back`).
    fn ss_before(&self, ply: usize, back: usize) -> &StackEntry {
        &self.stack[ply + STACK_OFFSET - back]
    }

    fn context(&self, ply: usize) -> Context {
        Context { before: [1, 2, 4, 6].map(|back| self.ss_before(ply, back).piece_to) }
    }

    /// Whether the search must unwind. Called at every node; sets `stopped`.
    fn should_stop(&mut self, shared: &Shared<'_>) -> bool {
        if self.stopped {
            return true;
        }
        if let Some(limit) = shared.limits.hard_nodes
            && self.index == 0
            && self.nodes >= limit
        {
            self.stopped = true;
        }
        if self.nodes.is_multiple_of(CLOCK_PERIOD) {
            shared.nodes[self.index].store(self.nodes, Relaxed);
            // Neither clock nor stop flag interrupts the first iteration: every search yields a
            // searched move.
            if self.root_depth <= 1 && self.index == 0 {
                return self.stopped;
            }
            self.stopped |= shared.stop.load(Relaxed) || shared.control.is_stopped();
            if let Some(limit) = shared.limits.hard_nodes
                && shared.nodes.len() > 1
                && shared.total_nodes() >= limit
            {
                self.stopped = true;
            }
            if let Some(limit) = shared.limits.hard_time
                && self.index == 0
                && !shared.control.is_pondering()
                && shared.clock.elapsed() >= limit
            {
                self.stopped = true;
            }
        }
        self.stopped
    }

    fn make(&mut self, ply: usize, mv: Move) {
        let position = self.game.position();
        let captured = position.piece_at(mv.to()).is_some();
        let piece_to = position.piece_at(mv.from()).map(|piece| PieceTo::new(piece, mv.to()));
        self.evaluator.push(position, mv);
        self.game.make_unjudged(mv);
        self.nodes += 1;
        let ss = self.ss(ply);
        ss.mv = Some(mv);
        ss.piece_to = piece_to;
        ss.captured = captured;
    }

    fn unmake(&mut self) {
        self.game.unmake_unjudged();
        self.evaluator.pop();
    }

    /// The transposition table key. Repeated positions and positions near the natural limit have
    /// keys of their own, since their scores depend on the history.
    fn key(&self) -> u64 {
        let mut key = self.game.position().key();
        let occurrences = self.game.occurrences();
        if occurrences > 1 {
            key ^= SALT_OF_REPETITION.wrapping_mul(u64::from(occurrences));
        }
        let left = self.game.rules().limit().saturating_sub(self.game.limit_counter().counted());
        if left <= LIMIT_HORIZON {
            key ^= SALT_OF_LIMIT.wrapping_mul(u64::from(1 + left / LIMIT_GRAIN));
        }
        key
    }

    /// The score by the rules, if the position ends the game or closes a repetition. Sets `reach`.
    fn verdict(&mut self, ply: usize) -> Option<Score> {
        self.reach = ANYWHERE;
        if let Some(cycle) = self.game.repetition(self.root) {
            // At and above the node where the cycle begins, the whole cycle lies within its
            // subtree.
            self.reach = (cycle.from + 1).saturating_sub(self.root);
            return Some(match cycle.loser {
                None => DRAW,
                Some(loser) if loser == self.game.position().turn() => ply as Score - VERDICT,
                Some(_) => VERDICT - ply as Score,
            });
        }
        if self.game.limit_reached() {
            let mated = !self.game.position().has_legal_move();
            return Some(if mated { score::mated_in(ply) } else { DRAW });
        }
        self.game.position().is_bare().then_some(DRAW)
    }

    /// Whether the last score is valid at this ply for any path.
    const fn is_path_independent(&self, ply: usize) -> bool {
        self.reach > ply
    }

    /// Sets a node's reach from the reach of the moves that its score rests on: the refutation at a
    /// cutoff, otherwise all moves. Cycles that begin at or below this node are path-independent.
    const fn set_reach(&mut self, ply: usize, reach: usize) {
        self.reach = if reach > ply { ANYWHERE } else { reach };
    }

    /// Stores a node in the transposition table. Of a path-dependent score only the move and the
    /// evaluation are stored, without a bound (graph history interaction).
    fn store(&self, shared: &Shared<'_>, key: u64, ply: usize, entry: Entry) {
        let entry = if score::is_verdict(entry.score) || !self.is_path_independent(ply) {
            Entry { score: DRAW, depth: 0, bound: Bound::None, ..entry }
        } else {
            entry
        };
        shared.table.store(key, ply, entry);
    }

    /// The raw evaluation, without correction history.
    fn evaluate(&mut self) -> Score {
        let score = self.evaluator.evaluate(self.game.position());
        match self.noise {
            None => score,
            Some(noise) => (score + noise.of(self.game.position())).clamp(-MAX_EVALUATION, MAX_EVALUATION),
        }
    }

    /// Correction history: adds the mean error of earlier evaluations of similar positions.
    fn corrected(&self, tune: &Parameters, evaluation: Score, ply: usize) -> Score {
        let correction = self.histories.correction(tune, &self.correction_keys(ply));
        (evaluation + correction).clamp(-MAX_EVALUATION, MAX_EVALUATION)
    }

    fn correction_keys(&self, ply: usize) -> CorrectionKeys {
        let position = self.game.position();
        let [red, black] = [Color::Red, Color::Black].map(|color| position.non_pawn_key(color));
        CorrectionKeys {
            side: position.turn(),
            keys: [position.pawn_key(), red, black, position.material_key()],
            last: self.ss_before(ply, 1).piece_to,
            before: [2, 4].map(|back| self.ss_before(ply, back).piece_to),
        }
    }

    /// The exchange value of the captured piece.
    fn victim_value(&self, mv: Move) -> Score {
        self.game.position().piece_at(mv.to()).map_or(0, |piece| xiangqi::SEE_VALUES[piece.kind().index()])
    }

    /// Whether a null move is sound: without chariot, horse or cannon zugzwang is too likely.
    fn allows_null_move(&self) -> bool {
        use PieceKind::{Cannon, Chariot, Horse};
        let position = self.game.position();
        let side = position.turn();
        [Chariot, Horse, Cannon].into_iter().any(|kind| position.pieces(side, kind).any())
    }

    fn moved_piece(&self, mv: Move) -> Option<Piece> {
        self.game.position().piece_at(mv.from())
    }

    /// The time since the search began; zero under [`NoClock`](crate::limits::NoClock).
    fn elapsed(shared: &Shared<'_>) -> Duration {
        shared.clock.elapsed()
    }
}
