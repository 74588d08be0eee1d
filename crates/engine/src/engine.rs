//! The engine: a transposition table, search threads and their histories.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
};

use xiangqi::rules::Game;

use crate::{
    evaluation::Evaluation,
    limits::{Clock, Limits, NoClock},
    report::Report,
    search::{Reductions, Shared, Worker},
    strength::Noise,
    table::Table,
    tune::Parameters,
};

/// The settings of an engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The size of the transposition table.
    pub hash_mebibytes: usize,
    /// The number of search threads. With more than one, searches are not deterministic.
    pub threads: usize,
    /// The static evaluation.
    pub evaluation: Evaluation,
    /// The parameters of the search.
    pub parameters: Parameters,
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Settings {
    /// The defaults: one thread, the plain evaluation.
    pub const DEFAULT: Self =
        Self { hash_mebibytes: 16, threads: 1, evaluation: Evaluation::Plain, parameters: Parameters::DEFAULT };
}

/// The control of a running search.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// Asks the host whether to stop.
    asks: Option<fn() -> bool>,
}

impl Control {
    /// A control that also stops when `stop` answers yes.
    #[must_use]
    pub fn asking(stop: fn() -> bool) -> Self {
        Self { asks: Some(stop), ..Self::default() }
    }

    /// Stops the search within some hundred nodes, but not before the first iteration is complete.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Suspends time limits until [`ponder_hit`](Self::ponder_hit). Call before the search.
    pub fn ponder(&self) {
        self.pondering.store(true, Relaxed);
    }

    /// Enforces time limits from now on: the opponent made the expected move.
    pub fn ponder_hit(&self) {
        self.pondering.store(false, Relaxed);
    }

    /// Resets it for another search.
    pub fn reset(&self) {
        self.stop.store(false, Relaxed);
        self.pondering.store(false, Relaxed);
    }

    /// Whether [`stop`](Self::stop) was called. A search that ends by its limits does not set it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed) || self.asks.is_some_and(|stop| stop())
    }

    /// Whether the engine is pondering: the opponent is to move.
    #[must_use]
    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Relaxed)
    }
}

/// A search engine.
pub struct Engine {
    table: Table,
    workers: Vec<Worker>,
    evaluation: Evaluation,
    noise: Option<Noise>,
    parameters: Parameters,
    reductions: Reductions,
}

impl Engine {
    /// Creates an engine.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let Settings { hash_mebibytes, threads, evaluation, parameters } = settings;
        let mut engine = Self {
            table: Table::with_parameters(*hash_mebibytes, parameters),
            workers: Vec::new(),
            evaluation: evaluation.clone(),
            noise: None,
            parameters: parameters.clone(),
            reductions: Reductions::new(parameters),
        };
        engine.set_threads(*threads);
        engine
    }

    /// Clears table and histories, so that nothing carries over between games.
    pub fn new_game(&mut self) {
        self.table.clear();
        self.workers.iter_mut().for_each(Worker::clear);
    }

    /// Replaces the table by an empty one of another size.
    pub fn set_hash(&mut self, mebibytes: usize) {
        self.table = Table::with_parameters(mebibytes, &self.parameters);
    }

    /// Sets the number of threads, at least 1.
    pub fn set_threads(&mut self, threads: usize) {
        self.workers.truncate(threads.max(1));
        for index in self.workers.len()..threads.max(1) {
            self.workers.push(Worker::new(&self.evaluation, self.noise, index));
        }
    }

    /// Sets the evaluation, and clears table and histories.
    pub fn set_evaluation(&mut self, evaluation: Evaluation) {
        self.evaluation = evaluation;
        for worker in &mut self.workers {
            worker.set_evaluation(&self.evaluation);
        }
        self.new_game();
    }

    /// Sets the errors of the evaluation, none by default, and clears table and histories.
    pub fn set_noise(&mut self, noise: Option<Noise>) {
        self.noise = noise;
        for worker in &mut self.workers {
            worker.set_noise(noise);
        }
        self.new_game();
    }

    /// Sets the parameters of the search, and clears table and histories.
    pub fn set_parameters(&mut self, parameters: Parameters) {
        self.table.set_parameters(&parameters);
        self.reductions = Reductions::new(&parameters);
        self.parameters = parameters;
        self.new_game();
    }

    /// The parameters of the search.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The static evaluation.
    #[must_use]
    pub const fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// Searches the last position of a game. Time limits are ignored.
    #[must_use]
    pub fn search(&mut self, game: &Game, limits: &Limits) -> Report {
        self.search_with(game, limits, &NoClock, &Control::default(), &mut |_| {})
    }

    /// Searches until the limits or `control` end it; calls `report` after each iteration.
    pub fn search_with(
        &mut self,
        game: &Game,
        limits: &Limits,
        clock: &dyn Clock,
        control: &Control,
        report: &mut dyn FnMut(&Report),
    ) -> Report {
        self.table.new_search();
        let nodes: Vec<_> = self.workers.iter().map(|_| AtomicU64::new(0)).collect();
        let stop = AtomicBool::new(false);
        let shared = Shared {
            table: &self.table,
            parameters: &self.parameters,
            reductions: &self.reductions,
            limits,
            clock,
            control,
            stop: &stop,
            nodes: &nodes,
        };
        let Some((first, helpers)) = self.workers.split_first_mut() else {
            unreachable!("there is at least one thread")
        };
        thread::scope(|scope| {
            for helper in helpers {
                let shared = &shared;
                scope.spawn(move || helper.run(game, shared, &mut |_| {}));
            }
            first.run(game, &shared, report)
        })
    }
}

#[cfg(test)]
mod tests {
    use xiangqi::{Fen, rules::RuleSet};

    use super::*;
    use crate::table::Bound;

    /// Red, a horse against two chariots, can close a permitted cycle for the third time: a draw,
    /// but only on this path.
    #[test]
    fn a_path_dependent_draw_does_not_enter_the_table() {
        let start: Fen = "3k3rr/9/9/9/9/9/9/2N6/9/4K4 b".parse().unwrap();
        let mut game = Game::new(start, RuleSet::Cxr);
        for mv in "d9d8 c2e3 d8d9 e3c2 d9d8 c2a3 d8d9".split(' ') {
            let mv = game.position().parse_move(mv).unwrap();
            game.push(mv).unwrap();
        }
        let mut engine = Engine::new(&Settings { hash_mebibytes: 1, ..Settings::default() });
        let limits = Limits::depth(6);
        assert_eq!(engine.search(&game, &limits).score(), Some(0));
        let key = game.position().key();
        assert!(engine.table.probe(key, 0).is_none_or(|entry| entry.bound == Bound::None));

        // Without history the same position is lost, and that score is path-independent.
        let alone = Game::new(game.fen(), RuleSet::Cxr);
        let score = engine.search(&alone, &limits).score().unwrap();
        assert!(score < -500, "{score}");
        assert!(engine.table.probe(key, 0).is_some_and(|entry| entry.bound != Bound::None && entry.score < -500));
    }

    #[test]
    fn the_score_of_some_root_moves_is_not_stored_for_the_position() {
        let game = Game::new(Fen::start(), RuleSet::Cxr);
        let mut engine = Engine::new(&Settings::default());
        let blunder = game.position().parse_move("b2b9").unwrap();
        let limits = Limits { root_moves: vec![blunder], ..Limits::depth(4) };
        assert!(engine.search(&game, &limits).score() < Some(-200));
        assert!(engine.table.probe(game.position().key(), 0).is_none());
    }
}
