//! Match statistics: how strong, how sure, and whether to stop.
//!
//! A net is promoted because a match said so. This crate is what the match says: it turns counts of results into Elo
//! with its error, and into the verdict of a sequential probability ratio test (SPRT). It is pure: no input or output,
//! no clock, no randomness, and it knows nothing of xiangqi.
//!
//! * [`Pentanomial`] counts pairs of games (the same opening, colours swapped), [`Trinomial`] single games; [`Counts`]
//!   is either. They add up: the order and the batches in which results came in leave no trace.
//! * [`Counts::logistic_elo`] and [`Counts::normalized_elo`] are the estimates of a match of fixed length.
//! * [`Sprt`] is a test: [`Sprt::llr`] is the exact log-likelihood ratio, [`Sprt::decide`] the verdict,
//!   [`Sprt::estimate`] the Elo of a match that was stopped by the test itself, [`Sprt::outlook`] the time left.
//! * [`Overshoot`] corrects the bounds for the fact that a test is looked at once per batch.
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
//! **No NaN, no infinity.** Every cell that is still zero counts as a thousandth of a result, so that lopsided counts,
//! a single game and no game at all have finite statistics. What has no answer is a typed error ([`NoSolution`]).
//!
//! **The exact form.** The likelihood ratio is the maximum over all distributions of results, not a formula that is
//! good near equality: an early net that wins everything is judged by the same code as a patch worth half an Elo.

mod counts;
mod distribution;
mod elo;
mod normal;
mod sprt;

pub use counts::{Counts, CountsError, GameResult, PairResult, Pentanomial, Trinomial};
pub use elo::{EloEstimate, EloModel, Rounded, UnknownEloModel};
pub use sprt::{Bounds, Decision, Hypotheses, NoSolution, Outlook, Overshoot, Sprt, SprtError};
