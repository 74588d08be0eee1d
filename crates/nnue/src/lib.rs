//! NNUE evaluation: net architecture, file format and integer inference, bit-exact on every
//! instruction set.
//!
//! * [`architecture`] is the single definition of the net: inputs, layers, scales, rounding.
//!   Reader, inference and trainer take every constant from it.
//! * [`Parameters`] are the numbers of a net file: read, written, generated for tests.
//! * [`Net`] is ready for inference and shared by all threads. It exists only if its sums are
//!   proved not to overflow. Its [`NetHash`] identifies it.
//! * [`Evaluator`] follows one search with incrementally updated accumulators, computed on demand.
//! * [`Kernel`] is an instruction set available on this processor.
//!
//! ```
//! use std::sync::Arc;
//! use nnue::{Evaluator, Kernel, Net, architecture::Sizes};
//! use xiangqi::Position;
//!
//! let net = Arc::new(Net::from_piece_values(Sizes::new(128, 16, 32, 8)?, 1));
//! let mut evaluator = Evaluator::new(net, Kernel::from_env()?);
//! let mut position = Position::start();
//! evaluator.reset(&position);
//! let before = evaluator.evaluate(&position);
//!
//! let mv = position.parse_move("b2b9")?;
//! evaluator.push(&position, mv);
//! let undo = position.make(mv);
//! assert!(evaluator.evaluate(&position) < before);
//!
//! position.unmake(mv, undo);
//! evaluator.pop();
//! assert_eq!(evaluator.evaluate(&position), before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod architecture;
pub mod plain;

mod evaluator;
mod format;
mod hash;
mod kernel;
mod net;
mod parameters;
mod proof;

pub use evaluator::Evaluator;
pub use format::{FileError, NetError, Section};
pub use hash::{NetHash, ParseNetHashError};
pub use kernel::{Kernel, KernelError};
pub use net::Net;
pub use parameters::{Parameters, StackParameters};
pub use proof::{Layer, Overflow};
