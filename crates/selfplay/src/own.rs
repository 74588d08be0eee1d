//! Our own engine as a player.

use std::time::Duration;

use engine::{Budget, Clock, ClockState, Control, Engine, Limits, score::MATE};
use xiangqi::rules::Game;

use crate::{
    player::{Allowance, Choice, Player, Trouble},
    timing::Timer,
};

/// What lies between the end of a search and the moment its move is stamped.
const OVERHEAD: Duration = Duration::from_millis(5);

/// An engine of ours, in this process.
pub struct EnginePlayer<'a> {
    engine: Engine,
    timer: &'a dyn Timer,
}

impl<'a> EnginePlayer<'a> {
    /// A player that measures its time with `timer`.
    #[must_use]
    pub fn new(engine: Engine, timer: &'a dyn Timer) -> Self {
        Self { engine, timer }
    }
}

/// The time since a search began.
pub(crate) struct Since<'a> {
    timer: &'a dyn Timer,
    start: Duration,
}

impl<'a> Since<'a> {
    pub(crate) fn now(timer: &'a dyn Timer) -> Self {
        Self { timer, start: timer.now() }
    }
}

impl Clock for Since<'_> {
    fn elapsed(&self) -> Duration {
        self.timer.now().saturating_sub(self.start)
    }
}

/// The limits of a search that may use so much.
pub(crate) fn limits(allowance: &Allowance) -> Limits {
    match *allowance {
        Allowance::Nodes(nodes) => Limits::nodes(nodes),
        Allowance::MoveTime(time) => Limits { hard_time: Some(time), ..Limits::default() },
        Allowance::Clock { own, increment, .. } => {
            let clock = ClockState { left: own, increment, moves_to_go: None };
            let Budget { soft, hard } = clock.budget(OVERHEAD);
            Limits { soft_time: Some(soft), hard_time: Some(hard), ..Limits::default() }
        }
    }
}

impl Player for EnginePlayer<'_> {
    fn new_game(&mut self) -> Result<(), Trouble> {
        self.engine.new_game();
        Ok(())
    }

    fn choose(&mut self, game: &Game, allowance: &Allowance) -> Result<Choice, Trouble> {
        let clock = Since::now(self.timer);
        let report = self.engine.search_with(game, &limits(allowance), &clock, &Control::default(), &mut |_| {});
        Ok(Choice {
            mv: report.best_move().expect("there is a legal move while the game goes on"),
            // A search that was stopped before it had a score says so by one that is beyond all.
            score: report.score().filter(|score| score.abs() <= MATE),
            depth: report.depth,
            nodes: report.nodes,
        })
    }
}
