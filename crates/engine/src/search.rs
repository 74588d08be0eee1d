//! One thread's search.

mod deepening;
mod node;
mod quiescence;
mod reductions;
#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use xiangqi::{Move, Piece, PieceKind, rules::Game};

use crate::{
    engine::Control,
    evaluation::{Evaluation, Evaluator},
    history::{Arrival, Histories},
    limits::{Clock, Limits},
    picker::Context,
    score::{self, DRAW, MAX_PLY, MOST_EVALUATION, Score, VERDICT},
    table::{Bound, Entry, Table},
};

/// Keys of positions whose worth depends on how they were reached.
const SALT_OF_REPETITION: u64 = 0x9ddf_ea08_eb38_2d69;
const SALT_OF_LIMIT: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// From how many plies before the natural limit positions are told apart by it, and how finely.
const LIMIT_HORIZON: u32 = 24;
const LIMIT_GRAIN: u32 = 4;

/// The reach of a score that does not depend on how its position was reached.
const ANYWHERE: usize = usize::MAX;

/// After how many nodes a search looks at the clock, and whether somebody stopped it: within 10 ms on any machine that
/// makes 25,000 nodes a second.
const CLOCK_PERIOD: u64 = 256;

/// What the threads of one search share.
pub(crate) struct Shared<'a> {
    pub(crate) table: &'a Table,
    pub(crate) limits: &'a Limits,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) control: &'a Control,
    /// Set by the first thread when it has come to its end: the others stop then.
    pub(crate) halt: &'a AtomicBool,
    /// Nodes of each thread, as last published.
    pub(crate) nodes: &'a [AtomicU64],
}

impl Shared<'_> {
    pub(crate) fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }
}

/// What the search knows of a ply of the line it is looking at.
#[derive(Clone, Copy)]
struct Frame {
    /// The move made here, and where it brought which piece; none for a passed turn.
    mv: Option<Move>,
    arrival: Option<Arrival>,
    captured: bool,
    evaluation: Option<Score>,
    /// The move that a verification search leaves out.
    excluded: Option<Move>,
    /// How often the children of this ply's nodes were cut off.
    cutoffs: u32,
    double_extensions: u32,
}

impl Frame {
    const NEW: Self = Self {
        mv: None,
        arrival: None,
        captured: false,
        evaluation: None,
        excluded: None,
        cutoffs: 0,
        double_extensions: 0,
    };
}

/// Frames before the root, so that it can be asked what came before.
const BEFORE_ROOT: usize = 6;

/// A line, as the search hands it up.
type PrincipalVariation = arrayvec::ArrayVec<Move, MAX_PLY>;

/// A thread of a search, with what it has learned in this game.
pub(crate) struct Worker {
    histories: Histories,
    evaluator: Evaluator,
    game: Game,
    root: usize,
    nodes: u64,
    selective_depth: usize,
    frames: Box<[Frame; MAX_PLY + BEFORE_ROOT + 2]>,
    variations: Box<[PrincipalVariation; MAX_PLY + 2]>,
    stopped: bool,
    /// How far back the score that was found last depends on the path: it holds only behind the node `ply` plies from
    /// the root with `ply < reach`, and nowhere if it is 0. [`ANYWHERE`] if it does not.
    reach: usize,
    index: usize,
    root_depth: i32,
    root_moves: Vec<deepening::RootMove>,
    /// The root moves before this one have their place among the best lines already.
    first_line: usize,
    /// Whether only some of the legal moves are root moves.
    restricted: bool,
}

impl Worker {
    pub(crate) fn new(evaluation: &Evaluation, index: usize) -> Self {
        let Ok(variations) = vec![PrincipalVariation::new(); MAX_PLY + 2].into_boxed_slice().try_into() else {
            unreachable!("it has that many entries")
        };
        Self {
            histories: Histories::new(),
            evaluator: Evaluator::new(evaluation),
            game: Game::new(xiangqi::Fen::start(), xiangqi::rules::RuleSet::Cxr),
            root: 0,
            nodes: 0,
            selective_depth: 0,
            frames: Box::new([Frame::NEW; MAX_PLY + BEFORE_ROOT + 2]),
            variations,
            stopped: false,
            reach: ANYWHERE,
            index,
            root_depth: 0,
            root_moves: Vec::new(),
            first_line: 0,
            restricted: false,
        }
    }

    /// Forgets what was learned.
    pub(crate) fn clear(&mut self) {
        self.histories.clear();
    }

    pub(crate) fn set_evaluation(&mut self, evaluation: &Evaluation) {
        self.evaluator = Evaluator::new(evaluation);
    }

    fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + BEFORE_ROOT]
    }

    /// The frame `back` plies before.
    fn before(&self, ply: usize, back: usize) -> &Frame {
        &self.frames[ply + BEFORE_ROOT - back]
    }

    fn context(&self, ply: usize) -> Context {
        Context { before: [1, 2, 4].map(|back| self.before(ply, back).arrival) }
    }

    /// Whether to give up at once. Asked at every node.
    fn must_stop(&mut self, shared: &Shared<'_>) -> bool {
        if self.stopped {
            return true;
        }
        if let Some(most) = shared.limits.hard_nodes
            && self.index == 0
            && self.nodes >= most
        {
            self.stopped = true;
        }
        if self.nodes.is_multiple_of(CLOCK_PERIOD) {
            shared.nodes[self.index].store(self.nodes, Relaxed);
            // Whoever asks for a move gets one that was looked at: the first iteration takes no time.
            if self.root_depth <= 1 && self.index == 0 {
                return self.stopped;
            }
            self.stopped |= shared.halt.load(Relaxed) || shared.control.is_stopped();
            if let Some(most) = shared.limits.hard_nodes
                && shared.nodes.len() > 1
                && shared.total_nodes() >= most
            {
                self.stopped = true;
            }
            if let Some(most) = shared.limits.hard_time
                && self.index == 0
                && !shared.control.is_pondering()
                && shared.clock.elapsed() >= most
            {
                self.stopped = true;
            }
        }
        self.stopped
    }

    fn make(&mut self, ply: usize, mv: Move) {
        let position = self.game.position();
        let captured = position.piece_at(mv.to()).is_some();
        let arrival = position.piece_at(mv.from()).map(|piece| Arrival::new(piece, mv.to()));
        self.evaluator.push(position, mv);
        self.game.advance(mv);
        self.nodes += 1;
        let frame = self.frame(ply);
        frame.mv = Some(mv);
        frame.arrival = arrival;
        frame.captured = captured;
    }

    fn unmake(&mut self) {
        self.game.retract();
        self.evaluator.pop();
    }

    /// The key under which the position is stored: first visits apart from later ones, and by how near the natural
    /// limit is when it is near.
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

    /// What the rules say of this position before anything is searched, if they end the game or close a loop.
    fn verdict(&mut self, ply: usize) -> Option<Score> {
        self.reach = ANYWHERE;
        if let Some(cycle) = self.game.repetition(self.root) {
            // From the node where the loop begins on towards the root the loop is part of what lies ahead.
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

    /// Whether the score that was found last holds for a node whatever led to it.
    const fn is_free_of_path(&self, ply: usize) -> bool {
        self.reach > ply
    }

    /// The reach of a node's score, from that of the moves it rests on: the one that refutes, or else all, since each
    /// was found to be no better. A loop that begins here or behind lies ahead, and is nothing of the path.
    const fn settle_reach(&mut self, ply: usize, reach: usize) {
        self.reach = if reach > ply { ANYWHERE } else { reach };
    }

    /// Stores what was found of a node. A score that depends on the path to it does not enter the table; the move does.
    fn remember(&self, shared: &Shared<'_>, key: u64, ply: usize, entry: Entry) {
        let entry = if score::is_verdict(entry.score) || !self.is_free_of_path(ply) {
            Entry { score: DRAW, depth: 0, bound: Bound::Nothing, ..entry }
        } else {
            entry
        };
        shared.table.store(key, ply, entry);
    }

    /// The raw evaluation, before corrections.
    fn evaluate(&mut self) -> Score {
        self.evaluator.evaluate(self.game.position())
    }

    /// An evaluation with what the search has learned of its errors.
    fn corrected(&self, evaluation: Score) -> Score {
        let position = self.game.position();
        let correction = self.histories.correction(position.turn(), position.pawn_key(), position.material_key());
        (evaluation + correction).clamp(-MOST_EVALUATION, MOST_EVALUATION)
    }

    /// What the piece that a move takes is worth to whoever prunes by it.
    fn victim_value(&self, mv: Move) -> Score {
        self.game.position().piece_at(mv.to()).map_or(0, |piece| xiangqi::EXCHANGE_VALUES[piece.kind().index()])
    }

    /// Whether the side to move has something that could move without harm: where it has not, passing the turn is no
    /// measure of a position.
    fn can_pass(&self) -> bool {
        use PieceKind::{Cannon, Chariot, Horse};
        let position = self.game.position();
        let side = position.turn();
        [Chariot, Horse, Cannon].into_iter().any(|kind| position.pieces(side, kind).any())
    }

    fn moved_piece(&self, mv: Move) -> Option<Piece> {
        self.game.position().piece_at(mv.from())
    }

    /// The time since the search began, for reports; zero under a clock that stands still.
    fn elapsed(shared: &Shared<'_>) -> Duration {
        shared.clock.elapsed()
    }
}
