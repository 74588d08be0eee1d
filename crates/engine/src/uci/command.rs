//! The parser of commands.

use std::str::SplitAsciiWhitespace;

use xiangqi::Color;

use super::Protocol;

/// A parsed command. Moves and positions are still text, since they depend on the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Hello(Protocol),
    IsReady,
    NewGame,
    SetOption {
        name: String,
        value: Option<String>,
    },
    /// `None` is the starting position.
    Position {
        fen: Option<String>,
        moves: Vec<String>,
    },
    BanMoves(Vec<String>),
    Go(Go),
    Stop,
    PonderHit,
    Quit,
    /// `d`: show the position.
    Show,
    /// `eval`: evaluate it without a search.
    Evaluate,
}

/// The arguments of `go`. Times are in the unit of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Go {
    pub(super) infinite: bool,
    pub(super) ponder: bool,
    pub(super) depth: Option<u32>,
    pub(super) nodes: Option<u64>,
    pub(super) mate: Option<u32>,
    pub(super) perft: Option<u32>,
    pub(super) move_time: Option<u64>,
    /// The time left on each side's clock.
    pub(super) clocks: [Option<u64>; 2],
    pub(super) increments: [u64; 2],
    /// The moves to the next time control.
    pub(super) to_time_control: Option<u32>,
    pub(super) search_moves: Vec<String>,
}

/// An invalid command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandError {
    #[error("{command}: `{word}` without a number")]
    NoNumber { command: &'static str, word: String },
    #[error("{command}: {word} `{text}` is not a whole number that makes sense")]
    NotANumber { command: &'static str, word: String, text: String },
    #[error("setoption: it is {0}")]
    SetOption(&'static str),
    #[error("position: it is `position startpos` or `position fen <fen>`, then perhaps `moves <move> …`")]
    Position,
}

/// Parses a line; `None` for an unknown command.
pub(super) fn parse(line: &str, protocol: Protocol) -> Result<Option<Command>, CommandError> {
    let (first, rest) = split_word(line);
    Ok(Some(match first {
        "uci" => Command::Hello(Protocol::Uci),
        "ucci" => Command::Hello(Protocol::Ucci),
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => parse_option(rest, protocol)?,
        "position" => parse_position(rest)?,
        "startpos" | "fen" => parse_position(line)?,
        "banmoves" if protocol == Protocol::Ucci => Command::BanMoves(words(rest)),
        "go" => Command::Go(parse_go(rest, protocol)?),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "quit" => Command::Quit,
        "d" => Command::Show,
        "eval" => Command::Evaluate,
        _ => return Ok(None),
    }))
}

/// Splits the first word off.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let end = text.find(|char: char| char.is_ascii_whitespace()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii())
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn parse_option(rest: &str, protocol: Protocol) -> Result<Command, CommandError> {
    const UCI: CommandError = CommandError::SetOption("`setoption name <name>`, then perhaps `value <value>`");
    const UCCI: CommandError = CommandError::SetOption("`setoption <name>`, then perhaps a value");
    let (name, value) = match protocol {
        Protocol::Ucci => {
            let (name, value) = split_word(rest);
            (name.to_owned(), (!value.is_empty()).then_some(value))
        }
        Protocol::Uci => {
            let ("name", mut rest) = split_word(rest) else { return Err(UCI) };
            let mut name = Vec::new();
            let value = loop {
                match split_word(rest) {
                    ("", _) => break None,
                    ("value", value) => break Some(value),
                    (word, after) => {
                        name.push(word);
                        rest = after;
                    }
                }
            };
            (name.join(" "), value)
        }
    };
    if name.is_empty() {
        return Err(if protocol == Protocol::Uci { UCI } else { UCCI });
    }
    Ok(Command::SetOption { name, value: value.map(str::to_owned) })
}

fn parse_position(rest: &str) -> Result<Command, CommandError> {
    let mut words = rest.split_ascii_whitespace();
    let fen = match words.next() {
        Some("startpos") => match words.next() {
            None | Some("moves") => None,
            Some(_) => return Err(CommandError::Position),
        },
        Some("fen") => {
            let fields: Vec<_> = words.by_ref().take_while(|word| *word != "moves").collect();
            if fields.is_empty() {
                return Err(CommandError::Position);
            }
            Some(fields.join(" "))
        }
        _ => return Err(CommandError::Position),
    };
    Ok(Command::Position { fen, moves: words.map(str::to_owned).collect() })
}

fn parse_go(rest: &str, protocol: Protocol) -> Result<Go, CommandError> {
    use Protocol::{Ucci, Uci};

    let mut go = Go::default();
    let mut words = rest.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match (protocol, word) {
            (_, "infinite") => go.infinite = true,
            (_, "ponder") => go.ponder = true,
            // UCCI 1 spells an infinite search `go depth infinite`.
            (Ucci, "depth") if words.clone().next() == Some("infinite") => {}
            (_, "depth") => go.depth = Some(number(word, &mut words)?),
            (_, "nodes") => go.nodes = Some(number(word, &mut words)?),
            (_, "mate") => go.mate = Some(number(word, &mut words)?),
            (_, "perft") => go.perft = Some(perft_depth(word, &mut words)?),
            (_, "movetime") => go.move_time = Some(time(word, &mut words)?),
            (_, "movestogo") => go.to_time_control = Some(number(word, &mut words)?),
            (Uci, "wtime") => go.clocks[Color::Red.index()] = Some(time(word, &mut words)?),
            (Uci, "btime") => go.clocks[Color::Black.index()] = Some(time(word, &mut words)?),
            (Uci, "winc") => go.increments[Color::Red.index()] = time(word, &mut words)?,
            (Uci, "binc") => go.increments[Color::Black.index()] = time(word, &mut words)?,
            // UCCI gives only the clock of the side to move.
            (Ucci, "time") => go.clocks = [Some(time(word, &mut words)?); 2],
            (Ucci, "increment") => go.increments = [time(word, &mut words)?; 2],
            (Ucci, "opptime" | "oppincrement" | "oppmovestogo") => _ = time(word, &mut words)?,
            (_, "searchmoves") => {
                let moves = words.clone().take_while(|word| !belongs_to_go(word));
                go.search_moves.extend(moves.map(str::to_owned));
                while words.clone().next().is_some_and(|word| !belongs_to_go(word)) {
                    words.next();
                }
            }
            // Unknown words of later protocol versions are ignored.
            _ => {}
        }
    }
    Ok(go)
}

fn belongs_to_go(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "infinite",
        "ponder",
        "depth",
        "nodes",
        "mate",
        "perft",
        "movetime",
        "movestogo",
        "wtime",
        "btime",
        "winc",
        "binc",
        "time",
        "increment",
    ];
    WORDS.contains(&word)
}

fn number<T: TryFrom<u64>>(word: &str, words: &mut SplitAsciiWhitespace<'_>) -> Result<T, CommandError> {
    let (command, word) = ("go", word.to_owned());
    let Some(text) = words.next() else { return Err(CommandError::NoNumber { command, word }) };
    let number = text.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| CommandError::NotANumber { command, word, text: xiangqi::text::shortened(text) })
}

/// Parses a perft depth, at most 32 to bound the recursion.
fn perft_depth(word: &str, words: &mut SplitAsciiWhitespace<'_>) -> Result<u32, CommandError> {
    number::<u8>(word, words).map(|depth| u32::from(depth.min(32)))
}

/// Parses a time. Negative times, of overdrawn clocks, count as 0.
fn time(word: &str, words: &mut SplitAsciiWhitespace<'_>) -> Result<u64, CommandError> {
    /// About four months in milliseconds.
    const MAX_TIME: u64 = 10_000_000_000;
    let overdrawn = words.clone().next().and_then(|text| text.strip_prefix('-'));
    if overdrawn.is_some_and(|digits| digits.parse::<u64>().is_ok()) {
        words.next();
        return Ok(0);
    }
    number::<u64>(word, words).map(|time| time.min(MAX_TIME))
}
