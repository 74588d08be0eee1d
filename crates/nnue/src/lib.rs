//! Evaluation of positions by small nets: what a net is, its file, and integer inference that gives the same score to
//! the bit on every instruction set.
//!
//! * [`architecture`] is the one place where the net is defined: inputs, layers, scales, rounding. Reader, inference and
//!   trainer take every constant from there.
//! * [`Parameters`] are a net's numbers as its file holds them: read, written, made up for tests.
//! * [`Net`] is what inference runs on. It exists only if it is proved that no sum in it can overflow; it is shared by
//!   all threads and named by its [`NetHash`].
//! * [`Evaluator`] follows one search: it records moves and works out only what a score asks for.
//! * [`Kernel`] is an instruction set that this processor has.
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
