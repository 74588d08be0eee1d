//! The referee: a process of the coordinator with the engine inside.
//!
//! A game is a function of its header and its number. So the referee plays a disputed game, and
//! knows which of its versions is right. Meanwhile it plays a random game of each upload again. A
//! wrong game takes its upload out of the pool and its account into quarantine. The
//! [`Certificate`](selfplay::certificate::Certificate) lets anyone verify the ruling, so the
//! referee needs no trust.
//!
//! It claims its games until a time, so a referee that is killed loses nothing, and two of them do
//! not play the same game.

pub mod command;
mod referee;

pub use referee::{Referee, RefereeError};
