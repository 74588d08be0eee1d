//! A search on a thread of its own, which prints what it finds.

use std::{
    io::Write,
    panic,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use xiangqi::{Move, rules::Game};

use super::{
    Stopwatch,
    info::{Style, mate_in_moves},
    output::Output,
    perft,
};
use crate::{
    engine::{Control, Engine},
    limits::Limits,
};

/// What to search.
pub(super) struct Task {
    pub(super) game: Game,
    pub(super) limits: Limits,
    pub(super) kind: Kind,
    pub(super) ponder: bool,
    /// Whether the answer waits until somebody says stop.
    pub(super) infinite: bool,
    pub(super) style: Style,
    pub(super) clock: Stopwatch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Search,
    /// Until a mate in so many moves is found.
    Mate(u32),
    /// Every move is forbidden.
    Barred,
    Perft(u32),
}

/// A search that was begun. The engine comes back from it.
pub(super) struct Job {
    gate: Arc<Gate>,
    infinite: bool,
    thread: JoinHandle<Engine>,
}

impl Job {
    pub(super) fn begin<W: Write + Send + 'static>(engine: Engine, task: Task, output: Output<W>) -> Self {
        let infinite = task.infinite;
        let held = Mutex::new(infinite || task.ponder);
        let gate = Arc::new(Gate { control: Control::default(), held, opened: Condvar::new() });
        if task.ponder {
            gate.control.ponder();
        }
        let seen = Arc::clone(&gate);
        let thread = thread::spawn(move || {
            let mut engine = engine;
            // If nobody reads any more, the end of the input is near: the session will hear of it.
            _ = task.run(&mut engine, &seen, &output);
            engine
        });
        Self { gate, infinite, thread }
    }

    pub(super) fn stop(&self) {
        self.gate.control.stop();
        self.gate.open();
    }

    /// The search was for the move that the opponent has made now.
    pub(super) fn ponder_hit(&self) {
        if self.gate.control.is_pondering() {
            self.gate.control.ponder_hit();
            if !self.infinite {
                self.gate.open();
            }
        }
    }

    /// Waits for the search's own end; an answer that was held back is given then.
    pub(super) fn finish(self) -> Engine {
        self.gate.open();
        match self.thread.join() {
            Ok(engine) => engine,
            Err(panic) => panic::resume_unwind(panic),
        }
    }
}

/// What session and search share.
struct Gate {
    control: Control,
    held: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(held, |held| *held).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Task {
    fn run<W: Write>(self, engine: &mut Engine, gate: &Gate, output: &Output<W>) -> std::io::Result<()> {
        if let Kind::Perft(depth) = self.kind {
            return self.perft(depth, gate, output);
        }
        let line = if self.kind == Kind::Barred { Vec::new() } else { self.search(engine, gate, output)? };
        gate.wait();
        output.line(&self.style.best(self.game.position(), &line))
    }

    /// The best line that was found.
    fn search<W: Write>(&self, engine: &mut Engine, gate: &Gate, output: &Output<W>) -> std::io::Result<Vec<Move>> {
        let position = self.game.position();
        let mut printed = None;
        let mut trouble = Ok(());
        let report = engine.search_with(&self.game, &self.limits, &self.clock, &gate.control, &mut |report| {
            if let Some(text) = self.style.report(position, report)
                && let Err(error) = output.line(&text)
            {
                trouble = Err(error);
                gate.control.stop();
            }
            if let Kind::Mate(moves) = self.kind
                && let Some(found) = report.score().and_then(mate_in_moves)
                && found > 0
                && found.unsigned_abs() <= moves
            {
                gate.control.stop();
            }
            printed = Some((report.nodes, report.lines.clone()));
        });
        trouble?;
        // An iteration that was cut off in the middle may have found something yet.
        if report.lines.is_empty() {
            output.line(&self.style.no_legal_move())?;
        } else if printed.is_none_or(|printed| printed != (report.nodes, report.lines.clone()))
            && let Some(text) = self.style.report(position, &report)
        {
            output.line(&text)?;
        }
        Ok(report.lines.into_iter().next().map(|line| line.moves).unwrap_or_default())
    }

    fn perft<W: Write>(&self, depth: u32, gate: &Gate, output: &Output<W>) -> std::io::Result<()> {
        let mut position = self.game.position().clone();
        let mut nodes = u64::from(depth == 0);
        for mv in position.legal_moves() {
            let Some(rest) = depth.checked_sub(1) else { break };
            let undo = position.make(mv);
            let counted = perft::count(&mut position, rest, &gate.control);
            position.unmake(mv, undo);
            let Some(counted) = counted else { return output.line(&"info string perft: stopped") };
            output.line(&format_args!("{}: {counted}", self.style.mv(&position, mv)))?;
            nodes += counted;
        }
        output.line(&format_args!("nodes {nodes}"))
    }
}
