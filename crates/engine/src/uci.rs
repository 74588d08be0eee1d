//! The engine as graphical boards and match runners talk to it: UCI in the dialect of xiangqi, and UCCI.
//!
//! A [`Session`] obeys lines and writes lines. The search runs on a thread of its own and prints what it finds, so the
//! session can read on while it runs; `stop` is answered as soon as the search looks up, within milliseconds.
//!
//! What the protocols leave open is decided so:
//!
//! * A line that begins with no known command is ignored. A known command that cannot be understood or obeyed is
//!   answered by one line (`info string …`, in UCCI `info message …`) and changes nothing.
//! * A command that needs the engine while it searches (`go`, `ucinewgame`, `setoption` where it matters) stops the
//!   search first; its `bestmove` comes before anything else. `position` does not: it is about the next search.
//! * Moves are checked by the rules of the pieces. Where the rules of the game have ended it already, moves may go on
//!   and searches may begin: somebody wants to know what the position is worth.
//! * The end of the input is `quit`.

mod clock;
mod command;
mod info;
mod input;
mod job;
mod options;
mod output;
mod perft;
mod session;

pub use clock::Stopwatch;
pub use session::{Session, Setup};

use std::{
    io::{self, BufRead, Write},
    ops::ControlFlow,
};

use input::Line;

/// Which protocol is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Protocol {
    #[default]
    Uci,
    Ucci,
}

/// Obeys lines until `quit` or the end of the input.
///
/// # Errors
///
/// If the input cannot be read or the output cannot be written.
pub fn run(mut input: impl BufRead, output: impl Write + Send + 'static, setup: Setup) -> io::Result<()> {
    let mut session = Session::new(output, setup);
    loop {
        let flow = match input::read_line(&mut input)? {
            Line::End => break,
            Line::TooLong => session.complain(&format_args!("a line of more than {} bytes", input::LONGEST))?,
            Line::Text(line) => session.obey(&line)?,
        };
        if flow == ControlFlow::Break(()) {
            break;
        }
    }
    session.close();
    Ok(())
}
