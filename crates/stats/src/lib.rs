//! Match statistics: Elo estimates with their errors, and the sequential probability ratio test
//! (SPRT).
//!
//! The crate turns counts of results into Elo and into the verdict of an SPRT, as used for gating
//! nets. It is pure: no I/O, no clock, no randomness, and no knowledge of the game.
//!
//! * [`Pentanomial`] counts pairs of games (same opening, colours swapped), [`Trinomial`] single
//!   games; [`Counts`] is either. Counts add up, independent of the order and the batches of
//!   results.
//! * [`Counts::logistic_elo`] and [`Counts::normalized_elo`] are the estimates of a match of fixed
//!   length.
//! * [`Sprt`] is a test. [`Sprt::llr`] is the exact log-likelihood ratio, [`Sprt::decide`] the
//!   verdict, [`Sprt::estimate`] the Elo of a match stopped by the test itself, [`Sprt::outlook`]
//!   the time left.
//! * [`Spsa`] and [`Tuned`] are the gains and the arithmetic of tuning by games.
//! * [`Overshoot`] corrects the bounds for tests that are evaluated once per batch.
//! * [`tournament`] has schedules, standings and ratings of many players.
//!
//! ```
//! use stats::{Decision, EloModel, Hypotheses, Pentanomial, Sprt};
//!
//! let test = Sprt::new(EloModel::Normalized, Hypotheses::new(0.0, 2.0)?);
//! let counts = Pentanomial::new([120, 5200, 11400, 5480, 130]);
//!
//! let llr = test.llr(counts)?;
//! assert_eq!(format!("{llr:.3} in {}", test.bounds()), "2.637 in (-2.944, 2.944)");
//! assert_eq!(test.decide(llr), Decision::Continue);
//!
//! let estimate = test.estimate(counts);
//! assert_eq!(estimate.to_string(), "2.28 [0.61, 3.94]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Two rules that hold everywhere
//!
//! **No NaN, no infinity.** An empty cell counts as a thousandth of a result. So lopsided counts, a
//! single game and no game at all have finite statistics. Where there is no solution, the error is
//! typed ([`NoSolution`]).
//!
//! **The exact form.** The likelihood ratio is the maximum over all distributions of results, not
//! an approximation near equality. The same code judges an early net that wins everything and a
//! patch worth half an Elo.

mod counts;
mod distribution;
mod elo;
mod normal;
mod sprt;
mod spsa;
pub mod tournament;

pub use counts::{Counts, CountsError, GameResult, PairResult, Pentanomial, Trinomial};
pub use elo::{EloEstimate, EloModel, Rounded, UnknownEloModel};
pub use sprt::{Bounds, Decision, Hypotheses, NoSolution, Outlook, Overshoot, Sprt, SprtError};
pub use spsa::{Gains, Spsa, Tuned};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
