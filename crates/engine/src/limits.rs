//! When a search ends.

use std::time::Duration;

use xiangqi::Move;

/// A clock that was started with the search. Searches that have no time limit never look at it.
pub trait Clock: Sync {
    /// The time since the search began.
    fn elapsed(&self) -> Duration;
}

/// A clock that stands still, for searches that are limited by nodes or depth.
#[derive(Clone, Copy, Debug)]
pub struct NoClock;

impl Clock for NoClock {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// When to stop. Without any limit a search goes on until it is told to stop, or nothing is left to search.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// No deeper than this.
    pub depth: Option<u32>,
    /// No new iteration after this many nodes of the first thread.
    pub soft_nodes: Option<u64>,
    /// Not one node more than this; several threads together overstep it by some hundred each.
    pub hard_nodes: Option<u64>,
    /// No new iteration after this time, nearer or further as the best move is steady or not.
    pub soft_time: Option<Duration>,
    /// No longer than this.
    pub hard_time: Option<Duration>,
    /// Only these moves at the root; all if empty.
    pub root_moves: Vec<Move>,
    /// How many best lines are looked for; 0 counts as 1.
    pub lines: usize,
}

impl Limits {
    /// So many nodes, and not one more.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self { hard_nodes: Some(nodes), ..Self::default() }
    }

    /// So many plies deep.
    #[must_use]
    pub fn depth(depth: u32) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }
}
