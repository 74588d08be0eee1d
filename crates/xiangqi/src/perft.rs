//! Perft: the number of leaves of the legal move tree, the standard test of move generators.
//!
//! Bulk counting: the last ply is counted, not listed. No transposition table is used.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
};

use crate::{Move, Position};

/// Returns the number of legal move sequences of this length.
#[must_use]
pub fn count(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_legal_moves() as u64,
        _ => {
            let mut nodes = 0;
            for mv in position.legal_moves() {
                let undo = position.make(mv);
                nodes += count(position, depth - 1);
                position.unmake(mv, undo);
            }
            nodes
        }
    }
}

/// Returns the perft of each legal move, in the order of [`Position::legal_moves`], computed on
/// `threads` threads. Empty at depth 0.
#[must_use]
pub fn divide(position: &Position, depth: u32, threads: NonZeroUsize) -> Vec<(Move, u64)> {
    divide_with_progress(position, depth, threads, |_, _| {})
}

/// [`divide`], with a function that is called after each counted subtree: with the number of
/// counted subtrees and of all.
#[must_use]
pub fn divide_with_progress(
    position: &Position,
    depth: u32,
    threads: NonZeroUsize,
    report: impl Fn(usize, usize) + Sync,
) -> Vec<(Move, u64)> {
    if depth == 0 {
        return Vec::new();
    }
    // The tree is split two plies deep, so that no thread is left alone with one big subtree.
    let root = position.legal_moves();
    let totals: Vec<AtomicU64> = root.iter().map(|_| AtomicU64::new(u64::from(depth == 1))).collect();
    let mut tasks = Vec::new();
    if depth > 1 {
        for (index, mv) in root.iter().enumerate() {
            let mut child = position.clone();
            let _ = child.make(*mv);
            tasks.extend(child.legal_moves().into_iter().map(|reply| (index, *mv, reply)));
        }
    }
    let (next, counted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..threads.get().min(tasks.len()) {
            scope.spawn(|| {
                while let Some((index, mv, reply)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut leaf = position.clone();
                    let _ = leaf.make(*mv);
                    let _ = leaf.make(*reply);
                    totals[*index].fetch_add(count(&mut leaf, depth - 2), Ordering::Relaxed);
                    report(counted.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
                }
            });
        }
    });
    root.into_iter().zip(totals).map(|(mv, total)| (mv, total.into_inner())).collect()
}
