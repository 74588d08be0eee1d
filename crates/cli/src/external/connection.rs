//! The protocol of an engine: the handshake, positions, moves.

use std::{fmt::Write as _, time::Duration};

use selfplay::{Allowance, Choice, FaultKind, Trouble};
use xiangqi::{Fen, Move, Position, rules::Game};

use super::{Deadline, Dialect, Info, Process, Protocol, ReceiveError, Specification, dialect::shown_position};

/// A first move of Red that every engine knows.
const FIRST_MOVE: &str = "h2e2";

/// Timeout of start-up, during which some engines read large files.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(20);

/// An engine after the handshake.
pub(super) struct Connection {
    process: Process,
    protocol: Protocol,
    pub(super) name: String,
    pub(super) dialect: Dialect,
    /// Whether the engine shows its position.
    pub(super) shows_position: bool,
    /// Messages for people during start-up.
    pub(super) remarks: Vec<String>,
    /// Whether a UCCI engine counts time in milliseconds.
    milliseconds: bool,
}

/// An option of an engine.
struct EngineOption {
    name: String,
    is_button: bool,
    /// The permitted values, where they are listed.
    values: Vec<String>,
}

impl Connection {
    /// Starts an engine and prepares it for games.
    pub(super) fn open(specification: &Specification, hash_mebibytes: usize) -> Result<Self, String> {
        let command = specification.command.join(" ");
        let context = |what: String| format!("{command}: {what}");
        let process = Process::start(&specification.command).map_err(|error| context(error.to_string()))?;
        let mut connection = Self {
            process,
            protocol: specification.protocol,
            name: command.clone(),
            dialect: Dialect::FromZero,
            shows_position: false,
            remarks: Vec::new(),
            milliseconds: false,
        };
        connection.shake_hands(specification, hash_mebibytes).map_err(context)?;
        Ok(connection)
    }

    fn shake_hands(&mut self, specification: &Specification, hash_mebibytes: usize) -> Result<(), String> {
        let (hello, done) = match self.protocol {
            Protocol::Uci => ("uci", "uciok"),
            Protocol::Ucci => ("ucci", "ucciok"),
        };
        self.process.send(hello);
        let mut options = Vec::new();
        let deadline = Deadline::after(STARTUP_TIMEOUT);
        loop {
            let line = self.process.receive(deadline).map_err(|error| {
                let why = self.describe(error);
                format!("no `{done}` in answer to `{hello}`: {why}")
            })?;
            if line == done {
                break;
            }
            if let Some(name) = line.strip_prefix("id name ") {
                self.name = printable(name.trim());
            }
            options.extend(EngineOption::read(&line));
        }
        if let Some(name) = &specification.name {
            self.name.clone_from(name);
        }
        self.set_options(specification, &options, hash_mebibytes)?;
        let mut remarks = Vec::new();
        self.wait_until_ready(STARTUP_TIMEOUT, &mut |line| remarks.extend(remark(line).map(printable)))
            .map_err(|(_, why)| format!("before the first game: {why}"))?;
        // Our engine reports a rejected option and keeps its old value. That is not the requested
        // engine.
        if let Some(refusal) = remarks.iter().find(|remark| remark.starts_with("setoption")) {
            return Err(refusal.clone());
        }
        self.remarks = remarks;
        self.find_dialect(specification.dialect)
    }

    fn set_options(
        &mut self,
        specification: &Specification,
        options: &[EngineOption],
        hash_mebibytes: usize,
    ) -> Result<(), String> {
        let offered = |name: &str| options.iter().find(|offer| offer.name.eq_ignore_ascii_case(name));
        let chosen = |name: &str| specification.options.iter().any(|(chosen, _)| chosen.eq_ignore_ascii_case(name));
        // Engines of several games are set to xiangqi.
        if let Some(offer) = offered("UCI_Variant")
            && !chosen("UCI_Variant")
        {
            if !offer.values.iter().any(|value| value == "xiangqi") {
                return Err("none of the games that it plays is called `xiangqi`; set UCI_Variant".to_owned());
            }
            self.set_option(offer, "xiangqi");
        }
        // The hash size equals that of our engines.
        for name in ["Hash", "hashsize"] {
            if let Some(offer) = offered(name)
                && !chosen(name)
            {
                self.set_option(offer, &hash_mebibytes.to_string());
            }
        }
        if self.protocol == Protocol::Ucci
            && let Some(offer) = offered("usemillisec")
            && !chosen("usemillisec")
        {
            self.set_option(offer, "true");
            self.milliseconds = true;
        }
        for (name, value) in &specification.options {
            let offer = offered(name).ok_or_else(|| format!("the engine has no option `{name}`"))?;
            self.set_option(offer, value);
            self.milliseconds |= offer.name == "usemillisec" && value == "true";
        }
        Ok(())
    }

    fn set_option(&mut self, offer: &EngineOption, value: &str) {
        let name = &offer.name;
        let line = match self.protocol {
            Protocol::Uci if offer.is_button => format!("setoption name {name}"),
            Protocol::Uci => format!("setoption name {name} value {value}"),
            Protocol::Ucci if offer.is_button => format!("setoption {name}"),
            Protocol::Ucci => format!("setoption {name} {value}"),
        };
        self.process.send(&line);
    }

    /// Detects or checks how the engine counts ranks: by the position that it shows after a move,
    /// or else by its own first move.
    fn find_dialect(&mut self, configured: Option<Dialect>) -> Result<(), String> {
        // UCCI counts from 0. It does not define showing the position, but engines that can are
        // checked.
        let configured =
            if self.protocol == Protocol::Ucci { configured.or(Some(Dialect::FromZero)) } else { configured };
        let start = Position::start();
        let mv = start.parse_move(FIRST_MOVE).expect("it is a move of the starting position");
        let mut game = Game::new(Fen::start(), xiangqi::rules::RuleSet::Cxr);
        game.push_legal(mv);
        let dialects = configured.map_or(Dialect::ALL.to_vec(), |dialect| vec![dialect]);
        let mut shows_another = false;
        for &dialect in &dialects {
            self.dialect = dialect;
            self.process.send(&self.position_line(&game));
            match self.shown(STARTUP_TIMEOUT).map_err(|(_, why)| format!("asked for the position it holds: {why}"))? {
                Some(position) if position == *game.position() => {
                    self.shows_position = true;
                    return Ok(());
                }
                Some(_) => shows_another = true,
                None => break,
            }
        }
        if shows_another {
            let tried: Vec<_> = dialects.iter().map(Dialect::to_string).collect();
            return Err(format!("it does not follow the move {FIRST_MOVE}, with {}", tried.join(" nor with ")));
        }
        if let Some(dialect) = configured {
            self.dialect = dialect;
            return Ok(());
        }
        self.process.send(&format!("position fen {}", Fen::start()));
        self.process.send("go depth 1");
        let deadline = Deadline::after(STARTUP_TIMEOUT);
        loop {
            let line = self.process.receive(deadline).map_err(|error| {
                let why = self.describe(error);
                format!("asked for a first move: {why}")
            })?;
            if let Some(text) = best_move(&line) {
                self.dialect = Dialect::of_first_move(text).ok_or_else(|| {
                    format!("its first move `{}` is legal in no dialect", xiangqi::text::shortened(text))
                })?;
                return Ok(());
            }
        }
    }

    /// Announces a new game.
    pub(super) fn new_game(&mut self, watchdog: Duration) -> Result<(), Trouble> {
        self.process.send(match self.protocol {
            Protocol::Uci => "ucinewgame",
            Protocol::Ucci => "setoption newgame",
        });
        self.wait_until_ready(watchdog, &mut |_| {}).map_err(|(kind, why)| Trouble::fault(kind, why))
    }

    /// Sends the game's start and all of its moves, and checks that the engine holds the position.
    pub(super) fn set_position(&mut self, game: &Game, watchdog: Duration) -> Result<(), Trouble> {
        self.process.send(&self.position_line(game));
        let fault = |(kind, why)| Trouble::fault(kind, why);
        if !self.shows_position {
            return self.wait_until_ready(watchdog, &mut |_| {}).map_err(fault);
        }
        match self.shown(watchdog).map_err(fault)? {
            Some(position) if position == *game.position() => Ok(()),
            Some(position) => {
                let detail = format!("the engine holds {position}, the game is at {}", game.position());
                Err(Trouble::fault(FaultKind::WrongPosition, detail))
            }
            None => Err(Trouble::fault(FaultKind::WrongPosition, "the engine no longer says what position it holds")),
        }
    }

    /// Starts a search and waits for its move.
    pub(super) fn go(&mut self, game: &Game, allowance: &Allowance, timeout: Duration) -> Result<Choice, Trouble> {
        self.process.send(&self.go_line(game, allowance));
        let deadline = Deadline::after(timeout);
        let mut info = Info::default();
        loop {
            let line = match self.process.receive(deadline) {
                Ok(line) => line,
                Err(error) => return Err(Trouble::fault(kind_of(error), self.describe(error))),
            };
            if let Some(text) = best_move(&line) {
                let mv = game
                    .position()
                    .parse_move_in(text, self.dialect.notation())
                    .map_err(|error| Trouble::fault(FaultKind::IllegalMove, error.to_string()))?;
                let line = self.line(game, mv, &info.line);
                return Ok(Choice { mv, score: info.score, depth: info.depth, nodes: info.nodes, line });
            }
            info.update(&line);
        }
    }

    /// Parses the engine's line up to its first illegal move; it must begin with the chosen move.
    fn line(&self, game: &Game, mv: Move, texts: &[String]) -> Vec<Move> {
        let mut position = game.position().clone();
        let mut line = Vec::new();
        for text in texts {
            let Ok(next) = position.parse_move_in(text, self.dialect.notation()) else { break };
            line.push(next);
            let _ = position.make(next);
        }
        if line.first() == Some(&mv) { line } else { Vec::new() }
    }

    fn go_line(&self, game: &Game, allowance: &Allowance) -> String {
        let milliseconds = |time: Duration| time.as_millis().max(1);
        match (self.protocol, *allowance) {
            (_, Allowance::Nodes(nodes)) => format!("go nodes {nodes}"),
            (Protocol::Uci, Allowance::MoveTime(time)) => format!("go movetime {}", milliseconds(time)),
            (Protocol::Uci, Allowance::Clock { own, opponent, increment, opponent_increment, moves_to_go }) => {
                let [own, opponent] = [(own, increment), (opponent, opponent_increment)];
                let (red, black) = match game.position().turn() {
                    xiangqi::Color::Red => (own, opponent),
                    xiangqi::Color::Black => (opponent, own),
                };
                let [red, black, red_increment, black_increment] =
                    [red.0, black.0, red.1, black.1].map(|time| time.as_millis());
                let moves = moves_to_go.map_or_else(String::new, |moves| format!(" movestogo {moves}"));
                format!("go wtime {red} btime {black} winc {red_increment} binc {black_increment}{moves}")
            }
            (Protocol::Ucci, allowance) => {
                let unit =
                    |time: Duration| if self.milliseconds { time.as_millis() } else { u128::from(time.as_secs()) };
                match allowance {
                    Allowance::MoveTime(time) => format!("go time {} movestogo 1", unit(time).max(1)),
                    Allowance::Clock { own, opponent, increment, opponent_increment, moves_to_go } => {
                        let [own, opponent, increment, opponent_increment] =
                            [own, opponent, increment, opponent_increment].map(unit);
                        // The protocol has either moves or an increment.
                        let added = moves_to_go
                            .map_or_else(|| format!("increment {increment}"), |moves| format!("movestogo {moves}"));
                        format!("go time {own} {added} opptime {opponent} oppincrement {opponent_increment}")
                    }
                    Allowance::Nodes(_) => unreachable!("they are above"),
                }
            }
        }
    }

    fn position_line(&self, game: &Game) -> String {
        let mut line = format!("position fen {}", game.start());
        let mut position = game.start().position.clone();
        for (index, mv) in game.moves().enumerate() {
            let before = if index == 0 { " moves " } else { " " };
            let _ = write!(line, "{before}{}", position.format_move(mv, self.dialect.notation()));
            let _ = position.make(mv);
        }
        line
    }

    /// Requests the position that the engine holds.
    fn shown(&mut self, watchdog: Duration) -> Result<Option<Position>, (FaultKind, String)> {
        self.process.send("d");
        let mut shown = None;
        self.wait_until_ready(watchdog, &mut |line| {
            if let Some(position) = shown_position(line) {
                shown = Some(position);
            }
        })?;
        Ok(shown)
    }

    /// Waits until the engine has processed all commands; `on_line` gets its output until then.
    fn wait_until_ready(
        &mut self,
        watchdog: Duration,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<(), (FaultKind, String)> {
        self.process.send("isready");
        let deadline = Deadline::after(watchdog);
        loop {
            match self.process.receive(deadline) {
                Ok(line) if line == "readyok" => return Ok(()),
                Ok(line) => on_line(&line),
                Err(error) => return Err((kind_of(error), self.describe(error))),
            }
        }
    }

    fn describe(&mut self, error: ReceiveError) -> String {
        match error {
            ReceiveError::TimedOut => "the engine does not answer".to_owned(),
            ReceiveError::Closed => self.process.exit_reason(),
        }
    }
}

const fn kind_of(error: ReceiveError) -> FaultKind {
    match error {
        ReceiveError::TimedOut => FaultKind::Stall,
        ReceiveError::Closed => FaultKind::Crash,
    }
}

/// The message for people in a line, if any.
fn remark(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("info ")?;
    rest.strip_prefix("string ").or_else(|| rest.strip_prefix("message "))
}

/// Replaces control characters, which could break lines or command a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The move of a `bestmove` line; empty if it has none.
fn best_move(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("bestmove") => Some(words.next().unwrap_or_default()),
        Some("nobestmove") => Some("nobestmove"),
        _ => None,
    }
}

impl EngineOption {
    /// Parses `option name Skill Level type spin …`, or UCCI's `option usemillisec type check …`.
    fn read(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("option ")?.trim_start();
        let rest = rest.strip_prefix("name ").unwrap_or(rest);
        let (name, kind) = rest.split_once(" type ").unwrap_or((rest, ""));
        let values = kind.split(" var ").skip(1).map(|value| value.trim().to_owned()).collect();
        Some(Self { name: name.trim().to_owned(), is_button: kind.trim().starts_with("button"), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_parsed() {
        let read = |line| EngineOption::read(line).map(|offer| (offer.name, offer.is_button, offer.values));
        let name = |name: &str| name.to_owned();
        let variants = "option name UCI_Variant type combo default chess var chess var xiangqi";
        assert_eq!(read(variants), Some((name("UCI_Variant"), false, vec![name("chess"), name("xiangqi")])));
        assert_eq!(read("option name Clear Hash type button"), Some((name("Clear Hash"), true, vec![])));
        assert_eq!(read("option usemillisec type check default false"), Some((name("usemillisec"), false, vec![])));
        assert_eq!(read("id name x"), None);
    }

    #[test]
    fn remarks_are_found_and_printable() {
        assert_eq!(remark("info string setoption x"), Some("setoption x"));
        assert_eq!(remark("info message hello"), Some("hello"));
        assert_eq!(remark("info depth 1 string x"), None);
        assert_eq!(printable("a\u{1b}[2Jb\tc 炮"), "a [2Jb c 炮");
    }

    #[test]
    fn best_moves_are_parsed() {
        assert_eq!(best_move("bestmove h2e2 ponder h9g7"), Some("h2e2"));
        assert_eq!(best_move("bestmove"), Some(""));
        assert_eq!(best_move("nobestmove"), Some("nobestmove"));
        assert_eq!(best_move("info string bestmove h2e2"), None);
    }
}
