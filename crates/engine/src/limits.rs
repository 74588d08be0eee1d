//! Search limits.

use std::time::Duration;

use xiangqi::Move;

/// A clock that started with the search.
pub trait Clock: Sync {
    /// The time since the search began.
    fn elapsed(&self) -> Duration;
}

/// A stopped clock, for searches limited by nodes or depth.
#[derive(Clone, Copy, Debug)]
pub struct NoClock;

impl Clock for NoClock {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// The limits of a search. Without any, it continues until it is stopped or reaches the maximum
/// ply.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The maximum depth.
    pub depth: Option<u32>,
    /// No new iteration after this many nodes of the main thread.
    pub soft_nodes: Option<u64>,
    /// The exact maximum of nodes; with several threads exceeded by up to some hundred per thread.
    pub hard_nodes: Option<u64>,
    /// No new iteration after this time, scaled by best-move stability.
    pub soft_time: Option<Duration>,
    /// The maximum time.
    pub hard_time: Option<Duration>,
    /// The root moves to search; all if empty.
    pub root_moves: Vec<Move>,
    /// The number of lines (MultiPV); 0 counts as 1.
    pub lines: usize,
}

impl Limits {
    /// A hard node limit.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self { hard_nodes: Some(nodes), ..Self::default() }
    }

    /// A depth limit.
    #[must_use]
    pub fn depth(depth: u32) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }
}
