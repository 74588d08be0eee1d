//! A conversation: what was said so far, and the engine between two searches or in one.

use std::{
    fmt::Display,
    io::{self, Write},
    ops::ControlFlow,
    time::Duration,
};

use nnue::Kernel;
use xiangqi::{
    Color, Fen, FenError, Move,
    notation::NotationError,
    rules::{Game, Status},
};

use super::{
    Protocol, Stopwatch,
    command::{self, Command, Go},
    info::Style,
    job::{Job, Kind, Task},
    options::{Change, Options},
    output::Output,
};
use crate::{
    budget::{Budget, ClockState},
    engine::{Engine, Settings},
    evaluation::{Evaluation, Evaluator},
    limits::Limits,
};

/// What a session begins with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What the engine is made of until options say otherwise.
    pub settings: Settings,
    /// What nets are evaluated with.
    pub kernel: Kernel,
    /// The largest table that an option may ask for.
    pub most_hash_mebibytes: usize,
    /// The most threads that an option may ask for.
    pub most_threads: usize,
}

impl Setup {
    /// Begins with these settings and lets options ask for whatever a large machine has.
    #[must_use]
    pub const fn new(settings: Settings, kernel: Kernel) -> Self {
        Self { settings, kernel, most_hash_mebibytes: 1 << 18, most_threads: 512 }
    }
}

/// Why a command that was understood cannot be obeyed.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("position: {0}")]
    Fen(#[from] FenError),
    #[error("{command}: move {number}: {source}")]
    Move { command: &'static str, number: usize, source: NotationError },
}

/// One conversation. See the [module](super) for what it does.
pub struct Session<W: Write + Send + 'static> {
    output: Output<W>,
    protocol: Protocol,
    options: Options,
    game: Game,
    /// Moves that UCCI's `banmoves` forbids in this position.
    banned: Vec<Move>,
    /// Here, or with the job.
    engine: Option<Engine>,
    job: Option<Job>,
}

impl<W: Write + Send + 'static> Session<W> {
    /// A session that writes here and was told nothing yet.
    #[must_use]
    pub fn new(output: W, setup: Setup) -> Self {
        let engine = Some(Engine::new(&setup.settings));
        let options = Options::new(setup);
        let game = Game::new(Fen::start(), options.rules);
        let protocol = Protocol::default();
        Self { output: Output::new(output), protocol, options, game, banned: Vec::new(), engine, job: None }
    }

    /// Obeys a line; it does not wait for a search that the line begins. After `quit` it breaks.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn obey(&mut self, line: &str) -> io::Result<ControlFlow<()>> {
        match command::parse(line, self.protocol) {
            Ok(Some(command)) => self.execute(command),
            Ok(None) => Ok(ControlFlow::Continue(())),
            Err(error) => self.complain(&error),
        }
    }

    /// The position that the next search begins from, with its history.
    #[must_use]
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// Waits until the search, if one runs, has come to its own end and said so. An answer that waits for `stop` or
    /// `ponderhit` waits no longer.
    pub fn finish(&mut self) {
        if let Some(job) = self.job.take() {
            self.engine = Some(job.finish());
        }
    }

    /// Stops the search, if one runs, and waits until it has said so.
    pub fn close(&mut self) {
        if let Some(job) = &self.job {
            job.stop();
        }
        self.finish();
    }

    pub(super) fn complain(&self, error: &dyn Display) -> io::Result<ControlFlow<()>> {
        self.remark(error)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Says something to people.
    fn remark(&self, text: &dyn Display) -> io::Result<()> {
        let word = match self.protocol {
            Protocol::Uci => "string",
            Protocol::Ucci => "message",
        };
        // It may quote what was heard, and stays on one line whatever that was.
        let mut quoted = String::new();
        for char in text.to_string().chars() {
            if char.is_control() { quoted.extend(char.escape_debug()) } else { quoted.push(char) }
        }
        self.output.line(&format_args!("info {word} {quoted}"))
    }

    fn execute(&mut self, command: Command) -> io::Result<ControlFlow<()>> {
        match command {
            Command::Hello(protocol) => self.introduce(protocol)?,
            Command::IsReady => self.output.line(&"readyok")?,
            Command::NewGame => self.engine().new_game(),
            Command::SetOption { name, value } => match self.options.set(&name, value.as_deref(), self.protocol) {
                Ok(change) => self.apply(change),
                Err(error) => return self.complain(&error),
            },
            Command::Position { fen, moves } => match self.set_up(fen.as_deref(), &moves) {
                Ok(game) => {
                    self.game = game;
                    self.banned.clear();
                }
                Err(refusal) => return self.complain(&refusal),
            },
            Command::BanMoves(moves) => match self.read_moves("banmoves", &moves) {
                Ok(moves) => self.banned = moves,
                Err(refusal) => return self.complain(&refusal),
            },
            Command::Go(go) => {
                if let Err(refusal) = self.go(&go) {
                    return self.complain(&refusal);
                }
            }
            Command::Stop => {
                if let Some(job) = &self.job {
                    job.stop();
                }
            }
            Command::PonderHit => {
                if let Some(job) = &self.job {
                    job.ponder_hit();
                }
            }
            Command::Show => self.show()?,
            Command::Evaluate => self.evaluate()?,
            Command::Quit => {
                self.close();
                if self.protocol == Protocol::Ucci {
                    self.output.line(&"bye")?;
                }
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn introduce(&mut self, protocol: Protocol) -> io::Result<()> {
        self.protocol = protocol;
        let goodbye = match protocol {
            Protocol::Uci => "uciok",
            Protocol::Ucci => "ucciok",
        };
        let version = env!("CARGO_PKG_VERSION");
        let options = self.options.announce(protocol);
        self.output.line(&format_args!("id name Chuhe {version}\nid author the Chuhe authors\n{options}\n{goodbye}"))
    }

    /// The engine; a search that has it is stopped.
    fn engine(&mut self) -> &mut Engine {
        self.close();
        self.engine.as_mut().expect("it is here when no job has it")
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Hash(mebibytes) => self.engine().set_hash(mebibytes),
            Change::Threads(threads) => self.engine().set_threads(threads),
            Change::Evaluation(evaluation) => self.engine().set_evaluation(evaluation),
            Change::NewGame => self.engine().new_game(),
            Change::Rules => {
                let mut game = Game::new(self.game.start().clone(), self.options.rules);
                self.game.moves().for_each(|mv| play(&mut game, mv));
                self.game = game;
            }
        }
    }

    fn set_up(&self, fen: Option<&str>, moves: &[String]) -> Result<Game, Refusal> {
        let start = fen.map_or_else(|| Ok(Fen::start()), str::parse)?;
        let mut game = Game::new(start, self.options.rules);
        for (index, text) in moves.iter().enumerate() {
            let mv = game.position().parse_move_in(text, self.options.notation);
            let refusal = |source| Refusal::Move { command: "position", number: index + 1, source };
            play(&mut game, mv.map_err(refusal)?);
        }
        Ok(game)
    }

    /// Moves of the position.
    fn read_moves(&self, command: &'static str, texts: &[String]) -> Result<Vec<Move>, Refusal> {
        let position = self.game.position();
        let read = texts.iter().enumerate().map(|(index, text)| {
            let mv = position.parse_move_in(text, self.options.notation);
            mv.map_err(|source| Refusal::Move { command, number: index + 1, source })
        });
        read.collect()
    }

    fn go(&mut self, go: &Go) -> Result<(), Refusal> {
        let clock = Stopwatch::start();
        let mut root_moves = self.read_moves("go: searchmoves", &go.search_moves)?;
        if !self.banned.is_empty() {
            if root_moves.is_empty() {
                root_moves.extend(self.game.position().legal_moves());
            }
            root_moves.retain(|mv| !self.banned.contains(mv));
        }
        let barred = root_moves.is_empty() && !self.banned.is_empty();
        let kind = match (go.perft, go.mate) {
            (Some(depth), _) => Kind::Perft(depth),
            _ if barred => Kind::Barred,
            (_, Some(moves)) => Kind::Mate(moves),
            _ => Kind::Search,
        };
        let task = Task {
            game: self.game.clone(),
            limits: self.limits(go, root_moves),
            kind,
            ponder: go.ponder,
            infinite: go.infinite,
            style: self.style(),
            clock,
        };
        self.close();
        let engine = self.engine.take().expect("it is here when no job has it");
        self.job = Some(Job::begin(engine, task, self.output.clone()));
        Ok(())
    }

    fn limits(&self, go: &Go, root_moves: Vec<Move>) -> Limits {
        let unit = if self.protocol == Protocol::Ucci && !self.options.milliseconds { 1000 } else { 1 };
        let duration = |time: u64| Duration::from_millis(time * unit);
        let turn = self.game.position().turn().index();
        let overhead = self.options.overhead;
        let mut limits = Limits {
            // A search that finishes no depth finds nothing.
            depth: go.depth.map(|depth| depth.max(1)),
            hard_nodes: go.nodes,
            root_moves,
            lines: if self.protocol == Protocol::Uci { self.options.lines } else { 1 },
            ..Limits::default()
        };
        if go.infinite {
            return limits;
        }
        if let Some(left) = go.clocks[turn] {
            let increment = duration(go.increments[turn]);
            let clock = ClockState { left: duration(left), increment, moves_to_go: go.until_control };
            let budget = clock.budget(overhead);
            limits.soft_time = Some(budget.soft);
            limits.hard_time = Some(budget.hard);
        }
        if let Some(time) = go.move_time {
            let most = Budget::fixed(duration(time), overhead).hard;
            limits.hard_time = Some(limits.hard_time.map_or(most, |hard| hard.min(most)));
        }
        limits
    }

    fn style(&self) -> Style {
        let Options { notation, show_wdl, .. } = self.options;
        Style { protocol: self.protocol, notation, show_wdl }
    }

    fn show(&self) -> io::Result<()> {
        let game = &self.game;
        self.remark(&format_args!("fen {}", game.fen()))?;
        self.remark(&format_args!("key {:016x}", game.position().key()))?;
        match game.status() {
            // Moves made after the end are not in the explanation.
            Status::Over(ending) if ending.ply == game.len() => self.remark(&game.explain(ending).english),
            Status::Over(ending) => {
                self.remark(&format_args!("the game was over after move {} ({})", ending.ply, ending.reason))
            }
            Status::Ongoing => self.remark(&format_args!("the game goes on by {} rules", game.rules())),
        }
    }

    /// Evaluates the position for the side to move. The running search has the engine; what evaluates is its own.
    fn evaluate(&mut self) -> io::Result<()> {
        let evaluation = self.engine().evaluation().clone();
        let position = self.game.position();
        let mut evaluator = Evaluator::new(&evaluation);
        evaluator.reset(position);
        let score = evaluator.evaluate(position);
        let side = match position.turn() {
            Color::Red => "Red",
            Color::Black => "Black",
        };
        let by = match &evaluation {
            Evaluation::Plain => "the plain evaluation".to_owned(),
            Evaluation::Net(net, kernel) => format!("net {} on {kernel}", net.hash()),
            #[cfg(feature = "experiments")]
            Evaluation::Experiment(experiment) => format!("{experiment:?}"),
        };
        self.remark(&format_args!("{score} for {side}, by {by}"))
    }
}

impl<W: Write + Send + 'static> Drop for Session<W> {
    /// Whoever did not [`close`](Session::close) does not wait; the search ends soon.
    fn drop(&mut self) {
        if let Some(job) = &self.job {
            job.stop();
        }
    }
}

/// Makes a legal move. In a game that is over by the rules the arbiter is asked no more.
fn play(game: &mut Game, mv: Move) {
    match game.status() {
        Status::Ongoing => _ = game.push_legal(mv),
        Status::Over(_) => game.advance(mv),
    }
}
