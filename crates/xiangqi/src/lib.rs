//! The game of xiangqi (象棋): a board, its moves, its notations, and an arbiter that decides games by the real rules.
//!
//! A label is only as good as the verdict behind it. Everything that Chuhe plays, proves and learns from is decided
//! here, and this crate knows nothing of the rest.
//!
//! * [`Position`] is what stands where and whose turn it is: legal moves, checks, keys, exchanges. It holds no history.
//! * [`Fen`] reads and writes positions; [`notation`] reads and writes moves as engines, players and books do.
//! * [`rules`] holds the history and says after every move whether the game goes on, or how it ended and why.
//! * [`perft`] counts the leaves of the tree of legal moves.
//!
//! ```
//! use xiangqi::Position;
//!
//! let mut position = Position::start();
//! assert_eq!(position.legal_moves().len(), 44);
//! let mv = position.parse_move("h2e2")?;
//! let undo = position.make(mv);
//! assert_eq!(position.to_string(), "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b");
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
pub use position::{EXCHANGE_VALUES, Fen, FenError, Position, Undo};
pub use square::{ParseSquareError, Square};
