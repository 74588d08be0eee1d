//! The protocols of GUIs and match runners: UCI in the dialect of xiangqi, and UCCI.
//!
//! A [`Session`] executes input lines and writes output lines. The search runs on a thread of its
//! own if the [`Host`] has threads, so the session reads on meanwhile; `stop` takes effect within
//! milliseconds.
//!
//! Choices where the protocols are silent:
//!
//! * Unknown commands are ignored. A known command that is invalid gets one line of error (`info
//!   string …`, in UCCI `info message …`) and changes nothing.
//! * A command that needs the engine during a search (`go`, `ucinewgame`, some `setoption`) stops
//!   the search first; its `bestmove` comes before anything else. `position` does not: it concerns
//!   the next search.
//! * After an invalid `position` there is none: `go` answers `bestmove (none)` until a `position`
//!   is valid. The table keeps its content.
//! * A line of `startpos …` or `fen …` is `position` with the word left out, as some apps write it.
//! * Moves are checked by the movement rules only. A game that is over by the rules may be
//!   continued and searched, for analysis.
//! * The end of the input is `quit`.

mod aliases;
mod command;
mod host;
mod info;
mod input;
mod job;
mod options;
mod output;
mod perft;
mod session;

pub use host::Host;
pub use session::{Session, Setup};

use std::{
    io::{self, BufRead, Write},
    ops::ControlFlow,
};

use input::Line;

/// The protocol in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Protocol {
    #[default]
    Uci,
    Ucci,
}

/// Executes lines until `quit` or the end of the input.
///
/// # Errors
///
/// If the input cannot be read or the output cannot be written.
pub fn run(mut input: impl BufRead, output: impl Write + Send + 'static, setup: Setup) -> io::Result<()> {
    let mut session = Session::new(output, setup);
    loop {
        let flow = match input::read_line(&mut input)? {
            Line::End => break,
            Line::TooLong => {
                session.write_error(&format_args!("a line of more than {} bytes", input::MAX_LINE_BYTES))?
            }
            Line::Text(line) => session.execute_line(&line)?,
        };
        if flow == ControlFlow::Break(()) {
            break;
        }
    }
    session.close();
    Ok(())
}
