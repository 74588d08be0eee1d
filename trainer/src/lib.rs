//! Makes nets from games.

mod simd;

pub mod backend;
pub mod batch;
pub mod cpu;
pub mod loss;
pub mod model;
pub mod optimizer;
