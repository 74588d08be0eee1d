//! The evaluator of a search: incrementally updated accumulators.

mod cache;

use std::sync::Arc;

use arrayvec::ArrayVec;
use xiangqi::{Color, Move, Piece, PieceKind, Position};

use crate::{
    Kernel, Net,
    architecture::{self, Attackers, Inputs, View},
    kernel::{
        Activations,
        blocks::{I16x32, U8x32},
    },
};
use cache::Cache;

/// The evaluation of the positions that one search visits.
///
/// It follows the search by [`push`](Self::push) and [`pop`](Self::pop), which only record the
/// move. [`evaluate`](Self::evaluate) updates the accumulators of the ply, from the nearest ply
/// that has them. After a king's move or the loss of an attacker the view changes, and the
/// accumulator is refreshed from a cache of boards by view. Nothing is allocated after
/// [`new`](Self::new).
///
/// Null moves change no piece and are not recorded.
#[derive(Clone)]
pub struct Evaluator {
    net: Arc<Net>,
    inputs: Inputs,
    kernel: Kernel,
    /// The number of pushed moves.
    ply: usize,
    plies: Vec<Ply>,
    /// For each ply Red's accumulator, then Black's: transformer and head, like a row.
    accumulators: Vec<I16x32>,
    cache: Cache,
    activations: Activations,
}

/// The state of a ply.
#[derive(Clone, Copy)]
struct Ply {
    /// Each side's view of the board.
    views: [View; 2],
    /// Whether each side's accumulator is up to date.
    computed: [bool; 2],
    /// The move that led here.
    change: Option<Change>,
}

#[derive(Clone, Copy)]
struct Change {
    mv: Move,
    piece: Piece,
    captured: Option<Piece>,
}

impl Evaluator {
    /// The maximum number of pushed moves.
    pub const MAX_PLIES: usize = 256;

    /// Creates an evaluator at the starting position.
    #[must_use]
    pub fn new(net: Arc<Net>, kernel: Kernel) -> Self {
        let start = Position::start();
        let inputs = net.sizes().inputs();
        let root = Ply::root(inputs, &start);
        let sides = 2 * (Self::MAX_PLIES + 1);
        Self {
            inputs,
            kernel,
            ply: 0,
            plies: vec![root; Self::MAX_PLIES + 1],
            accumulators: vec![I16x32::ZERO; sides * net.row_blocks()],
            cache: Cache::new(&net),
            activations: [U8x32::ZERO; 32],
            net,
        }
    }

    /// The net.
    #[must_use]
    pub const fn net(&self) -> &Arc<Net> {
        &self.net
    }

    /// The instruction set in use.
    #[must_use]
    pub const fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Restarts from a position. The refresh cache is kept.
    pub fn reset(&mut self, position: &Position) {
        self.ply = 0;
        self.plies[0] = Ply::root(self.inputs, position);
    }

    /// Records a move about to be made. Call it **before** [`Position::make`], with the position in
    /// which the move is legal.
    ///
    /// # Panics
    ///
    /// If nothing stands where the move comes from, or [`MAX_PLIES`](Self::MAX_PLIES) moves are
    /// already on the stack.
    #[inline]
    pub fn push(&mut self, position: &Position, mv: Move) {
        let piece = position.piece_at(mv.from()).expect("a legal move comes from a piece");
        let mut views = self.plies[self.ply].views;
        debug_assert_eq!(
            views,
            Ply::root(self.inputs, position).views,
            "pushed in another position than the one reached"
        );
        if piece.kind() == PieceKind::King {
            let (own, enemy) = (mv.to(), position.king(!piece.color()));
            for (side, own, enemy) in [(piece.color(), own, enemy), (!piece.color(), enemy, own)] {
                let view = &mut views[side.index()];
                *view = view.with_kings_of(View::from_kings(side, own, enemy));
            }
        }
        let captured = position.piece_at(mv.to());
        if self.inputs.has_attackers()
            && let Some(captured) = captured
            && Attackers::is_attacker(captured.kind())
        {
            let view = &mut views[captured.color().index()];
            *view = view.with_attackers(Attackers::after_capture(position, captured));
        }
        self.ply += 1;
        let change = Change { mv, piece, captured };
        self.plies[self.ply] = Ply { views, computed: [false; 2], change: Some(change) };
    }

    /// Removes the last pushed move.
    ///
    /// # Panics
    ///
    /// If no move is left.
    #[inline]
    pub fn pop(&mut self) {
        assert!(self.ply > 0, "more moves are popped than were pushed");
        self.ply -= 1;
    }

    /// Returns the score for the side to move, as [`architecture`] defines it. The position must be
    /// that of [`reset`](Self::reset) with the moves pushed since; null moves may have been made.
    #[must_use]
    pub fn evaluate(&mut self, position: &Position) -> i32 {
        debug_assert_eq!(
            self.plies[self.ply].views,
            Ply::root(self.inputs, position).views,
            "not the position reached"
        );
        for side in Color::ALL {
            if !self.plies[self.ply].computed[side.index()] {
                self.update_accumulator(side, position);
            }
        }
        let stack = architecture::stack(position, self.net.sizes().stacks());
        let width = self.net.row_blocks() - 1;
        let sums =
            |side: Color| self.accumulators[(2 * self.ply + side.index()) * (width + 1)..][..=width].split_at(width);
        let (own, own_head) = sums(position.turn());
        let (enemy, enemy_head) = sums(!position.turn());
        let output = self.kernel.infer(&self.net.stacks[stack], own, enemy, &mut self.activations);
        architecture::score(output, own_head[0].wide(stack), enemy_head[0].wide(stack))
    }

    /// Updates a side's accumulator of this ply, and those of the plies in between.
    fn update_accumulator(&mut self, side: Color, position: &Position) {
        let view = self.plies[self.ply].views[side.index()];
        let mut ply = self.ply;
        loop {
            let same_view = self.plies[ply].views[side.index()] == view;
            if same_view && self.plies[ply].computed[side.index()] {
                break;
            }
            if !same_view || ply == 0 {
                return self.refresh(side, view, position);
            }
            ply -= 1;
        }
        while ply < self.ply {
            ply += 1;
            self.update_ply(side, view, ply);
        }
    }

    /// Updates a side's accumulator of a ply from the previous ply's.
    fn update_ply(&mut self, side: Color, view: View, ply: usize) {
        let Some(Change { mv, piece, captured }) = self.plies[ply].change else { return };
        self.plies[ply].computed[side.index()] = true;
        let net = &*self.net;
        let added = net.row(view.input(side, piece, mv.to()));
        let removed = net.row(view.input(side, piece, mv.from()));
        let blocks = net.row_blocks();
        let (before, after) = self.accumulators.split_at_mut(2 * ply * blocks);
        let source = &before[(2 * (ply - 1) + side.index()) * blocks..][..blocks];
        let target = &mut after[side.index() * blocks..][..blocks];
        match captured {
            None => self.kernel.add_sub(source, target, added, removed),
            Some(captured) => {
                let captured = net.row(view.input(side, captured, mv.to()));
                self.kernel.add_sub_sub(source, target, added, removed, captured);
            }
        }
    }

    /// Refreshes a side's accumulator of this ply from the cache.
    #[inline(never)]
    fn refresh(&mut self, side: Color, view: View, position: &Position) {
        self.plies[self.ply].computed[side.index()] = true;
        let cached = self.cache.update(&self.net, self.kernel, side, view, position);
        let blocks = self.net.row_blocks();
        self.accumulators[(2 * self.ply + side.index()) * blocks..][..blocks].copy_from_slice(cached);
    }
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator")
            .field("net", &self.net)
            .field("kernel", &self.kernel)
            .field("ply", &self.ply)
            .finish_non_exhaustive()
    }
}

impl Ply {
    fn root(inputs: Inputs, position: &Position) -> Self {
        let views = Color::ALL.map(|side| inputs.view(position, side));
        Self { views, computed: [false; 2], change: None }
    }
}

/// Row indices, at most one per piece.
type Rows = ArrayVec<u16, 32>;
