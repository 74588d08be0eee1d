//! Reading positions for training: mixed across shards, by several threads, in an order that a seed decides.
//!
//! Blocks are drawn in random order from weighted sets; a *pool* is the positions of some dozens of blocks, mixed among
//! themselves. A pool is a function of the plan and its number, so it does not matter which thread reads it, nor whether
//! the pools before it were read at all: a run goes on where it stopped by skipping to its pool. Memory is bounded by one
//! pool more than there are threads.

mod filter;
mod order;
mod packed;
mod pool;
mod reader;

pub(crate) use filter::result_for;
pub use filter::{Filter, Games, Rejected};
pub use order::WeightedSet;
pub use packed::PackedPosition;
pub use pool::Sample;
pub use reader::{Place, Plan, Reader, TrainingError};
