//! Reading positions for training: shuffled across shards, by several threads, in an order that a
//! seed determines.
//!
//! Blocks are drawn in random order from weighted sets. A *pool* is the positions of some dozens of
//! blocks, shuffled. It is a function of the plan and its number, whichever thread reads it and
//! whether or not earlier pools were read. So a run resumes by skipping to its pool. Memory is
//! bounded by one pool more than there are threads.

mod duplicates;
mod filter;
mod order;
mod packed;
mod pool;
mod reader;

pub use duplicates::Duplicates;
pub(crate) use filter::result_for;
pub use filter::{Filter, Games, Rejected};
pub use order::WeightedSet;
pub use packed::PackedPosition;
pub use pool::Sample;
pub use reader::{Plan, Reader, ReaderPosition, TrainingError};
