//! The state of a UCI or UCCI session.

use std::{
    fmt::Display,
    hash::{self, BuildHasher as _},
    io::{self, Write},
    ops::ControlFlow,
    time::Duration,
};

use nnue::{Kernel, Net};
use xiangqi::{
    Color, Fen, FenError, Move, Position,
    notation::{Notation, NotationError},
    rules::{Game, Status},
};

use super::{
    Host, Protocol,
    command::{self, Command, CommandError, Go},
    info::Style,
    job::{Job, Kind, Task},
    options::{Change, Options, RANKS_FROM_0, RANKS_FROM_1},
    output::Output,
};
use crate::{
    budget::{Budget, ClockState},
    engine::{Engine, Settings},
    evaluation::{Evaluation, Evaluator},
    limits::Limits,
    published,
    strength::Noise,
};

/// The initial settings of a session, and the limits of its options.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The engine's settings until options change them.
    pub settings: Settings,
    /// The kernel for nets.
    pub kernel: Kernel,
    /// The maximum of the option `Hash`.
    pub max_hash_mebibytes: usize,
    /// The maximum of the option `Threads`.
    pub max_threads: usize,
    /// Whether the parameters of the search are options.
    pub tune: bool,
    /// Where searches run.
    pub host: Host,
}

impl Setup {
    /// A setup whose option limits suit a large machine.
    #[must_use]
    pub const fn new(settings: Settings, kernel: Kernel) -> Self {
        Self { settings, kernel, max_hash_mebibytes: 1 << 18, max_threads: 512, tune: false, host: Host::System }
    }
}

/// A valid command with an invalid position or move.
#[derive(Debug, thiserror::Error)]
enum ExecuteError {
    #[error("position: {0}")]
    Fen(#[from] FenError),
    #[error("{command}: move {number}: {source}{}", hint_of(*.ranks))]
    Move {
        command: &'static str,
        number: usize,
        source: NotationError,
        /// The value of the option `Ranks` with which the move is legal.
        ranks: Option<&'static str>,
    },
}

fn hint_of(ranks: Option<&'static str>) -> String {
    ranks.map_or_else(String::new, |ranks| format!("; with `setoption name Ranks value {ranks}` it is a move"))
}

/// A session; see the [module](super).
pub struct Session<W: Write + Send + 'static> {
    output: Output<W>,
    protocol: Protocol,
    options: Options,
    game: Game,
    /// Whether the last `position` was invalid: `go` finds no move until one is valid.
    refused: bool,
    /// Moves that UCCI's `banmoves` forbids in this position.
    banned: Vec<Move>,
    /// The engine; none while a job owns it.
    engine: Option<Engine>,
    /// The engine's evaluation.
    evaluation: Evaluation,
    host: Host,
    job: Option<Job>,
}

impl<W: Write + Send + 'static> Session<W> {
    /// Creates a session that writes to `output`.
    #[must_use]
    pub fn new(output: W, setup: Setup) -> Self {
        let engine = Some(Engine::new(&setup.settings));
        let evaluation = setup.settings.evaluation.clone();
        let host = setup.host;
        let options = Options::new(setup);
        let game = Game::new(Fen::start(), options.rules);
        let protocol = Protocol::default();
        Self {
            output: Output::new(output),
            protocol,
            options,
            game,
            refused: false,
            banned: Vec::new(),
            engine,
            evaluation,
            host,
            job: None,
        }
    }

    /// Executes a line without waiting for a search that it starts. Breaks after `quit`.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn execute_line(&mut self, line: &str) -> io::Result<ControlFlow<()>> {
        match command::parse(line, self.protocol) {
            Ok(Some(command)) => self.execute(command),
            Ok(None) => Ok(ControlFlow::Continue(())),
            Err(error) => {
                self.refused |= error == CommandError::Position;
                self.write_error(&error)
            }
        }
    }

    /// The game whose last position the next search starts from.
    #[must_use]
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// Whether the last `position` was valid; without one `go` finds no move.
    #[must_use]
    pub const fn has_position(&self) -> bool {
        !self.refused
    }

    /// Plays with a net from memory, as the option `EvalFile` does with a file.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn set_net(&mut self, name: &str, net: Net) -> io::Result<()> {
        let change = self.options.set_net(name, net);
        self.apply(change)
    }

    /// Waits until a running search ends by its limits and has written `bestmove`, without waiting
    /// for `stop` or `ponderhit`.
    pub fn finish(&mut self) {
        if let Some(job) = self.job.take() {
            self.engine = Some(job.finish());
        }
    }

    /// Stops a running search and waits for its `bestmove`.
    pub fn close(&mut self) {
        if let Some(job) = &self.job {
            job.stop();
        }
        self.finish();
    }

    pub(super) fn write_error(&self, error: &dyn Display) -> io::Result<ControlFlow<()>> {
        self.write_info(error)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Writes an `info` line for people.
    fn write_info(&self, text: &dyn Display) -> io::Result<()> {
        let word = match self.protocol {
            Protocol::Uci => "string",
            Protocol::Ucci => "message",
        };
        // The text may quote input: escape control characters, so that it stays on one line.
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
            Command::NewGame => self.new_game(),
            Command::SetOption { name, value } => match self.options.set(&name, value.as_deref(), self.protocol) {
                Ok(change) => self.apply(change)?,
                Err(error) => return self.write_error(&error),
            },
            Command::Position { fen, moves } => match self.set_up(fen.as_deref(), &moves) {
                Ok(game) => {
                    self.game = game;
                    self.refused = false;
                    self.banned.clear();
                }
                Err(error) => {
                    self.refused = true;
                    return self.write_error(&error);
                }
            },
            Command::BanMoves(moves) => match self.read_moves("banmoves", &moves) {
                Ok(moves) => self.banned = moves,
                Err(error) => return self.write_error(&error),
            },
            Command::Go(go) => {
                if let Err(error) = self.go(&go) {
                    return self.write_error(&error);
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
        let terminator = match protocol {
            Protocol::Uci => "uciok",
            Protocol::Ucci => "ucciok",
        };
        let version = env!("CARGO_PKG_VERSION");
        let options = self.options.announce(protocol);
        self.output.line(&format_args!("id name Chuhe {version}\nid author the Chuhe authors\n{options}"))?;
        self.write_evaluation()?;
        self.output.line(&terminator)
    }

    /// Tells which evaluation plays.
    fn write_evaluation(&self) -> io::Result<()> {
        self.write_info(&format_args!("playing with {}", self.describe_evaluation()))
    }

    /// Names a net by its file, or as published, and by the first digits of its hash.
    fn describe_evaluation(&self) -> String {
        match &self.evaluation {
            Evaluation::Plain => "the plain evaluation".to_owned(),
            Evaluation::Net(net, kernel) => {
                let is_published = net.hash() == published::net().hash();
                let name = if is_published { published::NAME } else { &self.options.net_file };
                format!("net {name} ({:.8}…) on {kernel}", net.hash().to_string())
            }
            #[cfg(feature = "experiments")]
            Evaluation::Experiment(experiment) => format!("{experiment:?}"),
        }
    }

    /// The engine, after stopping a search that owns it.
    fn engine(&mut self) -> &mut Engine {
        self.close();
        self.engine.as_mut().expect("no job owns the engine")
    }

    /// Clears the engine. A limited one errs otherwise in each game.
    #[expect(clippy::disallowed_types, reason = "two games against a limited engine should differ")]
    fn new_game(&mut self) {
        let noise = self.options.strength().map(|strength| strength.noise).filter(|width| *width > 0);
        let noise = noise.map(|width| Noise { width, seed: hash::RandomState::new().hash_one(()) });
        self.engine().set_noise(noise);
    }

    fn apply(&mut self, change: Change) -> io::Result<()> {
        match change {
            Change::Nothing => {}
            Change::Hash(mebibytes) => self.engine().set_hash(mebibytes),
            Change::Threads(threads) => self.engine().set_threads(threads),
            Change::Parameters => {
                let parameters = self.options.parameters.clone();
                self.engine().set_parameters(parameters);
            }
            Change::Evaluation(evaluation) => {
                self.evaluation = evaluation.clone();
                self.engine().set_evaluation(evaluation);
                self.write_evaluation()?;
            }
            Change::NewGame | Change::Strength => self.new_game(),
            Change::Rules => {
                let mut game = Game::new(self.game.start().clone(), self.options.rules);
                self.game.moves().for_each(|mv| play(&mut game, mv));
                self.game = game;
            }
        }
        Ok(())
    }

    fn set_up(&self, fen: Option<&str>, moves: &[String]) -> Result<Game, ExecuteError> {
        let start = fen.map_or_else(|| Ok(Fen::start()), str::parse)?;
        let mut game = Game::new(start, self.options.rules);
        for (index, text) in moves.iter().enumerate() {
            let mv = self.read_move("position", index, text, game.position())?;
            play(&mut game, mv);
        }
        Ok(game)
    }

    /// Parses moves of the current position.
    fn read_moves(&self, command: &'static str, texts: &[String]) -> Result<Vec<Move>, ExecuteError> {
        let position = self.game.position();
        texts.iter().enumerate().map(|(index, text)| self.read_move(command, index, text, position)).collect()
    }

    fn read_move(
        &self,
        command: &'static str,
        index: usize,
        text: &str,
        position: &Position,
    ) -> Result<Move, ExecuteError> {
        position.parse_move_in(text, self.options.notation).map_err(|source| {
            let (other, ranks) = match self.options.notation {
                Notation::Uci => (Notation::Uci1, RANKS_FROM_1),
                _ => (Notation::Uci, RANKS_FROM_0),
            };
            let is_uci = self.protocol == Protocol::Uci;
            let ranks = Some(ranks).filter(|_| is_uci && position.parse_move_in(text, other).is_ok());
            ExecuteError::Move { command, number: index + 1, source, ranks }
        })
    }

    fn go(&mut self, go: &Go) -> Result<(), ExecuteError> {
        let clock = self.host.stopwatch();
        // Moves of an invalid position mean nothing here.
        let texts = if self.refused { &[][..] } else { &go.search_moves };
        let mut root_moves = self.read_moves("go: searchmoves", texts)?;
        if !self.banned.is_empty() {
            if root_moves.is_empty() {
                root_moves.extend(self.game.position().legal_moves());
            }
            root_moves.retain(|mv| !self.banned.contains(mv));
        }
        let all_banned = root_moves.is_empty() && !self.banned.is_empty();
        let kind = match (go.perft, go.mate) {
            _ if self.refused => Kind::NoMove,
            (Some(depth), _) => Kind::Perft(depth),
            _ if all_banned => Kind::NoMove,
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
        let engine = self.engine.take().expect("no job owns the engine");
        self.job = Some(Job::begin(engine, task, self.host, self.output.clone()));
        Ok(())
    }

    fn limits(&self, go: &Go, root_moves: Vec<Move>) -> Limits {
        let unit = if self.protocol == Protocol::Ucci && !self.options.milliseconds { 1000 } else { 1 };
        let duration = |time: u64| Duration::from_millis(time * unit);
        let turn = self.game.position().turn().index();
        let overhead = self.options.overhead;
        let mut limits = Limits {
            // Depth 0 would yield no move.
            depth: go.depth.map(|depth| depth.max(1)),
            hard_nodes: go.nodes.into_iter().chain(self.options.strength().map(|it| it.nodes)).min(),
            root_moves,
            lines: if self.protocol == Protocol::Uci { self.options.lines } else { 1 },
            ..Limits::default()
        };
        if go.infinite {
            return limits;
        }
        if let Some(left) = go.clocks[turn] {
            let increment = duration(go.increments[turn]);
            let clock = ClockState { left: duration(left), increment, moves_to_go: go.to_time_control };
            let budget = clock.budget(overhead, &self.options.parameters);
            limits.soft_time = Some(budget.soft);
            limits.hard_time = Some(budget.hard);
        }
        if let Some(time) = go.move_time {
            let max = Budget::fixed(duration(time), overhead).hard;
            limits.hard_time = Some(limits.hard_time.map_or(max, |hard| hard.min(max)));
        }
        limits
    }

    fn style(&self) -> Style {
        let Options { notation, show_wdl, .. } = self.options;
        Style { protocol: self.protocol, notation, show_wdl }
    }

    fn show(&self) -> io::Result<()> {
        let game = &self.game;
        self.write_info(&format_args!("fen {}", game.fen()))?;
        self.write_info(&format_args!("key {:016x}", game.position().key()))?;
        match game.status() {
            // The explanation covers only moves up to the end.
            Status::Over(ending) if ending.ply == game.len() => self.write_info(&game.explain(ending).english),
            Status::Over(ending) => {
                self.write_info(&format_args!("the game was over after move {} ({})", ending.ply, ending.reason))
            }
            Status::Ongoing => self.write_info(&format_args!("the game continues under {} rules", game.rules())),
        }
    }

    /// Writes the static evaluation for the side to move.
    fn evaluate(&mut self) -> io::Result<()> {
        self.close();
        let position = self.game.position();
        let mut evaluator = Evaluator::new(&self.evaluation);
        evaluator.reset(position);
        let score = evaluator.evaluate(position);
        let side = match position.turn() {
            Color::Red => "Red",
            Color::Black => "Black",
        };
        self.write_info(&format_args!("{score} for {side}, by {}", self.describe_evaluation()))
    }
}

impl<W: Write + Send + 'static> Drop for Session<W> {
    /// Stops a running search without waiting for it.
    fn drop(&mut self) {
        if let Some(job) = &self.job {
            job.stop();
        }
    }
}

/// Makes a legal move; after the end of the game without the arbiter.
fn play(game: &mut Game, mv: Move) {
    match game.status() {
        Status::Ongoing => _ = game.push_legal(mv),
        Status::Over(_) => game.make_unjudged(mv),
    }
}
