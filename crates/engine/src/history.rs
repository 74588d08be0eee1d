//! What the search has learned of moves, and of its evaluation's errors, in this game.
//!
//! All tables hold averages that lean towards what happened last, within fixed bounds. They are new for every game.

use xiangqi::{Color, Move, Piece, PieceKind, Square};

/// An average within `±LIMIT`.
#[derive(Clone, Copy, Default)]
struct Average<const LIMIT: i32>(i16);

impl<const LIMIT: i32> Average<LIMIT> {
    /// Moves towards a limit by `bonus`, the less the nearer it is.
    fn update(&mut self, bonus: i32) {
        let bonus = bonus.clamp(-LIMIT, LIMIT);
        let value = i32::from(self.0);
        self.0 = (value + bonus - value * bonus.abs() / LIMIT) as i16;
    }

    fn get(self) -> i32 {
        i32::from(self.0)
    }
}

const POINTS: usize = Square::COUNT;

/// A piece that came to a point: what continuations are continued from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival(u16);

impl Arrival {
    pub(crate) const COUNT: usize = Piece::COUNT * POINTS;

    pub(crate) const fn new(piece: Piece, to: Square) -> Self {
        Self((piece.index() * POINTS + to.index()) as u16)
    }

    const fn index(self) -> usize {
        self.0 as usize
    }
}

type Quiet = Average<8192>;
type Capture = Average<8192>;
type Continuation = Average<16384>;
type Correction = Average<1024>;

/// Slots of each table of corrections.
const CORRECTIONS: usize = 16_384;

/// How much a correction of 1024 shifts an evaluation, in hundredths of a pawn: 1024 / this.
const CORRECTION_GRAIN: i32 = 12;

/// The tables of one thread.
pub(crate) struct Histories {
    quiet: Box<[[[Quiet; POINTS]; POINTS]; 2]>,
    capture: Box<[[[Capture; PieceKind::COUNT]; POINTS]; Piece::COUNT]>,
    continuation: Box<[Continuation]>,
    pawn_correction: Box<[[Correction; CORRECTIONS]; 2]>,
    material_correction: Box<[[Correction; CORRECTIONS]; 2]>,
}

/// A table on the heap that never stands on the stack.
fn boxed_rows<T: Copy, const N: usize>(row: T) -> Box<[T; N]> {
    let Ok(table) = vec![row; N].into_boxed_slice().try_into() else { unreachable!("it has N entries") };
    table
}

impl Histories {
    #[allow(clippy::large_stack_arrays, reason = "a row of zeros, which the optimiser never builds")]
    pub(crate) fn new() -> Self {
        Self {
            quiet: boxed_rows([[Quiet::default(); POINTS]; POINTS]),
            capture: boxed_rows([[Capture::default(); PieceKind::COUNT]; POINTS]),
            continuation: vec![Continuation::default(); Arrival::COUNT * Arrival::COUNT].into(),
            pawn_correction: boxed_rows([Correction::default(); CORRECTIONS]),
            material_correction: boxed_rows([Correction::default(); CORRECTIONS]),
        }
    }

    pub(crate) fn clear(&mut self) {
        for table in self.quiet.iter_mut() {
            *table = [[Quiet::default(); POINTS]; POINTS];
        }
        for table in self.capture.iter_mut() {
            *table = [[Capture::default(); PieceKind::COUNT]; POINTS];
        }
        self.continuation.fill(Continuation::default());
        for table in self.pawn_correction.iter_mut().chain(self.material_correction.iter_mut()) {
            table.fill(Correction::default());
        }
    }

    pub(crate) fn quiet(&self, side: Color, mv: Move) -> i32 {
        self.quiet[side.index()][mv.from().index()][mv.to().index()].get()
    }

    pub(crate) fn update_quiet(&mut self, side: Color, mv: Move, bonus: i32) {
        self.quiet[side.index()][mv.from().index()][mv.to().index()].update(bonus);
    }

    pub(crate) fn capture(&self, piece: Piece, to: Square, victim: PieceKind) -> i32 {
        self.capture[piece.index()][to.index()][victim.index()].get()
    }

    pub(crate) fn update_capture(&mut self, piece: Piece, to: Square, victim: PieceKind, bonus: i32) {
        self.capture[piece.index()][to.index()][victim.index()].update(bonus);
    }

    pub(crate) fn continuation(&self, before: Option<Arrival>, now: Arrival) -> i32 {
        before.map_or(0, |before| self.continuation[before.index() * Arrival::COUNT + now.index()].get())
    }

    pub(crate) fn update_continuation(&mut self, before: Option<Arrival>, now: Arrival, bonus: i32) {
        if let Some(before) = before {
            self.continuation[before.index() * Arrival::COUNT + now.index()].update(bonus);
        }
    }

    /// What to add to the evaluation of a position with these keys.
    pub(crate) fn correction(&self, side: Color, pawns: u64, material: u64) -> i32 {
        let of =
            |table: &[[Correction; CORRECTIONS]; 2], key: u64| table[side.index()][key as usize % CORRECTIONS].get();
        (of(&self.pawn_correction, pawns) + of(&self.material_correction, material)) / CORRECTION_GRAIN
    }

    /// Remembers that the search found `error` more than the evaluation of a position with these keys said.
    pub(crate) fn update_correction(&mut self, side: Color, pawns: u64, material: u64, depth: i32, error: i32) {
        let bonus = (error * depth / 8).clamp(-256, 256);
        self.pawn_correction[side.index()][pawns as usize % CORRECTIONS].update(bonus);
        self.material_correction[side.index()][material as usize % CORRECTIONS].update(bonus);
    }
}
