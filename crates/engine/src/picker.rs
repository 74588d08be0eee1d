//! The staged move picker.
//!
//! Order: table move; captures that pass SEE, by victim (MVV) and capture history; quiet moves;
//! losing captures. Quiet moves are ordered by butterfly, continuation and pawn history, with a
//! bonus for checks. Later stages are generated only when needed.

use arrayvec::ArrayVec;
use xiangqi::{Bitboard, Checks, Move, MoveList, PieceKind, Position, rules::Game};

use crate::{
    history::{Histories, PieceTo},
    tune::Parameters,
};

/// The bonus of a quiet move that closes a repetition: more than all histories together.
const REPETITION_BONUS: i32 = 1 << 20;

/// Bits for the place of a move beside its score. A score has 22 bits: the bonus, and less again of
/// all else, at any parameters.
const PLACE_BITS: u32 = 7;
/// The last place, more than there are moves.
const LAST_PLACE: i32 = (1 << PLACE_BITS) - 1;
const _: () = assert!(xiangqi::MAX_MOVES <= 1 << PLACE_BITS);

/// The next step of the picker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    TtMove,
    GenerateCaptures,
    GoodCaptures,
    GenerateQuiets,
    Quiets,
    BadCaptures,
    Done,
}

/// The quiet moves that a picker yields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quiets {
    All,
    /// The checks that reach this by SEE.
    Checks(i32),
    None,
}

/// Yields the legal moves of a position in order.
pub(crate) struct Picker {
    stage: Stage,
    tt_move: Option<Move>,
    /// The SEE threshold of good captures.
    threshold: i32,
    quiets: Quiets,
    skip_quiets: bool,
    pub(crate) checks: Checks,
    moves: MoveList,
    /// The score of each move, in the order of `moves`.
    scores: ArrayVec<i32, { xiangqi::MAX_MOVES }>,
    next: usize,
    bad: MoveList,
    next_bad: usize,
}

/// The context of continuation history.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    /// The moves 1, 2, 4 and 6 plies earlier; none for a null move.
    pub(crate) before: [Option<PieceTo>; 4],
}

impl Context {
    pub(crate) const NONE: Self = Self { before: [None; 4] };
}

impl Picker {
    /// A picker of all legal moves.
    pub(crate) fn new(position: &Position, tt_move: Option<Move>) -> Self {
        Self::begin(position, tt_move, 0, Quiets::All)
    }

    /// A picker of the captures that gain at least `threshold` by SEE.
    pub(crate) fn captures(position: &Position, tt_move: Option<Move>, threshold: i32) -> Self {
        let tt_move = tt_move.filter(|mv| position.piece_at(mv.to()).is_some());
        Self::begin(position, tt_move, threshold, Quiets::None)
    }

    /// The same, and the quiet checks that reach `check_threshold` by SEE.
    pub(crate) fn captures_and_checks(
        position: &Position,
        tt_move: Option<Move>,
        threshold: i32,
        check_threshold: i32,
    ) -> Self {
        let mut picker = Self::captures(position, tt_move, threshold);
        picker.quiets = Quiets::Checks(check_threshold);
        picker
    }

    fn begin(position: &Position, tt_move: Option<Move>, threshold: i32, quiets: Quiets) -> Self {
        Self {
            stage: Stage::TtMove,
            // After a key collision the table move belongs to another position.
            tt_move: tt_move.filter(|mv| position.is_legal(*mv)),
            threshold,
            quiets,
            skip_quiets: false,
            checks: position.checks(),
            moves: MoveList::new(),
            scores: ArrayVec::new(),
            next: 0,
            bad: MoveList::new(),
            next_bad: 0,
        }
    }

    /// Skips the remaining quiet moves.
    pub(crate) const fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// Whether the current stage is that of losing captures.
    pub(crate) fn is_at_bad_captures(&self) -> bool {
        self.stage == Stage::BadCaptures
    }

    pub(crate) fn next(
        &mut self,
        game: &Game,
        histories: &Histories,
        tune: &Parameters,
        context: Context,
    ) -> Option<Move> {
        let position = game.position();
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::GenerateCaptures;
                    if self.tt_move.is_some() {
                        return self.tt_move;
                    }
                }
                Stage::GenerateCaptures => self.generate_captures(position, histories, tune),
                Stage::GoodCaptures => match self.select_best() {
                    Some(mv) if position.see_ge(mv, self.threshold) => return Some(mv),
                    Some(mv) => self.bad.push(mv),
                    None if self.quiets == Quiets::None => self.stage = Stage::Done,
                    None => self.stage = Stage::GenerateQuiets,
                },
                Stage::GenerateQuiets if self.skip_quiets => self.stage = Stage::BadCaptures,
                Stage::GenerateQuiets => self.generate_quiets(game, histories, tune, context),
                Stage::Quiets => match self.select_best() {
                    Some(mv) if !self.skip_quiets => return Some(mv),
                    _ if self.quiets == Quiets::All => self.stage = Stage::BadCaptures,
                    _ => self.stage = Stage::Done,
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

    #[inline(never)]
    fn generate_captures(&mut self, position: &Position, histories: &Histories, tune: &Parameters) {
        position.list_captures(&mut self.moves);
        self.score_captures(position, histories, tune);
        self.stage = Stage::GoodCaptures;
    }

    #[inline(never)]
    fn generate_quiets(&mut self, game: &Game, histories: &Histories, tune: &Parameters, context: Context) {
        let position = game.position();
        if let Quiets::Checks(threshold) = self.quiets {
            position.list_quiet_checks(&self.checks, &mut self.moves);
            self.moves.retain(|mv| position.see_ge(*mv, threshold));
        } else {
            position.list_quiets(&mut self.moves);
        }
        self.next = 0;
        self.score_quiets(game, histories, tune, context);
        self.stage = Stage::Quiets;
    }

    /// Selection sort: returns the best of the remaining moves, without the table move.
    fn select_best(&mut self) -> Option<Move> {
        loop {
            // The place in the low bits decides between equal scores: the first move wins. One
            // number for both makes a loop without branches.
            let left = self.scores[self.next..].iter().zip((0..=LAST_PLACE).rev());
            let best = left.map(|(score, place)| score << PLACE_BITS | place).max()?;
            let best = self.next + (LAST_PLACE - (best & LAST_PLACE)) as usize;
            self.moves.swap(self.next, best);
            self.scores.swap(self.next, best);
            let mv = self.moves[self.next];
            self.next += 1;
            if Some(mv) != self.tt_move {
                return Some(mv);
            }
        }
    }

    fn score_captures(&mut self, position: &Position, histories: &Histories, tune: &Parameters) {
        let score = |mv: &Move| match (position.piece_at(mv.from()), position.piece_at(mv.to())) {
            (Some(piece), Some(victim)) => {
                victim_value(tune, victim.kind()) * tune.mvv_factor + histories.capture(piece, mv.to(), victim.kind())
            }
            _ => 0,
        };
        self.scores.clear();
        self.scores.extend(self.moves.iter().map(score));
    }

    fn score_quiets(&mut self, game: &Game, histories: &Histories, tune: &Parameters, context: Context) {
        let position = game.position();
        let side = position.turn();
        let pawn = histories.pawn(position.pawn_key());
        let continuations = context.before.map(|before| histories.continuation(before));
        let mut last_origin = None;
        let mut candidates = Bitboard::EMPTY;
        let score = |mv: &Move| {
            let Some(piece) = position.piece_at(mv.from()) else { return 0 };
            // Moves are listed by origin.
            if last_origin != Some(mv.from()) {
                last_origin = Some(mv.from());
                candidates = self.checks.candidates(mv.from(), position);
            }
            let piece_to = PieceTo::new(piece, mv.to());
            let mut score = tune.picker_quiet_weight * histories.quiet(side, *mv)
                + tune.picker_pawn_weight * pawn.get(piece_to)
                + continuations.iter().map(|row| row.get(piece_to)).sum::<i32>();
            // Checks are few, and mates begin with them.
            if candidates.contains(mv.to())
                && self.checks.given_by(*mv, position)
                && position.see_ge(*mv, tune.picker_check_see)
            {
                score += tune.picker_check_bonus;
            }
            // A closed repetition is judged without a search, and may win or save the game.
            if game.may_repeat(*mv) {
                score += REPETITION_BONUS;
            }
            score
        };
        self.scores.clear();
        self.scores.extend(self.moves.iter().map(score));
    }
}

/// Most valuable victim (MVV): the value of a captured piece in the order.
const fn victim_value(tune: &Parameters, kind: PieceKind) -> i32 {
    match kind {
        PieceKind::Chariot => tune.mvv_chariot,
        PieceKind::Horse => tune.mvv_horse,
        PieceKind::Cannon => tune.mvv_cannon,
        PieceKind::Pawn => tune.mvv_pawn,
        PieceKind::Advisor => tune.mvv_advisor,
        PieceKind::Elephant => tune.mvv_elephant,
        PieceKind::King => 0,
    }
}
