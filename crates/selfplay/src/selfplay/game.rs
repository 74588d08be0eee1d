//! One game of a run.

use std::time::Duration;

use dataset::{Entrant, Reason, Record, ScoredMove};
use engine::{Clock as _, Control, Engine, Limits, NoClock, Report, score::MATE};
use xiangqi::{
    Color,
    rules::{Game, Outcome, Status},
};

use super::{Finished, Others, Players, Run};
use crate::{
    openings::NoOpening,
    own::{Since, limits},
};

/// What can be seen of a game while it is played.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The moves that were made.
    pub game: &'a Game,
    /// How far the search for the next move is; none if the game is over.
    pub search: Option<&'a Report>,
    /// How many nodes each side has searched, with those of this search, by [`Color::index`].
    pub nodes: [u64; 2],
    /// What is left on each side's clock, without what this search has used; none where no clock runs.
    pub left: Option<[Duration; 2]>,
    /// How it ended, if it is over.
    pub end: Option<(Outcome, Reason)>,
}

/// An engine and what it may use for a move.
struct Seat<'a> {
    engine: &'a mut Engine,
    limits: Limits,
}

impl<'a> Seat<'a> {
    fn new(engine: &'a mut Engine, soft_nodes: Option<u64>, hard_nodes: u64) -> Self {
        engine.new_game();
        Self { engine, limits: Limits { soft_nodes, hard_nodes: Some(hard_nodes), ..Limits::default() } }
    }
}

impl Run {
    /// [`game`](Self::game), asking before each move whether to go on; `None` if not. For those who hand games out by
    /// themselves, so that no thread waits for the last games of a run.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    ///
    /// # Panics
    ///
    /// Never: while a game goes on there is a move.
    pub fn game_while(
        &self,
        players: &mut Players,
        number: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Finished>, NoOpening> {
        self.game_watched(players, number, goes_on, &mut |_| {})
    }

    /// [`game_while`](Self::game_while) for somebody who watches: `watch` is called after each iteration of a search, and at
    /// the end. It is the same game, whatever the watcher does, as long as it returns.
    ///
    /// # Errors
    ///
    /// If the game has no opening.
    ///
    /// # Panics
    ///
    /// Never: while a game goes on there is a move.
    pub fn game_watched(
        &self,
        players: &mut Players,
        number: u64,
        goes_on: &mut dyn FnMut() -> bool,
        watch: &mut dyn FnMut(&Sight<'_>),
    ) -> Result<Option<Finished>, NoOpening> {
        let Players { a, others } = players;
        let judge = others.as_mut().map_or(&mut *a, |others| &mut others.judge);
        let seed = self.header().seed_of(number);
        let Some(opening) = self.openings.choose_while(seed, judge, goes_on)? else { return Ok(None) };
        let settings = &self.settings;
        let mut a = Seat::new(a, settings.soft_nodes, settings.hard_nodes);
        let mut b = match (others, &self.opponent) {
            (Some(Others { b, .. }), Some(opponent)) => Some(Seat::new(b, opponent.soft_nodes, opponent.hard_nodes)),
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
            if !goes_on() {
                return Ok(None);
            }
            let Seat { engine, limits: nodes_limits } = match &mut b {
                Some(b) if of_opponent(number, game.position().turn()) => b,
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
                watch(&Sight { game: &game, search: Some(report), nodes, left, end: None });
            };
            // What plays unwatched has neither clock nor control either: it is the same search.
            let control = Control::default();
            let (report, is_late) = if let Some((clocks, timer)) = &mut timed {
                let (limits, clock) = (limits(&clocks.allowance(side)), Since::now(*timer));
                let report = engine.search_with(&game, &limits, &clock, &control, &mut after_iteration);
                (report, clocks.press(side, clock.elapsed()).is_err())
            } else {
                (engine.search_with(&game, nodes_limits, &NoClock, &control, &mut after_iteration), false)
            };
            nodes[turn] += report.nodes;
            if is_late {
                break (Outcome::loss_of(side), Reason::TimeLoss);
            }
            let mv = report.best_move().expect("there is a legal move while the game goes on");
            // A search that was stopped before it had a score says so by one that is beyond all.
            moves.push(ScoredMove { mv, score: report.score().filter(|score| score.abs() <= MATE) });
            game.push_legal(mv);
        };
        let left = timed.as_ref().and_then(|(clocks, _)| clocks.left());
        watch(&Sight { game: &game, search: None, nodes, left, end: Some((outcome, reason)) });
        Ok(Some(Finished { record: Record { opening, moves, outcome, reason }, nodes: nodes.iter().sum() }))
    }
}

/// Whether a colour is the opponent's in the match game with this number.
fn of_opponent(number: u64, color: Color) -> bool {
    Entrant::playing(color, number % 2 == 1) == Entrant::B
}
