//! An independent judge of the game, for the tests to compare the library with.
//!
//! Everything here is written a second time, from the rulebook alone. The board is a mailbox, moves
//! are tried out on copies, and the arbiter recomputes every attack from scratch. It shares no code
//! and no ideas with the crate it judges, depends on `std` only, and prefers the obvious to the
//! fast. When the two disagree, one of them has misread the rules, and this one can be read aloud
//! next to the book.
//!
//! Points are numbered `rank * 9 + file`, rank 0 on Red's side, file 0 being `a`. Positions are
//! expected to have one king a side; a board without a king is never in check.
//!
//! Not covered: clocks, and illegal moves as a way to lose.

// Each integration test compiles its own copy of this module and uses a part of it.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod adjudicator;
pub mod board;
pub mod cycles;
pub mod moves;
pub mod ring;
pub mod wikibook;

pub use adjudicator::{Judgement, Outcome, Rules, judge};
pub use board::{Board, Color, Kind, Move, Piece, fen_counter};
pub use moves::{
    attackers, in_check, is_legal, legal_moves, legal_moves_of, move_text, parse_move, parse_moves, perft,
    pseudo_moves, pseudo_moves_from, pseudo_moves_of,
};
pub use ring::{RingFinding, SideFinding, examine_ring, judge_ring};
