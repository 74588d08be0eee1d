//! The search as others use it: a table, some threads, and what they learn in a game.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
};

use xiangqi::rules::Game;

use crate::{
    evaluation::Evaluation,
    limits::{Clock, Limits, NoClock},
    report::Report,
    search::{Shared, Worker},
    table::Table,
};

/// What an engine is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The size of the transposition table.
    pub hash_mebibytes: usize,
    /// How many threads search. More than one makes searches differ from run to run.
    pub threads: usize,
    /// What positions are evaluated with.
    pub evaluation: Evaluation,
}

impl Default for Settings {
    fn default() -> Self {
        Self { hash_mebibytes: 16, threads: 1, evaluation: Evaluation::Plain }
    }
}

/// How others talk to a search that runs.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
}

impl Control {
    /// Ends the search soon: within some hundred nodes, but not before the first iteration.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Lets time limits wait until [`ponder_hit`](Self::ponder_hit); to be called before the search.
    pub fn ponder(&self) {
        self.pondering.store(true, Relaxed);
    }

    /// The opponent made the expected move: time limits hold from now on.
    pub fn ponder_hit(&self) {
        self.pondering.store(false, Relaxed);
    }

    /// Makes it ready for another search.
    pub fn reset(&self) {
        self.stop.store(false, Relaxed);
        self.pondering.store(false, Relaxed);
    }

    /// Whether somebody asked for the end. A search that came to its end by itself does not set it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Whether the opponent is still to move.
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
}

impl Engine {
    /// An engine that knows nothing yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let Settings { hash_mebibytes, threads, evaluation } = settings;
        let mut engine =
            Self { table: Table::new(*hash_mebibytes), workers: Vec::new(), evaluation: evaluation.clone() };
        engine.set_threads(*threads);
        engine
    }

    /// Forgets everything learned: what comes depends on nothing before.
    pub fn new_game(&mut self) {
        self.table.clear();
        self.workers.iter_mut().for_each(Worker::clear);
    }

    /// Gives the table another size; it is empty then.
    pub fn set_hash(&mut self, mebibytes: usize) {
        self.table = Table::new(mebibytes);
    }

    /// Searches with this many threads (at least one) from now on.
    pub fn set_threads(&mut self, threads: usize) {
        self.workers.truncate(threads.max(1));
        for index in self.workers.len()..threads.max(1) {
            self.workers.push(Worker::new(&self.evaluation, index));
        }
    }

    /// Evaluates with something else from now on, and forgets what the old evaluation taught.
    pub fn set_evaluation(&mut self, evaluation: Evaluation) {
        self.evaluation = evaluation;
        for worker in &mut self.workers {
            worker.set_evaluation(&self.evaluation);
        }
        self.new_game();
    }

    /// What positions are evaluated with.
    #[must_use]
    pub const fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// Searches the last position of a game within limits of nodes or depth. Time limits do not hold here.
    #[must_use]
    pub fn search(&mut self, game: &Game, limits: &Limits) -> Report {
        self.search_with(game, limits, &NoClock, &Control::default(), &mut |_| {})
    }

    /// Searches under a clock, until the limits or `control` end it, and calls `report` after each iteration.
    pub fn search_with(
        &mut self,
        game: &Game,
        limits: &Limits,
        clock: &dyn Clock,
        control: &Control,
        report: &mut dyn FnMut(&Report),
    ) -> Report {
        self.table.grow_older();
        let nodes: Vec<_> = self.workers.iter().map(|_| AtomicU64::new(0)).collect();
        let halt = AtomicBool::new(false);
        let shared = Shared { table: &self.table, limits, clock, control, halt: &halt, nodes: &nodes };
        let Some((first, helpers)) = self.workers.split_first_mut() else {
            unreachable!("there is one thread at least")
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

    /// Red, a horse against two chariots, can close a harmless loop for the third time: a draw, by what went before.
    #[test]
    fn a_draw_that_hangs_on_the_path_does_not_enter_the_table() {
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
        assert!(engine.table.probe(key, 0).is_none_or(|entry| entry.bound == Bound::Nothing));

        // The same position with nothing before it is lost, and that is known of it wherever it comes up.
        let alone = Game::new(game.fen(), RuleSet::Cxr);
        let score = engine.search(&alone, &limits).score().unwrap();
        assert!(score < -500, "{score}");
        assert!(engine.table.probe(key, 0).is_some_and(|entry| entry.bound != Bound::Nothing && entry.score < -500));
    }

    #[test]
    fn what_some_moves_are_worth_is_not_what_the_position_is_worth() {
        let game = Game::new(Fen::start(), RuleSet::Cxr);
        let mut engine = Engine::new(&Settings::default());
        let blunder = game.position().parse_move("b2b9").unwrap();
        let limits = Limits { root_moves: vec![blunder], ..Limits::depth(4) };
        assert!(engine.search(&game, &limits).score() < Some(-200));
        assert!(engine.table.probe(game.position().key(), 0).is_none());
    }
}
