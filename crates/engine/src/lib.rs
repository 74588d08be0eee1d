//! The search engine, with its UCI and UCCI front end.
//!
//! An [`Engine`] searches a [`Game`](xiangqi::rules::Game) within [`Limits`]; the repetition rules
//! need the game's history. With one thread and node or depth limits a search is deterministic: a
//! function of game, evaluation, table size and limits. [`Engine::new_game`] clears all other
//! state.
//!
//! The rules of repetition, the natural limit and bare defenders apply within the tree: a line that
//! loses by a verdict is a lost line.

pub mod bench;
mod budget;
mod engine;
mod evaluation;
mod history;
mod limits;
mod pages;
mod picker;
pub mod published;
mod report;
pub mod score;
mod search;
mod strength;
mod table;
pub mod tune;
pub mod uci;

pub use budget::{Budget, ClockState};
pub use engine::{Control, Engine, Settings};
pub use evaluation::Evaluation;
#[cfg(feature = "experiments")]
pub use evaluation::Experiment;
pub use limits::{Clock, Limits, NoClock};
pub use report::{Line, LineBound, Report};
pub use score::Score;
pub use strength::{Noise, Strength};
pub use table::Table;
pub use tune::Parameters;
