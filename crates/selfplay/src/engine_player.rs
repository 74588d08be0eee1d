//! Our engine as a player.

use std::time::Duration;

use engine::{Budget, Clock, ClockState, Control, Engine, Limits, Parameters, score::MATE};
use xiangqi::rules::Game;

use crate::{
    player::{Allowance, Choice, Player, Trouble},
    timing::Timer,
};

/// The time between the end of a search and the time stamp of its move.
const OVERHEAD: Duration = Duration::from_millis(5);

/// Our engine, in this process.
pub struct EnginePlayer<'a> {
    engine: Engine,
    timer: &'a dyn Timer,
}

impl<'a> EnginePlayer<'a> {
    /// Creates a player that measures its time with `timer`.
    #[must_use]
    pub fn new(engine: Engine, timer: &'a dyn Timer) -> Self {
        Self { engine, timer }
    }
}

/// The clock of one search.
pub(crate) struct SearchClock<'a> {
    timer: &'a dyn Timer,
    start: Duration,
}

impl<'a> SearchClock<'a> {
    pub(crate) fn start(timer: &'a dyn Timer) -> Self {
        Self { timer, start: timer.now() }
    }
}

impl Clock for SearchClock<'_> {
    fn elapsed(&self) -> Duration {
        self.timer.now().saturating_sub(self.start)
    }
}

/// Converts an allowance into search limits.
pub(crate) fn limits(allowance: &Allowance, parameters: &Parameters) -> Limits {
    match *allowance {
        Allowance::Nodes(nodes) => Limits::nodes(nodes),
        Allowance::MoveTime(time) => Limits { hard_time: Some(time), ..Limits::default() },
        Allowance::Clock { own, increment, moves_to_go, .. } => {
            let clock = ClockState { left: own, increment, moves_to_go };
            let Budget { soft, hard } = clock.budget(OVERHEAD, parameters);
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
        let clock = SearchClock::start(self.timer);
        let limits = limits(allowance, self.engine.parameters());
        let report = self.engine.search_with(game, &limits, &clock, &Control::default(), &mut |_| {});
        Ok(Choice {
            mv: report.best_move().expect("an ongoing game has a legal move"),
            // Without a completed score the report holds one beyond all scores.
            score: report.score().filter(|score| score.abs() <= MATE),
            depth: report.depth,
            nodes: report.nodes,
            line: report.lines.first().map(|line| line.moves.clone()).unwrap_or_default(),
        })
    }
}
