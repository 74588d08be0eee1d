//! History heuristics for move ordering and pruning, and correction history.
//!
//! * Butterfly history: quiet moves by side, origin and destination.
//! * Capture history: by piece, destination and captured kind.
//! * Continuation history: quiet moves by the piece and destination 1, 2, 4 and 6 plies earlier.
//! * Pawn history: quiet moves by pawn key, piece and destination.
//! * Correction history: errors of the static evaluation, by the keys of pawns, of each colour's
//!   other pieces and of material, and by the last moves.
//!
//! There are no killer or counter moves. Values follow the history gravity formula, which bounds
//! them and favours recent results. They are cleared for every game.

use xiangqi::{Color, Move, Piece, PieceKind, Square};

use crate::{pages, tune::Parameters};

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

/// The history of every move in one context, such as continuation history after one move.
#[derive(Clone, Copy)]
pub(crate) struct HistoryRow([HistoryValue; PieceTo::COUNT]);

impl HistoryRow {
    const NEW: Self = Self([HistoryValue(0); PieceTo::COUNT]);

    pub(crate) fn get(&self, now: PieceTo) -> i32 {
        self.0[now.index()].get()
    }

    fn update(&mut self, now: PieceTo, bonus: i32, limit: i32) {
        self.0[now.index()].update(bonus, limit);
    }
}

/// Slots of each correction table; keys are taken modulo this.
const CORRECTION_SLOTS: usize = 16_384;

/// Pawn keys of pawn history are taken modulo this.
const PAWN_SLOTS: usize = 512;

/// A correction table, by side to move and key.
type CorrectionTable = [[HistoryValue; CORRECTION_SLOTS]; 2];

/// The keys of a position in correction history.
pub(crate) struct CorrectionKeys {
    pub(crate) side: Color,
    /// The keys of pawns, red's and black's other pieces, and material.
    pub(crate) keys: [u64; 4],
    /// The last move.
    pub(crate) last: Option<PieceTo>,
    /// The moves 2 and 4 plies earlier.
    pub(crate) before: [Option<PieceTo>; 2],
}

impl CorrectionKeys {
    /// The indices into the table of the last moves.
    fn moves(&self) -> impl Iterator<Item = usize> {
        let last = self.last;
        self.before.into_iter().filter_map(move |before| Some(before?.index() * PieceTo::COUNT + last?.index()))
    }
}

/// The histories of one thread.
pub(crate) struct Histories {
    quiet: Box<[[[HistoryValue; POINTS]; POINTS]; 2]>,
    capture: Box<[[[HistoryValue; PieceKind::COUNT]; POINTS]; Piece::COUNT]>,
    /// By the move before. The last row, after a null move, stays zero.
    continuation: Box<[HistoryRow]>,
    pawn: Box<[HistoryRow]>,
    /// In the order of [`CorrectionKeys::keys`].
    correction: [Box<CorrectionTable>; 4],
    continuation_correction: Box<[HistoryValue]>,
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
            continuation: pages::table(PieceTo::COUNT + 1, || HistoryRow::NEW),
            pawn: vec![HistoryRow::NEW; PAWN_SLOTS].into(),
            correction: std::array::from_fn(|_| boxed_rows([HistoryValue::default(); CORRECTION_SLOTS])),
            continuation_correction: pages::table(PieceTo::COUNT * PieceTo::COUNT, HistoryValue::default),
        }
    }

    pub(crate) fn clear(&mut self) {
        for table in self.quiet.iter_mut() {
            *table = [[HistoryValue::default(); POINTS]; POINTS];
        }
        for table in self.capture.iter_mut() {
            *table = [[HistoryValue::default(); PieceKind::COUNT]; POINTS];
        }
        for table in [&mut self.continuation, &mut self.pawn] {
            table.fill(HistoryRow::NEW);
        }
        self.continuation_correction.fill(HistoryValue::default());
        for table in self.correction.iter_mut().flat_map(|table| table.iter_mut()) {
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

    pub(crate) fn continuation(&self, before: Option<PieceTo>) -> &HistoryRow {
        &self.continuation[before.map_or(PieceTo::COUNT, PieceTo::index)]
    }

    pub(crate) fn update_continuation(&mut self, tune: &Parameters, before: Option<PieceTo>, now: PieceTo, bonus: i32) {
        if let Some(before) = before {
            self.continuation[before.index()].update(now, bonus, tune.continuation_history_limit);
        }
    }

    pub(crate) fn pawn(&self, pawns: u64) -> &HistoryRow {
        &self.pawn[pawns as usize % PAWN_SLOTS]
    }

    pub(crate) fn update_pawn(&mut self, tune: &Parameters, pawns: u64, now: PieceTo, bonus: i32) {
        self.pawn[pawns as usize % PAWN_SLOTS].update(now, bonus, tune.pawn_history_limit);
    }

    /// Returns the correction for a position with these keys.
    pub(crate) fn correction(&self, tune: &Parameters, keys: &CorrectionKeys) -> i32 {
        let weights =
            [tune.correction_pawn, tune.correction_non_pawn, tune.correction_non_pawn, tune.correction_material];
        let by_key: i32 = self
            .correction
            .iter()
            .zip(keys.keys)
            .zip(weights)
            .map(|((table, key), weight)| weight * table[keys.side.index()][key as usize % CORRECTION_SLOTS].get())
            .sum();
        let by_moves: i32 = keys.moves().map(|index| self.continuation_correction[index].get()).sum();
        (by_key + tune.correction_continuation * by_moves) / 1024
    }

    /// Records that the search score exceeded the static evaluation by `error`. Deep scores weigh
    /// more.
    pub(crate) fn update_correction(&mut self, tune: &Parameters, keys: &CorrectionKeys, depth: i32, error: i32) {
        let bonus = error * depth / tune.correction_depth_divisor;
        let bonus = bonus.min(tune.correction_bonus_max).max(-tune.correction_bonus_max);
        for (table, key) in self.correction.iter_mut().zip(keys.keys) {
            table[keys.side.index()][key as usize % CORRECTION_SLOTS].update(bonus, tune.correction_limit);
        }
        for index in keys.moves() {
            self.continuation_correction[index].update(bonus, tune.correction_limit);
        }
    }
}
