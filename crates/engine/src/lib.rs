//! Search: what a position is worth, and which move is best.
//!
//! An [`Engine`] searches a [`Game`](xiangqi::rules::Game), whose history the rules need, within [`Limits`]. With one
//! thread and limits of nodes or depth a search is a function of the game, the evaluation, the size of the table and
//! the limits: no clock is read, and nothing is left over from before a [`Engine::new_game`].
//!
//! The rules of repetition, the natural limit and bare defenders are part of the tree: a line that would lose by a
//! verdict is a lost line.

pub mod bench;
mod budget;
mod engine;
mod evaluation;
mod history;
mod limits;
mod picker;
pub mod published;
mod report;
pub mod score;
mod search;
mod table;
pub mod uci;

pub use budget::{Budget, ClockState};
pub use engine::{Control, Engine, Settings};
pub use evaluation::Evaluation;
#[cfg(feature = "experiments")]
pub use evaluation::Experiment;
pub use limits::{Clock, Limits, NoClock};
pub use report::{Line, LineBound, Report};
pub use score::Score;
pub use table::Table;
