//! The arbiter: whether a game is over, how it ended and why.
//!
//! [`Game`] holds a position with its history and a [`RuleSet`], and judges the game after every
//! move. A game ends, in this order of precedence, by
//!
//! 1. checkmate or stalemate (both lose),
//! 2. the third occurrence of a position, judged by the moves of both sides in between,
//! 3. the natural limit,
//! 4. bare defenders.
//!
//! The project's `docs/RULES.md` describes the reading of each rulebook.
//!
//! Searches use the same arbiter: [`Game::make_unjudged`] and [`Game::unmake_unjudged`] skip the
//! verdict, and [`Game::repetition`] judges repetitions in the search tree.
//!
//! ```
//! use xiangqi::{Fen, rules::{Game, Outcome, Reason, RuleSet, Status}};
//!
//! // A chariot that checks for ever.
//! let mut game = Game::new("5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w".parse::<Fen>()?, RuleSet::Cxr);
//! for mv in ["e0f0", "f9e9", "f0e0", "e9f9", "e0f0", "f9e9", "f0e0", "e9f9"] {
//!     assert_eq!(game.status(), &Status::Ongoing);
//!     game.push(game.position().parse_move(mv)?)?;
//! }
//! let Status::Over(ending) = game.status() else { unreachable!() };
//! assert_eq!((ending.outcome, ending.reason), (Outcome::BlackWins, Reason::PerpetualCheck));
//! assert_eq!(
//!     game.explain(ending).english,
//!     "Red loses by perpetual check: each of Red's moves from ply 1 to ply 7 gives check."
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chase;
mod cycle;
mod explanation;
mod game;
mod judgement;
mod limit;
mod mate_threat;
mod outcome;
mod ply_facts;
mod repetition;
mod rule_set;

pub use cycle::{Class, Conduct, CycleError, CycleVerdict, judge_cycle};
pub use explanation::{Explanation, Offence};
pub use game::{Game, NullMove, PushError};
pub use judgement::{JudgeError, Judgement, Verdict};
pub use limit::LimitCounter;
pub use outcome::{Ending, Outcome, ParseOutcomeError, ParseReasonError, Reason, Status};
pub use ply_facts::{Chase, PlyFacts};
pub use rule_set::{ParseRuleSetError, RuleSet};
