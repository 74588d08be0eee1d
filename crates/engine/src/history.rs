//! History heuristics for move ordering and pruning, and correction history.
//!
//! * Butterfly history: quiet moves by side, origin and destination.
//! * Capture history: by piece, destination and captured kind.
//! * Continuation history: quiet moves by the piece and destination 1, 2 and 4 plies earlier.
//! * Correction history: errors of the static evaluation, by pawn and by material key.
//!
//! There are no killer or counter moves. Values follow the history gravity formula, which bounds
//! them and favours recent results. They are cleared for every game.

use xiangqi::{Color, Move, Piece, PieceKind, Square};

use crate::tune::Parameters;

/// A history value within the limit of its table.
#[derive(Clone, Copy, Default)]
struct HistoryValue(i16);

impl HistoryValue {
    /// History gravity: adds `bonus`, scaled down the nearer the value is to the limit.
    fn update(&mut self, bonus: i32, limit: i32) {
        let bonus = bonus.min(limit).max(-limit);
        let value = i32::from(self.0);
        self.0 = (value + bonus - value * bonus.abs() / limit) as i16;
    }

    fn get(self) -> i32 {
        i32::from(self.0)
    }
}

const POINTS: usize = Square::COUNT;

/// A piece and its destination, the index of continuation history.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PieceTo(u16);

impl PieceTo {
    pub(crate) const COUNT: usize = Piece::COUNT * POINTS;

    pub(crate) const fn new(piece: Piece, to: Square) -> Self {
        Self((piece.index() * POINTS + to.index()) as u16)
    }

    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Slots of each correction table; keys are taken modulo this.
const CORRECTION_SLOTS: usize = 16_384;

/// The histories of one thread.
pub(crate) struct Histories {
    quiet: Box<[[[HistoryValue; POINTS]; POINTS]; 2]>,
    capture: Box<[[[HistoryValue; PieceKind::COUNT]; POINTS]; Piece::COUNT]>,
    continuation: Box<[HistoryValue]>,
    pawn_correction: Box<[[HistoryValue; CORRECTION_SLOTS]; 2]>,
    material_correction: Box<[[HistoryValue; CORRECTION_SLOTS]; 2]>,
}

/// Builds a table directly on the heap: it would overflow the stack.
fn boxed_rows<T: Copy, const N: usize>(row: T) -> Box<[T; N]> {
    let Ok(table) = vec![row; N].into_boxed_slice().try_into() else { unreachable!("it has N entries") };
    table
}

impl Histories {
    #[allow(clippy::large_stack_arrays, reason = "a row of zeros, which the optimiser never builds")]
    pub(crate) fn new() -> Self {
        Self {
            quiet: boxed_rows([[HistoryValue::default(); POINTS]; POINTS]),
            capture: boxed_rows([[HistoryValue::default(); PieceKind::COUNT]; POINTS]),
            continuation: vec![HistoryValue::default(); PieceTo::COUNT * PieceTo::COUNT].into(),
            pawn_correction: boxed_rows([HistoryValue::default(); CORRECTION_SLOTS]),
            material_correction: boxed_rows([HistoryValue::default(); CORRECTION_SLOTS]),
        }
    }

    pub(crate) fn clear(&mut self) {
        for table in self.quiet.iter_mut() {
            *table = [[HistoryValue::default(); POINTS]; POINTS];
        }
        for table in self.capture.iter_mut() {
            *table = [[HistoryValue::default(); PieceKind::COUNT]; POINTS];
        }
        self.continuation.fill(HistoryValue::default());
        for table in self.pawn_correction.iter_mut().chain(self.material_correction.iter_mut()) {
            table.fill(HistoryValue::default());
        }
    }

    pub(crate) fn quiet(&self, side: Color, mv: Move) -> i32 {
        self.quiet[side.index()][mv.from().index()][mv.to().index()].get()
    }

    pub(crate) fn update_quiet(&mut self, tune: &Parameters, side: Color, mv: Move, bonus: i32) {
        self.quiet[side.index()][mv.from().index()][mv.to().index()].update(bonus, tune.quiet_history_limit);
    }

    pub(crate) fn capture(&self, piece: Piece, to: Square, victim: PieceKind) -> i32 {
        self.capture[piece.index()][to.index()][victim.index()].get()
    }

    pub(crate) fn update_capture(
        &mut self,
        tune: &Parameters,
        piece: Piece,
        to: Square,
        victim: PieceKind,
        bonus: i32,
    ) {
        self.capture[piece.index()][to.index()][victim.index()].update(bonus, tune.capture_history_limit);
    }

    pub(crate) fn continuation(&self, before: Option<PieceTo>, now: PieceTo) -> i32 {
        before.map_or(0, |before| self.continuation[before.index() * PieceTo::COUNT + now.index()].get())
    }

    pub(crate) fn update_continuation(&mut self, tune: &Parameters, before: Option<PieceTo>, now: PieceTo, bonus: i32) {
        if let Some(before) = before {
            let value = &mut self.continuation[before.index() * PieceTo::COUNT + now.index()];
            value.update(bonus, tune.continuation_history_limit);
        }
    }

    /// Returns the correction for a position with these keys.
    pub(crate) fn correction(&self, tune: &Parameters, side: Color, pawns: u64, material: u64) -> i32 {
        let value = |table: &[[HistoryValue; CORRECTION_SLOTS]; 2], key: u64| {
            table[side.index()][key as usize % CORRECTION_SLOTS].get()
        };
        (value(&self.pawn_correction, pawns) + value(&self.material_correction, material)) / tune.correction_divisor
    }

    /// Records that the search score exceeded the static evaluation by `error`. Deep scores weigh
    /// more.
    pub(crate) fn update_correction(
        &mut self,
        tune: &Parameters,
        side: Color,
        pawns: u64,
        material: u64,
        depth: i32,
        error: i32,
    ) {
        let bonus = error * depth / tune.correction_depth_divisor;
        let bonus = bonus.min(tune.correction_bonus_max).max(-tune.correction_bonus_max);
        self.pawn_correction[side.index()][pawns as usize % CORRECTION_SLOTS].update(bonus, tune.correction_limit);
        self.material_correction[side.index()][material as usize % CORRECTION_SLOTS]
            .update(bonus, tune.correction_limit);
    }
}
