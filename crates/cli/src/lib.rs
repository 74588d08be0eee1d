//! The toolbox for maintainers, researchers and engine authors; volunteers never need it.
//!
//! A command is a module with its arguments and a `run`. Answers go to standard output; errors go
//! to standard error in one line that names the thing and the place. Exit status: 0 done; 1 done,
//! and a check failed; 2 bad input; 130 ended by Ctrl-C.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{CommandFactory as _, Parser, Subcommand};

use output::{StandardOutput, is_broken_pipe};

mod bench;
mod data;
mod date;
mod external;
mod games;
mod input;
mod interrupt;
pub mod judge;
mod live;
mod live_line;
mod matches;
mod net;
mod one_line;
mod output;
mod parameters;
mod perft;
mod progress;
mod selfplay_command;
mod sprt;
mod stopwatch;
mod threads;
mod thresholds;
mod tournament;
mod tune;
mod uci;
mod whole;

/// The toolbox of Chuhe, distributed NNUE training for xiangqi. Without a command it plays as an
/// engine.
#[derive(Debug, Parser)]
#[command(name = "chuhe", version, term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Uci(uci::Arguments),
    Bench(bench::Arguments),
    Perft(perft::Arguments),
    Judge(judge::Arguments),
    Sprt(sprt::Arguments),
    Selfplay(selfplay_command::Arguments),
    Match(Box<matches::Arguments>),
    Tournament(Box<tournament::Arguments>),
    Tune(Box<tune::Arguments>),
    Net(net::Arguments),
    Data(data::Arguments),
    Manual(command_line::Manual),
}

/// The result of a command that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// Done.
    Holds,
    /// Done, and a check failed.
    Fails,
}

/// Runs the program and returns the process's exit status.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command_line::parse::<Arguments>();
    // Not locked, because an engine's search prints from its own thread.
    let mut out = io::BufWriter::new(StandardOutput(io::stdout()));
    let command = arguments.command.unwrap_or(Command::Uci(uci::Arguments::default()));
    let result = match &command {
        Command::Uci(arguments) => arguments.run(),
        Command::Bench(arguments) => arguments.run(&mut out),
        Command::Perft(arguments) => arguments.run(&mut out),
        Command::Judge(arguments) => arguments.run(&mut out),
        Command::Sprt(arguments) => arguments.run(&mut out),
        Command::Selfplay(arguments) => arguments.run(&mut out),
        Command::Match(arguments) => arguments.run(&mut out),
        Command::Tournament(arguments) => arguments.run(&mut out),
        Command::Tune(arguments) => arguments.run(&mut out),
        Command::Net(arguments) => arguments.run(&mut out),
        Command::Data(arguments) => arguments.run(&mut out),
        Command::Manual(arguments) => arguments.run(Arguments::command()).map(|()| Finding::Holds),
    };
    // Output from before an error is flushed too.
    let flushed = out.flush().map_err(anyhow::Error::from);
    match result.and_then(|finding| match flushed {
        Err(error) if !is_broken_pipe(&error) => Err(error),
        _ => Ok(finding),
    }) {
        Ok(Finding::Holds) => ExitCode::SUCCESS,
        Ok(Finding::Fails) => ExitCode::FAILURE,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "chuhe: {}", xiangqi::text::plain_words(&format!("{error:#}")));
            ExitCode::from(if error.is::<interrupt::Interrupted>() { interrupt::EXIT_STATUS } else { 2 })
        }
    }
}
