//! Xiangqi (象棋, Chinese chess): board, move generation, notations, and an arbiter for the
//! repetition rules.
//!
//! The crate is self-contained: no I/O, no clock, no randomness.
//!
//! * [`Position`]: pieces and side to move. Legal moves, checks, Zobrist keys, static exchange
//!   evaluation (SEE). No history.
//! * [`Fen`] reads and writes positions; [`notation`] reads and writes moves in UCI, UCCI, ICCS,
//!   WXF and Chinese notation.
//! * [`rules`]: a game with its history, judged after every move by one of five rule sets.
//! * [`perft`] counts the leaves of the legal move tree.
//!
//! ```
//! use xiangqi::Position;
//!
//! let mut position = Position::start();
//! assert_eq!(position.legal_moves().len(), 44);
//! let mv = position.parse_move("h2e2")?;
//! let undo = position.make(mv);
//! let expected = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b";
//! assert_eq!(position.to_string(), expected);
//! position.unmake(mv, undo);
//! assert_eq!(position, Position::start());
//! # Ok::<(), xiangqi::notation::NotationError>(())
//! ```

pub mod attacks;
pub mod notation;
pub mod perft;
pub mod rules;
pub mod text;

mod bitboard;
mod color;
mod moves;
mod piece;
mod position;
mod square;
mod zobrist;

pub use bitboard::{Bitboard, Squares};
pub use color::Color;
pub use moves::{MAX_MOVES, Move, MoveList, ParseMoveError};
pub use piece::{Piece, PieceKind};
pub use position::{Checks, Fen, FenError, Position, SEE_VALUES, Undo};
pub use square::{ParseSquareError, Square};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
