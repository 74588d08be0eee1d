//! A position with its history.

use crate::{Color, Fen, Move, MoveList, PieceKind, Position, Undo};

use super::{
    CycleVerdict, Ending, LimitCounter, Outcome, Reason, RuleSet, Status,
    cycle::{self, Ring},
    repetition::Filter,
};

/// A game: where it began, the moves since, and what the rules say of it.
///
/// [`push`](Self::push) and [`pop`](Self::pop) keep the status; [`advance`](Self::advance) and
/// [`retract`](Self::retract) move without asking the arbiter, for searches, which ask what they want to know:
/// [`repetition`](Self::repetition), [`limit_reached`](Self::limit_reached), [`Position::is_bare`]. None of these
/// allocates while nothing has repeated.
#[derive(Clone, Debug)]
pub struct Game {
    rules: RuleSet,
    start: Fen,
    position: Position,
    limit: LimitCounter,
    /// Plies since the last move that no later one can take back: no earlier position can stand again.
    reversible: u32,
    plies: Vec<Ply>,
    filter: Filter,
    status: Status,
}

/// A move made, and what stood before it.
#[derive(Clone, Copy, Debug)]
struct Ply {
    mv: Move,
    undo: Undo,
    limit: LimitCounter,
    reversible: u32,
}

/// What [`Game::retract_null`] needs.
#[derive(Clone, Copy, Debug)]
#[must_use = "a passed turn is taken back with it"]
pub struct NullMove {
    undo: Undo,
    reversible: u32,
}

/// A move that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum PushError {
    #[error("move {ply} ({mv}) is not legal")]
    Illegal { ply: usize, mv: Move },
    #[error("move {ply} ({mv}) comes after the game has ended ({reason})")]
    Over { ply: usize, mv: Move, reason: Reason },
}

impl Game {
    /// A game that begins here. The rules apply at once: it may be over.
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

    /// The rule set that decides.
    #[must_use]
    pub const fn rules(&self) -> RuleSet {
        self.rules
    }

    /// Where the game began.
    #[must_use]
    pub const fn start(&self) -> &Fen {
        &self.start
    }

    /// The position reached.
    #[must_use]
    #[inline]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The position reached, with its counters, as text would give it: none is beyond [`Fen::MAX_COUNTER`]. Checks already
    /// counted by the natural limit do not go with it.
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

    /// How many moves were made.
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

    /// Whether the natural limit is reached. The side to move has still lost if it has no legal move.
    #[must_use]
    #[inline]
    pub const fn limit_reached(&self) -> bool {
        self.limit.counted() >= self.rules.limit()
    }

    /// What the rules say, after the last [`push`](Self::push) or [`pop`](Self::pop).
    #[must_use]
    pub const fn status(&self) -> &Status {
        &self.status
    }

    /// Makes a move and asks the arbiter.
    ///
    /// # Errors
    ///
    /// If the game is over, or the move not legal; then nothing has changed.
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

    /// Makes a move that is known to be legal, in a game that is known to go on, and asks the arbiter.
    #[inline]
    pub fn push_legal(&mut self, mv: Move) -> &Status {
        self.advance(mv);
        self.judge();
        &self.status
    }

    /// [`push_legal`](Self::push_legal) for players that want the legal moves of the position reached anyway: `moves`
    /// become these, and what is left to judge is nearly free.
    #[inline]
    pub fn push_listing(&mut self, mv: Move, moves: &mut MoveList) -> &Status {
        self.advance(mv);
        self.position.list_legal_moves(moves);
        if moves.is_empty() || !self.obviously_goes_on() {
            self.status = self.judgement(!moves.is_empty());
        } else {
            self.status = Status::Ongoing;
        }
        &self.status
    }

    /// Takes the last move back and asks the arbiter; `None` if there is none.
    pub fn pop(&mut self) -> Option<Move> {
        let mv = self.retract()?;
        // Not simply "it went on": moves may have been made without asking.
        self.judge();
        Some(mv)
    }

    /// Makes a legal move without asking the arbiter; [`status`](Self::status) stays as it was.
    #[inline]
    pub fn advance(&mut self, mv: Move) {
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

    /// Passes the turn; no move of the game, but of searches. The natural limit is not advanced, and no position
    /// before counts as repeated by one after. The side to move must not be in check.
    #[inline]
    pub fn advance_null(&mut self) -> NullMove {
        let before = NullMove { undo: self.position.make_null(), reversible: self.reversible };
        self.reversible = 0;
        before
    }

    /// Takes back a passed turn, after everything that came behind it.
    #[inline]
    pub fn retract_null(&mut self, null: NullMove) {
        self.position.unmake_null(null.undo);
        self.reversible = null.reversible;
    }

    /// Takes back the last move without asking the arbiter; `None` if there is none.
    #[inline]
    pub fn retract(&mut self) -> Option<Move> {
        let ply = self.plies.pop()?;
        self.filter.remove(self.position.key());
        self.position.unmake(ply.mv, ply.undo);
        self.limit = ply.limit;
        self.reversible = ply.reversible;
        Some(ply.mv)
    }

    /// The cycle that the last move closed, if it closed one that is to be judged.
    ///
    /// In a game that is the third occurrence of a position: ask with `tree` beyond the last ply, such as
    /// `usize::MAX`. A search asks with the ply of its root: then the second occurrence suffices if the first is not
    /// older than the root, and the loop between them is judged as if it went on for ever; one that reaches behind
    /// the root waits for the third.
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
        // No two plies lead back, and four are the least that do.
        for back in (4..=self.reversible as usize).step_by(2) {
            let index = last - back;
            // The keys almost never lie; the boards never do.
            if self.plies[index].undo.key() == key && self.position_at(index).as_ref() == Some(&self.position) {
                seen += 1;
                if seen == 2 || index >= tree {
                    return Some(cycle::judge(&self.ring(index), self.rules));
                }
            }
        }
        None
    }

    /// Whether a move may lead back to a position that has occurred. Never false for one that does; true for few others.
    #[must_use]
    #[inline]
    pub fn may_repeat(&self, mv: Move) -> bool {
        // Two plies never lead back, three and this one can.
        self.reversible >= 3 && self.filter.at_most(self.position.key_after(mv)) > 0
    }

    /// How often the position has occurred since the last move that cannot be taken back, this time included. For
    /// tables that must tell first visits from later ones; keys alone are compared.
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

    /// The moves since ply `from`, as a ring; the position then must be the position now.
    pub(super) fn ring(&self, from: usize) -> Ring<impl Fn(usize) -> Move + '_> {
        Ring {
            start: self.position.clone(),
            from,
            length: self.plies.len() - from,
            mv: move |index: usize| self.plies[from + index].mv,
        }
    }

    /// The position after this many moves; `None` if there were fewer. If the turn was passed then, it is passed.
    #[must_use]
    pub fn position_at(&self, ply: usize) -> Option<Position> {
        let since = self.plies.get(ply..)?;
        let mut position = self.position.clone();
        for ply in since.iter().rev() {
            position.unmake(ply.mv, ply.undo);
        }
        Some(position)
    }

    /// Asks the arbiter.
    #[inline]
    fn judge(&mut self) {
        if self.obviously_goes_on() && self.position.has_obvious_move() {
            self.status = Status::Ongoing;
        } else {
            self.judge_closely();
        }
    }

    /// Whether, if there is a legal move, the game goes on: the limit is far, the position is new or stands for the
    /// second time, and not bare. Nearly always true; if not, a closer look may say the same.
    #[inline]
    fn obviously_goes_on(&self) -> bool {
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
    fn judge_closely(&mut self) {
        self.status = self.close_judgement();
    }

    /// What the rules say of the game as it stands, whatever was said before.
    pub(super) fn close_judgement(&self) -> Status {
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
