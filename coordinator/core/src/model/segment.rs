//! A segment: games of a job that have one holder.

use std::ops::{Mul, Range, Sub};

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

/// Games that shards with a verdict hold, as a job counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldGames {
    /// All these games.
    pub settled: i64,
    /// Those of validated shards.
    pub counted: i64,
    /// Positions of the counted games; in proportion, for shards that hold a part of their games.
    pub positions: i64,
}

impl HeldGames {
    /// The part of a shard, which holds some of its games.
    #[must_use]
    pub const fn of(state: ShardState, held: i64, games: i64, positions: i64) -> Self {
        match state {
            ShardState::Received => Self { settled: 0, counted: 0, positions: 0 },
            ShardState::Validated => Self { settled: held, counted: held, positions: positions * held / games },
            _ => Self { settled: held, counted: 0, positions: 0 },
        }
    }
}

impl Mul<i64> for HeldGames {
    type Output = Self;

    fn mul(self, sign: i64) -> Self {
        Self { settled: sign * self.settled, counted: sign * self.counted, positions: sign * self.positions }
    }
}

impl Sub for HeldGames {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            settled: self.settled - other.settled,
            counted: self.counted - other.counted,
            positions: self.positions - other.positions,
        }
    }
}

/// Returns the common numbers of two ranges; an empty range, if there are none.
#[must_use]
pub fn common(left: &Range<i64>, right: &Range<i64>) -> Range<i64> {
    left.start.max(right.start)..left.end.min(right.end)
}

/// Returns how many numbers of a range are in none of the others.
#[must_use]
pub fn uncovered(range: &Range<i64>, others: impl IntoIterator<Item = Range<i64>>) -> i64 {
    let mut others: Vec<Range<i64>> = others.into_iter().collect();
    others.sort_unstable_by_key(|other| other.start);
    let (mut count, mut seen) = (0, range.start);
    for other in others {
        count += (other.start.min(range.end) - seen).max(0);
        seen = seen.max(other.end);
    }
    count + (range.end - seen).max(0)
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
