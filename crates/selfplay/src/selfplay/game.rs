//! One game of a run.

use std::time::Duration;

use dataset::{Entrant, Reason, Record, ScoredMove};
use engine::{Clock as _, Control, Engine, Limits, NoClock, Report, score::MATE};
use xiangqi::{
    Color,
    rules::{Game, Outcome, Status},
};

use super::{Finished, MatchEngines, Players, Run};
use crate::{
    engine_player::{SearchClock, limits},
    openings::NoOpening,
};

/// A snapshot of a running game.
#[derive(Clone, Copy, Debug)]
pub struct GameSnapshot<'a> {
    /// The game so far.
    pub game: &'a Game,
    /// The progress of the current search; none if the game is over.
    pub search: Option<&'a Report>,
    /// The nodes of each side, this search included, by [`Color::index`].
    pub nodes: [u64; 2],
    /// The time left on each clock, this search deducted; none without a clock.
    pub left: Option<[Duration; 2]>,
    /// The result, if the game is over.
    pub end: Option<(Outcome, Reason)>,
}

/// An engine with its node limits.
struct LimitedEngine<'a> {
    engine: &'a mut Engine,
    limits: Limits,
}

impl<'a> LimitedEngine<'a> {
    fn new(engine: &'a mut Engine, soft_nodes: Option<u64>, hard_nodes: u64) -> Self {
        engine.new_game();
        Self { engine, limits: Limits { soft_nodes, hard_nodes: Some(hard_nodes), ..Limits::default() } }
    }
}

impl Run {
    /// [`game`](Self::game), checking before each move whether to continue; `None` if not. For
    /// callers that schedule games themselves, so that no thread waits for the last games of a run.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    ///
    /// # Panics
    ///
    /// Never: an ongoing game has a legal move.
    pub fn game_while(
        &self,
        players: &mut Players,
        number: u64,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Finished>, NoOpening> {
        self.game_watched(players, number, should_continue, &mut |_| {})
    }

    /// [`game_while`](Self::game_while) with an observer: `watch` is called after each iteration
    /// and at the end. It does not affect the game.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    ///
    /// # Panics
    ///
    /// Never: an ongoing game has a legal move.
    pub fn game_watched(
        &self,
        players: &mut Players,
        number: u64,
        should_continue: &mut dyn FnMut() -> bool,
        watch: &mut dyn FnMut(&GameSnapshot<'_>),
    ) -> Result<Option<Finished>, NoOpening> {
        let Players { a, match_engines } = players;
        let filter_engine = match_engines.as_mut().map_or(&mut *a, |match_engines| &mut match_engines.judge);
        let seed = self.header().seed_of(number);
        let Some(opening) = self.openings.choose_while(seed, filter_engine, should_continue)? else { return Ok(None) };
        let settings = &self.settings;
        let mut a = LimitedEngine::new(a, settings.soft_nodes, settings.hard_nodes);
        let mut b = match (match_engines, &self.opponent) {
            (Some(MatchEngines { b, .. }), Some(opponent)) => {
                Some(LimitedEngine::new(b, opponent.soft_nodes, opponent.hard_nodes))
            }
            _ => None,
        };
        let mut timed = self.timed.as_ref().map(|timed| (timed.clocks(), &*timed.timer));
        let mut game = opening.game();
        let mut moves: Vec<ScoredMove> = Vec::new();
        let mut nodes = [0; 2];
        let (outcome, reason) = loop {
            if let Status::Over(ending) = game.status() {
                break (ending.outcome, Reason::Rules(ending.reason));
            }
            let scores = moves.iter().map(|scored| scored.score);
            let verdict = settings.adjudication.verdict(scores, opening.moves.len(), !game.position().turn());
            if let Some(verdict) = verdict {
                break verdict;
            }
            if game.len() >= settings.ply_cap as usize {
                break (Outcome::Draw, Reason::PlyCap);
            }
            if !should_continue() {
                return Ok(None);
            }
            let LimitedEngine { engine, limits: nodes_limits } = match &mut b {
                Some(b) if is_opponent(number, game.position().turn()) => b,
                _ => &mut a,
            };
            let side = game.position().turn();
            let turn = side.index();
            let left = timed.as_ref().and_then(|(clocks, _)| clocks.left());
            let mut after_iteration = |report: &Report| {
                let (mut nodes, mut left) = (nodes, left);
                nodes[turn] += report.nodes;
                if let Some(left) = &mut left {
                    left[turn] = left[turn].saturating_sub(report.time);
                }
                watch(&GameSnapshot { game: &game, search: Some(report), nodes, left, end: None });
            };
            // The same search as without an observer: the control is never used.
            let control = Control::default();
            let (report, is_late) = if let Some((clocks, timer)) = &mut timed {
                let limits = limits(&clocks.allowance(side), engine.parameters());
                let clock = SearchClock::start(*timer);
                let report = engine.search_with(&game, &limits, &clock, &control, &mut after_iteration);
                (report, clocks.press(side, clock.elapsed()).is_err())
            } else {
                (engine.search_with(&game, nodes_limits, &NoClock, &control, &mut after_iteration), false)
            };
            nodes[turn] += report.nodes;
            if is_late {
                break (Outcome::loss_of(side), Reason::TimeLoss);
            }
            let mv = report.best_move().expect("an ongoing game has a legal move");
            // Without a completed score the report holds one beyond all scores.
            moves.push(ScoredMove { mv, score: report.score().filter(|score| score.abs() <= MATE) });
            game.push_legal(mv);
        };
        let left = timed.as_ref().and_then(|(clocks, _)| clocks.left());
        watch(&GameSnapshot { game: &game, search: None, nodes, left, end: Some((outcome, reason)) });
        Ok(Some(Finished { record: Record { opening, moves, outcome, reason }, nodes: nodes.iter().sum() }))
    }
}

/// Whether the opponent plays this colour in the match game with this number.
fn is_opponent(number: u64, color: Color) -> bool {
    Entrant::playing(color, number % 2 == 1) == Entrant::B
}
