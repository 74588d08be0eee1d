//! Games: a position with its history.

use crate::{Color, Fen, Move, MoveList, PieceKind, Position, Undo};

use super::{
    CycleVerdict, Ending, LimitCounter, Outcome, Reason, RuleSet, Status,
    cycle::{self, Ring},
    repetition::Filter,
};

/// A game: start, moves and status.
///
/// [`push`](Self::push) and [`pop`](Self::pop) update the status.
///
/// Searches use [`make_unjudged`](Self::make_unjudged) and
/// [`unmake_unjudged`](Self::unmake_unjudged), which skip the verdict, and query
/// [`repetition`](Self::repetition), [`limit_reached`](Self::limit_reached) and
/// [`Position::is_bare`]. None of these allocates while nothing has repeated.
#[derive(Clone, Debug)]
pub struct Game {
    rules: RuleSet,
    start: Fen,
    position: Position,
    limit: LimitCounter,
    /// Plies since the last irreversible move: no earlier position can recur.
    reversible: u32,
    plies: Vec<Ply>,
    filter: Filter,
    status: Status,
}

/// A move with the state before it.
#[derive(Clone, Copy, Debug)]
struct Ply {
    mv: Move,
    undo: Undo,
    limit: LimitCounter,
    reversible: u32,
}

/// The state that [`Game::unmake_null`] restores.
#[derive(Clone, Copy, Debug)]
#[must_use = "a passed turn is taken back with it"]
pub struct NullMove {
    undo: Undo,
    reversible: u32,
}

/// An error: the move cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum PushError {
    #[error("move {ply} ({mv}) is not legal")]
    Illegal { ply: usize, mv: Move },
    #[error("move {ply} ({mv}) comes after the game has ended ({reason})")]
    Over { ply: usize, mv: Move, reason: Reason },
}

impl Game {
    /// Starts a game. It may be over at once.
    #[must_use]
    pub fn new(start: impl Into<Fen>, rules: RuleSet) -> Self {
        let start = start.into();
        let mut game = Self {
            rules,
            position: start.position.clone(),
            limit: LimitCounter::from_fen(start.limit_counter),
            start,
            reversible: 0,
            plies: Vec::with_capacity(256),
            filter: Filter::new(),
            status: Status::Ongoing,
        };
        game.filter.add(game.position.key());
        game.judge();
        game
    }

    /// The rule set.
    #[must_use]
    pub const fn rules(&self) -> RuleSet {
        self.rules
    }

    /// The start of the game.
    #[must_use]
    pub const fn start(&self) -> &Fen {
        &self.start
    }

    /// The current position.
    #[must_use]
    #[inline]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The current position with its counters, none above [`Fen::MAX_COUNTER`]. Checks already
    /// counted by the natural limit are not included.
    #[must_use]
    pub fn fen(&self) -> Fen {
        let black_moves = match self.start.position.turn() {
            Color::Red => self.plies.len() / 2,
            Color::Black => self.plies.len().div_ceil(2),
        };
        Fen {
            position: self.position.clone(),
            limit_counter: self.limit.counted().min(Fen::MAX_COUNTER),
            move_number: self.start.move_number.saturating_add(black_moves as u32).min(Fen::MAX_COUNTER),
        }
    }

    /// The moves made.
    #[must_use]
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = Move> + ExactSizeIterator + '_ {
        self.plies.iter().map(|ply| ply.mv)
    }

    /// The number of moves made.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.plies.len()
    }

    /// Whether no move was made yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// The natural limit's counter.
    #[must_use]
    #[inline]
    pub const fn limit_counter(&self) -> LimitCounter {
        self.limit
    }

    /// Whether the natural limit is reached. The side to move has still lost if it has no legal
    /// move.
    #[must_use]
    #[inline]
    pub const fn limit_reached(&self) -> bool {
        self.limit.counted() >= self.rules.limit()
    }

    /// The status after the last [`push`](Self::push) or [`pop`](Self::pop).
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// Makes a move and judges the game.
    ///
    /// # Errors
    ///
    /// If the game is over or the move is illegal; the game is then unchanged.
    pub fn push(&mut self, mv: Move) -> Result<&Status, PushError> {
        let ply = self.plies.len() + 1;
        if let Status::Over(ending) = self.status {
            return Err(PushError::Over { ply, mv, reason: ending.reason });
        }
        if !self.position.is_legal(mv) {
            return Err(PushError::Illegal { ply, mv });
        }
        Ok(self.push_legal(mv))
    }

    /// Makes a legal move in an ongoing game and judges the game; neither condition is checked.
    #[inline]
    pub fn push_legal(&mut self, mv: Move) -> &Status {
        self.make_unjudged(mv);
        self.judge();
        &self.status
    }

    /// [`push_legal`](Self::push_legal) for players that need the next legal moves anyway: they are
    /// written to `moves`, and the verdict is nearly free.
    #[inline]
    pub fn push_listing(&mut self, mv: Move, moves: &mut MoveList) -> &Status {
        self.make_unjudged(mv);
        self.position.list_legal_moves(moves);
        if moves.is_empty() || !self.clearly_ongoing() {
            self.status = self.judgement(!moves.is_empty());
        } else {
            self.status = Status::Ongoing;
        }
        &self.status
    }

    /// Takes back the last move and judges the game; `None` if there is none.
    pub fn pop(&mut self) -> Option<Move> {
        let mv = self.unmake_unjudged()?;
        // Not always ongoing: unjudged moves may have been made.
        self.judge();
        Some(mv)
    }

    /// Makes a legal move without judging the game; [`status`](Self::status) stays unchanged.
    #[inline]
    pub fn make_unjudged(&mut self, mv: Move) {
        let mover = self.position.turn();
        let answers_check = self.position.in_check();
        let steps_ahead =
            self.position.by_kind(PieceKind::Pawn).contains(mv.from()) && mv.from().file() == mv.to().file();
        let undo = self.position.make(mv);
        let captures = undo.captured().is_some();
        self.plies.push(Ply { mv, undo, limit: self.limit, reversible: self.reversible });
        self.limit = self.limit.after(mover, captures, self.position.in_check(), answers_check);
        self.reversible = if captures || steps_ahead { 0 } else { self.reversible + 1 };
        self.filter.add(self.position.key());
    }

    /// Makes a null move (passes the turn), for searches.
    ///
    /// The natural limit does not advance, and no position before the null move counts as repeated
    /// after it. The side to move must not be in check.
    #[inline]
    pub fn make_null(&mut self) -> NullMove {
        let before = NullMove { undo: self.position.make_null(), reversible: self.reversible };
        self.reversible = 0;
        before
    }

    /// Takes back a null move, after all moves made since.
    #[inline]
    pub fn unmake_null(&mut self, null: NullMove) {
        self.position.unmake_null(null.undo);
        self.reversible = null.reversible;
    }

    /// Takes back the last move without judging the game; `None` if there is none.
    #[inline]
    pub fn unmake_unjudged(&mut self) -> Option<Move> {
        let ply = self.plies.pop()?;
        self.filter.remove(self.position.key());
        self.position.unmake(ply.mv, ply.undo);
        self.limit = ply.limit;
        self.reversible = ply.reversible;
        Some(ply.mv)
    }

    /// Returns the verdict on the cycle closed by the last move, if it closed one that is to be
    /// judged.
    ///
    /// In a game that is the third occurrence of a position: pass `usize::MAX` as `tree`.
    ///
    /// A search passes the ply of its root. Then the second occurrence suffices if the first is not
    /// before the root, and the loop between them is judged as if repeated for ever. A loop that
    /// reaches behind the root needs the third occurrence.
    #[must_use]
    #[inline]
    pub fn repetition(&self, tree: usize) -> Option<CycleVerdict> {
        let needed = if tree < self.plies.len() { 2 } else { 3 };
        if self.filter.at_most(self.position.key()) < needed { None } else { self.find_repetition(tree) }
    }

    #[cold]
    fn find_repetition(&self, tree: usize) -> Option<CycleVerdict> {
        let key = self.position.key();
        let last = self.plies.len();
        let mut seen = 0;
        // A cycle has at least four plies.
        for back in (4..=self.reversible as usize).step_by(2) {
            let index = last - back;
            // Equal keys almost prove a repetition; equal boards do.
            if self.plies[index].undo.key() == key && self.position_at(index).as_ref() == Some(&self.position) {
                seen += 1;
                if seen == 2 || index >= tree {
                    return Some(cycle::judge(&self.ring(index), self.rules));
                }
            }
        }
        None
    }

    /// Whether a move may lead back to an earlier position. There are no false negatives and few
    /// false positives.
    #[must_use]
    #[inline]
    pub fn may_repeat(&self, mv: Move) -> bool {
        // A cycle has at least four plies: three and this one.
        self.reversible >= 3 && self.filter.at_most(self.position.key_after(mv)) > 0
    }

    /// The number of occurrences of the position since the last irreversible move, the current one
    /// included. Only keys are compared.
    #[must_use]
    #[inline]
    pub fn occurrences(&self) -> u32 {
        if self.filter.at_most(self.position.key()) < 2 { 1 } else { self.count_occurrences() }
    }

    #[cold]
    fn count_occurrences(&self) -> u32 {
        let key = self.position.key();
        let last = self.plies.len();
        let before = (4..=self.reversible as usize).step_by(2);
        1 + before.filter(|back| self.plies[last - back].undo.key() == key).count() as u32
    }

    /// The moves since ply `from` as a ring; the position at `from` must equal the current one.
    pub(super) fn ring(&self, from: usize) -> Ring<impl Fn(usize) -> Move + '_> {
        Ring {
            start: self.position.clone(),
            from,
            length: self.plies.len() - from,
            mv: move |index: usize| self.plies[from + index].mv,
        }
    }

    /// The position after `ply` moves; `None` if there were fewer. A null move in effect stays in
    /// effect.
    #[must_use]
    pub fn position_at(&self, ply: usize) -> Option<Position> {
        let since = self.plies.get(ply..)?;
        let mut position = self.position.clone();
        for ply in since.iter().rev() {
            position.unmake(ply.mv, ply.undo);
        }
        Some(position)
    }

    /// Judges the game.
    #[inline]
    fn judge(&mut self) {
        if self.clearly_ongoing() && self.position.has_obvious_move() {
            self.status = Status::Ongoing;
        } else {
            self.judge_in_full();
        }
    }

    /// A fast path: the game is ongoing if there is a legal move.
    ///
    /// The limit is far, the position has occurred at most twice, and it is not bare. True for
    /// nearly all positions; false proves nothing.
    #[inline]
    fn clearly_ongoing(&self) -> bool {
        !self.limit_reached()
            && self.filter.at_most(self.position.key()) < 3
            && (self.reversible > 0 || !self.may_be_newly_bare())
    }

    /// Only a capture makes a position bare.
    #[cold]
    #[inline(never)]
    fn may_be_newly_bare(&self) -> bool {
        self.position.is_bare()
    }

    #[cold]
    #[inline(never)]
    fn judge_in_full(&mut self) {
        self.status = self.full_judgement();
    }

    /// Judges the current position, whatever the stored status.
    pub(super) fn full_judgement(&self) -> Status {
        self.judgement(self.position.has_legal_move())
    }

    #[cold]
    #[inline(never)]
    fn judgement(&self, has_legal_move: bool) -> Status {
        let over = |outcome, reason, cycle| Status::Over(Ending { outcome, reason, ply: self.plies.len(), cycle });
        if !has_legal_move {
            let reason = if self.position.in_check() { Reason::Checkmate } else { Reason::Stalemate };
            return over(Outcome::loss_of(self.position.turn()), reason, None);
        }
        if let Some(cycle) = self.repetition(usize::MAX) {
            let (outcome, reason) = match cycle.loser {
                None => (Outcome::Draw, Reason::Repetition),
                Some(loser) if cycle.conduct(loser).class.is_against_king() => {
                    (Outcome::loss_of(loser), Reason::PerpetualCheck)
                }
                Some(loser) => (Outcome::loss_of(loser), Reason::PerpetualChase),
            };
            return over(outcome, reason, Some(cycle));
        }
        if self.limit_reached() {
            return over(Outcome::Draw, Reason::MoveLimit, None);
        }
        if self.position.is_bare() {
            return over(Outcome::Draw, Reason::BareDefenders, None);
        }
        Status::Ongoing
    }
}
