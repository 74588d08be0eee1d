//! The trainer: trains NNUE nets on games.

pub mod agent;
mod command;
mod simd;

pub mod backend;
pub mod batch;
pub mod card;
pub mod checkpoint;
pub mod cpu;
pub mod data;
pub mod events;
pub mod export;
pub mod foreign;
pub mod inspect;
pub mod loss;
pub mod model;
pub mod optimizer;
pub mod picture;
pub mod run;
pub mod schedule;
pub mod sharing;
#[cfg(feature = "torch")]
pub mod torch;

pub use command::main;
