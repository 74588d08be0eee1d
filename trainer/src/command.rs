//! The command line.

mod agent;
mod child;
mod conditions;
mod data;
mod export;
mod inspect;
mod sweep;
mod terminal;
mod train;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Parser, Subcommand};

pub(crate) use export::Export;

/// Trains NNUE nets on games: learns a recipe's net from shards, and quantises it to the integers
/// that engines run.
#[derive(Debug, Parser)]
#[command(name = "chuhe-trainer", version, term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(train::Arguments),
    Sweep(sweep::Arguments),
    Export(export::Arguments),
    Inspect(inspect::Arguments),
    Agent(agent::Arguments),
}

/// Runs the program. Exit status: 0 done, 1 training diverged, 2 bad input.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command_line::parse::<Arguments>();
    let mut out = io::stdout().lock();
    let result = match &arguments.command {
        Command::Train(arguments) => arguments.run(&mut out),
        Command::Sweep(arguments) => arguments.run(&mut out),
        Command::Export(arguments) => arguments.run(&mut out),
        Command::Inspect(arguments) => arguments.run(&mut out),
        Command::Agent(arguments) => arguments.run(),
    };
    match result.and_then(|code| Ok(out.flush().map(|()| code)?)) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "chuhe-trainer: {}", xiangqi::text::plain_words(&format!("{error:#}")));
            ExitCode::from(2)
        }
    }
}

/// Reads a recipe.
fn read_recipe(path: &std::path::Path) -> Result<protocol::recipe::Recipe> {
    use anyhow::Context as _;
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    protocol::recipe::Recipe::from_text(&text).with_context(|| path.display().to_string())
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "the number of threads is between 1 and 1024".to_owned())
}

/// The number of cores of this machine.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}
