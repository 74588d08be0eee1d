//! Scores along the line of a search.

mod cache;

use std::sync::Arc;

use arrayvec::ArrayVec;
use xiangqi::{Color, Move, Piece, PieceKind, Position};

use crate::{
    Kernel, Net,
    architecture::{self, View},
    kernel::{
        Activations,
        blocks::{I16x32, I32x8, U8x32},
    },
};
use cache::Cache;

/// The evaluation of the positions that one search visits.
///
/// It follows the search by [`push`](Self::push) and [`pop`](Self::pop), which only note what changes, and works out the
/// sums of a ply when a score is asked for: from the nearest ply before it that has them, or, when a king's move has
/// changed how a side sees the board, from what was last seen in that way. Nothing is allocated after
/// [`new`](Self::new).
///
/// A null move changes no piece, so it is not noted: [`evaluate`](Self::evaluate) asks the position whose turn it is.
#[derive(Clone)]
pub struct Evaluator {
    net: Arc<Net>,
    kernel: Kernel,
    /// How many moves have been pushed.
    ply: usize,
    plies: Vec<Ply>,
    /// The transformer's sums: for each ply Red's, then Black's.
    sums: Vec<I16x32>,
    /// The head's sums, alike.
    heads: Vec<I32x8>,
    cache: Cache,
    activations: Activations,
}

/// What is known of a ply.
#[derive(Clone, Copy)]
struct Ply {
    /// How each side sees the board.
    views: [View; 2],
    /// Whether each side's sums have been worked out.
    known: [bool; 2],
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
    /// How many moves can be pushed on top of each other.
    pub const MAX_PLIES: usize = 256;

    /// An evaluator of the starting position.
    #[must_use]
    pub fn new(net: Arc<Net>, kernel: Kernel) -> Self {
        let start = Position::start();
        let root = Ply::root(&start);
        let sides = 2 * (Self::MAX_PLIES + 1);
        Self {
            kernel,
            ply: 0,
            plies: vec![root; Self::MAX_PLIES + 1],
            sums: vec![I16x32::ZERO; sides * net.width_blocks()],
            heads: vec![I32x8::ZERO; sides * net.head_blocks()],
            cache: Cache::new(&net),
            activations: [U8x32::ZERO; 32],
            net,
        }
    }

    /// The net that evaluates.
    #[must_use]
    pub const fn net(&self) -> &Arc<Net> {
        &self.net
    }

    /// The instruction set in use.
    #[must_use]
    pub const fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Begins again from a position: all moves are forgotten, what was seen of boards is kept.
    pub fn reset(&mut self, position: &Position) {
        self.ply = 0;
        self.plies[0] = Ply::root(position);
    }

    /// Notes a move that is about to be made: to be called **before** [`Position::make`], with the position in which
    /// the move is legal.
    ///
    /// # Panics
    ///
    /// If nothing stands where the move comes from, or [`MAX_PLIES`](Self::MAX_PLIES) moves are already on the stack.
    #[inline]
    pub fn push(&mut self, position: &Position, mv: Move) {
        let piece = position.piece_at(mv.from()).expect("a legal move comes from a piece");
        let mut views = self.plies[self.ply].views;
        debug_assert_eq!(views, Ply::root(position).views, "pushed in another position than the one reached");
        if piece.kind() == PieceKind::King {
            let (own, enemy) = (mv.to(), position.king(!piece.color()));
            views[piece.color().index()] = View::from_kings(piece.color(), own, enemy);
            views[(!piece.color()).index()] = View::from_kings(!piece.color(), enemy, own);
        }
        self.ply += 1;
        let change = Change { mv, piece, captured: position.piece_at(mv.to()) };
        self.plies[self.ply] = Ply { views, known: [false; 2], change: Some(change) };
    }

    /// Forgets the move pushed last.
    ///
    /// # Panics
    ///
    /// If no move is left.
    #[inline]
    pub fn pop(&mut self) {
        assert!(self.ply > 0, "more moves are popped than were pushed");
        self.ply -= 1;
    }

    /// The score of the position reached, for the side to move; see [`architecture`] for what it counts and how far it
    /// goes. The position must be the one given to [`reset`](Self::reset) with the moves pushed since; null moves may
    /// have been made.
    #[must_use]
    pub fn evaluate(&mut self, position: &Position) -> i32 {
        debug_assert_eq!(self.plies[self.ply].views, Ply::root(position).views, "not the position reached");
        for side in Color::ALL {
            if !self.plies[self.ply].known[side.index()] {
                self.work_out(side, position);
            }
        }
        let own = position.turn();
        let stack = architecture::stack(position, self.net.sizes().stacks());
        let output = self.kernel.infer(
            &self.net.stacks[stack],
            sums_at(&self.sums, self.net.width_blocks(), self.ply, own),
            sums_at(&self.sums, self.net.width_blocks(), self.ply, !own),
            &mut self.activations,
        );
        let head = |side| sums_at(&self.heads, self.net.head_blocks(), self.ply, side)[stack / 8].0[stack % 8];
        architecture::score(output, head(own), head(!own))
    }

    /// Works out a side's sums of this ply, and of those passed on the way.
    fn work_out(&mut self, side: Color, position: &Position) {
        let view = self.plies[self.ply].views[side.index()];
        let mut ply = self.ply;
        loop {
            let seen_alike = self.plies[ply].views[side.index()] == view;
            if seen_alike && self.plies[ply].known[side.index()] {
                break;
            }
            if !seen_alike || ply == 0 {
                return self.refresh(side, view, position);
            }
            ply -= 1;
        }
        while ply < self.ply {
            ply += 1;
            self.advance(side, view, ply);
        }
    }

    /// A side's sums of a ply, from those of the one before.
    fn advance(&mut self, side: Color, view: View, ply: usize) {
        let Some(Change { mv, piece, captured }) = self.plies[ply].change else { return };
        self.plies[ply].known[side.index()] = true;
        let net = &*self.net;
        let added = view.input(side, piece, mv.to());
        let removed = view.input(side, piece, mv.from());
        let captured = captured.map(|captured| view.input(side, captured, mv.to()));

        let blocks = net.width_blocks();
        let row = |input: usize| &net.transformer[input * blocks..][..blocks];
        let (source, target) = step(&mut self.sums, blocks, ply, side);
        match captured {
            None => self.kernel.add_sub(source, target, row(added), row(removed)),
            Some(captured) => self.kernel.add_sub_sub(source, target, row(added), row(removed), row(captured)),
        }

        let blocks = net.head_blocks();
        let row = |input: usize| &net.head[input * blocks..][..blocks];
        let (source, target) = step(&mut self.heads, blocks, ply, side);
        for (block, target) in target.iter_mut().enumerate() {
            *target = source[block].plus(&row(added)[block]).minus(&row(removed)[block]);
            if let Some(captured) = captured {
                *target = target.minus(&row(captured)[block]);
            }
        }
    }

    /// A side's sums of this ply, from what was last seen in this view.
    #[inline(never)]
    fn refresh(&mut self, side: Color, view: View, position: &Position) {
        self.plies[self.ply].known[side.index()] = true;
        let seen = self.cache.bring_up(&self.net, self.kernel, side, view, position);
        let (width, heads) = (self.net.width_blocks(), self.net.head_blocks());
        sums_at_mut(&mut self.sums, width, self.ply, side).copy_from_slice(seen.sums);
        sums_at_mut(&mut self.heads, heads, self.ply, side).copy_from_slice(seen.heads);
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
    fn root(position: &Position) -> Self {
        let views = Color::ALL.map(|side| View::of(position, side));
        Self { views, known: [false; 2], change: None }
    }
}

/// Indices of rows, as many as there can be pieces.
type Rows = ArrayVec<u16, 32>;

fn sums_at<T>(sums: &[T], blocks: usize, ply: usize, side: Color) -> &[T] {
    &sums[(2 * ply + side.index()) * blocks..][..blocks]
}

fn sums_at_mut<T>(sums: &mut [T], blocks: usize, ply: usize, side: Color) -> &mut [T] {
    &mut sums[(2 * ply + side.index()) * blocks..][..blocks]
}

/// A side's sums of the ply before, and where those of this ply go.
fn step<T>(sums: &mut [T], blocks: usize, ply: usize, side: Color) -> (&[T], &mut [T]) {
    let (before, after) = sums.split_at_mut(2 * ply * blocks);
    (sums_at(before, blocks, ply - 1, side), sums_at_mut(after, blocks, 0, side))
}
