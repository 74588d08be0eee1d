//! In which order moves are tried.

use xiangqi::{Move, MoveList, PieceKind, Position, rules::Game};

use crate::history::{Arrival, Histories};

/// What captures are worth when they are ordered, by kind.
const VICTIMS: [i32; PieceKind::COUNT] = [900, 400, 450, 120, 200, 200, 0];

/// More than all histories together: such moves come first among the quiet ones.
const CLOSES_LOOP: i32 = 1 << 20;

/// What a stage is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    TableMove,
    ListCaptures,
    GoodCaptures,
    ListQuiets,
    Quiets,
    BadCaptures,
    Done,
}

/// Hands out the legal moves of a position, the promising first; most are never listed, let alone sorted.
pub(crate) struct Picker {
    stage: Stage,
    table_move: Option<Move>,
    /// Good captures must not lose more than this by exchange.
    threshold: i32,
    captures_only: bool,
    skip_quiets: bool,
    moves: MoveList,
    scores: [i32; xiangqi::MAX_MOVES],
    next: usize,
    bad: MoveList,
    next_bad: usize,
}

/// What the order of quiet moves depends on beside the move.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    /// The arrivals one, two and four plies before.
    pub(crate) before: [Option<Arrival>; 3],
}

impl Context {
    pub(crate) const NONE: Self = Self { before: [None; 3] };
}

impl Picker {
    /// All legal moves.
    pub(crate) fn new(position: &Position, table_move: Option<Move>) -> Self {
        Self::begin(position, table_move, 0, false)
    }

    /// Captures that gain at least `threshold` by exchange.
    pub(crate) fn captures(position: &Position, table_move: Option<Move>, threshold: i32) -> Self {
        let table_move = table_move.filter(|mv| position.piece_at(mv.to()).is_some());
        Self::begin(position, table_move, threshold, true)
    }

    fn begin(position: &Position, table_move: Option<Move>, threshold: i32, captures_only: bool) -> Self {
        Self {
            stage: Stage::TableMove,
            // A table move may be another position's.
            table_move: table_move.filter(|mv| position.is_legal(*mv)),
            threshold,
            captures_only,
            skip_quiets: false,
            moves: MoveList::new(),
            scores: [0; xiangqi::MAX_MOVES],
            next: 0,
            bad: MoveList::new(),
            next_bad: 0,
        }
    }

    /// From now on only captures.
    pub(crate) const fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Whether the moves handed out now are the captures that lose material.
    pub(crate) fn is_at_bad_captures(&self) -> bool {
        self.stage == Stage::BadCaptures
    }

    pub(crate) fn next(&mut self, game: &Game, histories: &Histories, context: Context) -> Option<Move> {
        let position = game.position();
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::ListCaptures;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::ListCaptures => {
                    self.moves = position.captures();
                    self.score_captures(position, histories);
                    self.stage = Stage::GoodCaptures;
                }
                Stage::GoodCaptures => match self.best() {
                    Some(mv) if position.exchange_at_least(mv, self.threshold) => return Some(mv),
                    Some(mv) => self.bad.push(mv),
                    None if self.captures_only => self.stage = Stage::Done,
                    None => self.stage = Stage::ListQuiets,
                },
                Stage::ListQuiets => {
                    if self.skip_quiets {
                        self.stage = Stage::BadCaptures;
                        continue;
                    }
                    self.moves = position.quiets();
                    self.next = 0;
                    self.score_quiets(game, histories, context);
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => match self.best() {
                    Some(mv) if !self.skip_quiets => return Some(mv),
                    _ => self.stage = Stage::BadCaptures,
                },
                Stage::BadCaptures => match self.bad.get(self.next_bad) {
                    Some(mv) => {
                        self.next_bad += 1;
                        return Some(*mv);
                    }
                    None => self.stage = Stage::Done,
                },
                Stage::Done => return None,
            }
        }
    }

    /// The best of the moves that are left, but for the table's, which has been tried.
    fn best(&mut self) -> Option<Move> {
        loop {
            let left = self.next..self.moves.len();
            let best = left.max_by_key(|index| (self.scores[*index], std::cmp::Reverse(*index)))?;
            self.moves.swap(self.next, best);
            self.scores.swap(self.next, best);
            let mv = self.moves[self.next];
            self.next += 1;
            if Some(mv) != self.table_move {
                return Some(mv);
            }
        }
    }

    fn score_captures(&mut self, position: &Position, histories: &Histories) {
        for (mv, score) in self.moves.iter().zip(&mut self.scores) {
            let (Some(piece), Some(victim)) = (position.piece_at(mv.from()), position.piece_at(mv.to())) else {
                continue;
            };
            *score = VICTIMS[victim.kind().index()] * 16 + histories.capture(piece, mv.to(), victim.kind());
        }
    }

    fn score_quiets(&mut self, game: &Game, histories: &Histories, context: Context) {
        let position = game.position();
        for (mv, score) in self.moves.iter().zip(&mut self.scores) {
            let Some(piece) = position.piece_at(mv.from()) else { continue };
            let arrival = Arrival::new(piece, mv.to());
            *score = 2 * histories.quiet(position.turn(), *mv)
                + context.before.iter().map(|before| histories.continuation(*before, arrival)).sum::<i32>();
            // A loop that closes is judged at once: it costs nothing to look, and may win or save the game.
            if game.may_repeat(*mv) {
                *score += CLOSES_LOOP;
            }
        }
    }
}
