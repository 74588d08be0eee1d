//! The arbiter: whether a game goes on, and if not, how it ended and why.
//!
//! [`Game`] holds a position with its history and a [`RuleSet`], and says after every move what the rules say. What
//! ends a game, in this order: checkmate and stalemate (both lose), the third occurrence of a position (judged by what
//! both sides did in between), the natural limit, bare defenders. How each rule set reads its rulebook is described in
//! `docs/RULES.md`.
//!
//! Searches ask the same arbiter: [`Game::advance`] and [`Game::retract`] move without asking, and
//! [`Game::repetition`] answers for a tree.
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
mod deed;
mod explanation;
mod game;
mod limit;
mod mate_threat;
mod outcome;
mod repetition;
mod rule_set;

pub use cycle::{Class, Conduct, CycleError, CycleVerdict, judge_cycle};
pub use deed::{Chase, Deed};
pub use explanation::{Explanation, Offence};
pub use game::{Game, NullMove, PushError};
pub use limit::LimitCounter;
pub use outcome::{Ending, Outcome, ParseOutcomeError, ParseReasonError, Reason, Status};
pub use rule_set::{ParseRuleSetError, RuleSet};
