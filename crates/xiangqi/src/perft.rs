//! Counting the leaves of the tree of legal moves, the measure by which move generators are compared.
//!
//! The last ply is counted, not listed; nothing is cached.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread,
};

use crate::{Move, Position};

/// The number of legal move sequences of this length.
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

/// The count behind each legal move, in the order of [`Position::legal_moves`], on this many threads. Empty at depth 0.
#[must_use]
pub fn divide(position: &Position, depth: u32, threads: NonZeroUsize) -> Vec<(Move, u64)> {
    if depth == 0 {
        return Vec::new();
    }
    // Work is dealt out two plies deep, so that no thread is left alone with one big subtree.
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
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads.get().min(tasks.len()) {
            scope.spawn(|| {
                while let Some((index, mv, reply)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut leaf = position.clone();
                    let _ = leaf.make(*mv);
                    let _ = leaf.make(*reply);
                    totals[*index].fetch_add(count(&mut leaf, depth - 2), Ordering::Relaxed);
                }
            });
        }
    });
    root.into_iter().zip(totals).map(|(mv, total)| (mv, total.into_inner())).collect()
}
