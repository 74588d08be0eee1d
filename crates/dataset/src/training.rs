//! Reading positions for training: shuffled across shards, by several threads, in an order that a
//! seed determines.
//!
//! Blocks are drawn in random order from weighted sets. A *pool* is the positions of some dozens of
//! blocks, shuffled. It is a function of the plan and its number, whichever thread reads it and
//! whether or not earlier pools were read. So a run resumes by skipping to its pool. Memory is
//! bounded by one pool more than there are threads.
//!
//! A set that is larger than memory or disk is read in whole shards, which a [`ShardStore`] opens
//! when they are drawn. Of such a set only the number of positions of each shard is in memory.

mod duplicates;
mod filter;
mod order;
mod packed;
mod pool;
mod reader;

pub use duplicates::Duplicates;
pub(crate) use filter::result_for;
pub use filter::{Filter, Games, Rejected, Share};
pub use order::{StreamedSet, WeightedSet};
pub use packed::PackedPosition;
pub use pool::Sample;
pub use reader::{Plan, Reader, ReaderPosition, ShardStore, TrainingError};
