//! A search on a thread of its own, which prints its results.

use std::{
    io::Write,
    panic,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use xiangqi::{Move, rules::Game};

use super::{
    host::{Host, Stopwatch},
    info::{Style, mate_in_moves},
    output::Output,
    perft,
};
use crate::{
    engine::{Control, Engine},
    limits::Limits,
};

/// The task of a search.
pub(super) struct Task {
    pub(super) game: Game,
    pub(super) limits: Limits,
    pub(super) kind: Kind,
    pub(super) ponder: bool,
    /// Whether `bestmove` waits for `stop`.
    pub(super) infinite: bool,
    pub(super) style: Style,
    pub(super) clock: Stopwatch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Search,
    /// Search until a mate in this many moves is found.
    Mate(u32),
    /// No move may be played: all are banned, or there is no valid position.
    NoMove,
    Perft(u32),
}

/// A running search, which owns the engine until it ends.
pub(super) struct Job {
    state: Arc<State>,
    infinite: bool,
    search: Search,
}

enum Search {
    Running(JoinHandle<Engine>),
    Ended(Box<Engine>),
}

impl Job {
    pub(super) fn begin<W: Write + Send + 'static>(
        mut engine: Engine,
        task: Task,
        host: Host,
        output: Output<W>,
    ) -> Self {
        let infinite = task.infinite;
        let (control, held) = match host {
            Host::System => (Control::default(), infinite || task.ponder),
            Host::Caller { stop, .. } => (Control::asking(stop), false),
        };
        let state = Arc::new(State { control, held: Mutex::new(held), released: Condvar::new() });
        if task.ponder {
            state.control.ponder();
        }
        let shared = Arc::clone(&state);
        let run = move || {
            // If the output is closed, the input soon ends too, and the session handles that.
            _ = task.run(&mut engine, &shared, &output);
            engine
        };
        let search = match host {
            Host::System => Search::Running(thread::spawn(run)),
            Host::Caller { .. } => Search::Ended(Box::new(run())),
        };
        Self { state, infinite, search }
    }

    pub(super) fn stop(&self) {
        self.state.control.stop();
        self.state.release();
    }

    /// Handles `ponderhit`.
    pub(super) fn ponder_hit(&self) {
        if self.state.control.is_pondering() {
            self.state.control.ponder_hit();
            if !self.infinite {
                self.state.release();
            }
        }
    }

    /// Waits for the search to end by its limits; a withheld `bestmove` is then written.
    pub(super) fn finish(self) -> Engine {
        self.state.release();
        match self.search {
            Search::Running(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Search::Ended(engine) => *engine,
        }
    }
}

/// State shared by session and search.
struct State {
    control: Control,
    /// Whether `bestmove` is withheld.
    held: Mutex<bool>,
    released: Condvar,
}

impl State {
    fn release(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.released.notify_all();
    }

    fn wait_for_release(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.released.wait_while(held, |held| *held).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Task {
    fn run<W: Write>(self, engine: &mut Engine, state: &State, output: &Output<W>) -> std::io::Result<()> {
        if let Kind::Perft(depth) = self.kind {
            return self.perft(depth, state, output);
        }
        let line = if self.kind == Kind::NoMove { Vec::new() } else { self.search(engine, state, output)? };
        state.wait_for_release();
        output.line(&self.style.best(self.game.position(), &line))
    }

    /// Searches, and returns the best line.
    fn search<W: Write>(&self, engine: &mut Engine, state: &State, output: &Output<W>) -> std::io::Result<Vec<Move>> {
        let position = self.game.position();
        let mut printed = None;
        let mut written = Ok(());
        let report = engine.search_with(&self.game, &self.limits, &self.clock, &state.control, &mut |report| {
            if let Some(text) = self.style.report(position, report)
                && let Err(error) = output.line(&text)
            {
                written = Err(error);
                state.control.stop();
            }
            if let Kind::Mate(moves) = self.kind
                && let Some(found) = report.score().and_then(mate_in_moves)
                && found > 0
                && found.unsigned_abs() <= moves
            {
                state.control.stop();
            }
            printed = Some((report.nodes, report.lines.clone()));
        });
        written?;
        // An unfinished iteration may still have improved the result.
        if report.lines.is_empty() {
            output.line(&self.style.no_legal_move())?;
        } else if printed.is_none_or(|printed| printed != (report.nodes, report.lines.clone()))
            && let Some(text) = self.style.report(position, &report)
        {
            output.line(&text)?;
        }
        Ok(report.lines.into_iter().next().map(|line| line.moves).unwrap_or_default())
    }

    fn perft<W: Write>(&self, depth: u32, state: &State, output: &Output<W>) -> std::io::Result<()> {
        let mut position = self.game.position().clone();
        let mut nodes = u64::from(depth == 0);
        for mv in position.legal_moves() {
            let Some(rest) = depth.checked_sub(1) else { break };
            let undo = position.make(mv);
            let counted = perft::count(&mut position, rest, &state.control);
            position.unmake(mv, undo);
            let Some(counted) = counted else { return output.line(&"info string perft: stopped") };
            output.line(&format_args!("{}: {counted}", self.style.mv(&position, mv)))?;
            nodes += counted;
        }
        output.line(&format_args!("nodes {nodes}"))
    }
}
