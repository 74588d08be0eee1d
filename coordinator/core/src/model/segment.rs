//! A segment: games of a job that have one holder.

use std::ops::Range;

use super::{
    ids::{LeaseId, ShardId},
    states::{SegmentState, ShardState},
};

/// The holder of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// None: the games are to be played.
    Open,
    /// A lease.
    Leased(LeaseId),
    /// A shard.
    Held(ShardId),
}

impl Holder {
    /// The segment's state.
    #[must_use]
    pub const fn state(self) -> SegmentState {
        match self {
            Self::Open => SegmentState::Open,
            Self::Leased(_) => SegmentState::Leased,
            Self::Held(_) => SegmentState::Held,
        }
    }
}

/// Games of a job that have one holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Their numbers.
    pub numbers: Range<i64>,
    /// Their holder.
    pub holder: Holder,
    /// How often they were leased.
    pub attempts: i64,
}

/// A change of a segment's row. Rows are named by their first game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentEdit {
    /// Writes a segment.
    Put(Segment),
    /// Removes a segment, whose games are in an earlier one now.
    Remove {
        /// Its first game.
        first: i64,
    },
}

/// Games of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The shard.
    pub shard: ShardId,
    /// Numbers of the games.
    pub numbers: Range<i64>,
}

/// Returns the common numbers of two ranges; an empty range, if there are none.
#[must_use]
pub fn common(left: &Range<i64>, right: &Range<i64>) -> Range<i64> {
    left.start.max(right.start)..left.end.min(right.end)
}

/// A segment of a match, and one byte for each pair of its shard.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// The first game of the shard that holds them.
    pub shard_first: Option<i64>,
    /// The shard's state.
    pub state: Option<ShardState>,
    /// A byte for each pair of the shard.
    pub bytes: Option<Vec<u8>>,
}
