//! The command line.

mod configure;
mod fault;
mod run;
mod selftest;
mod service;
mod status;

use std::{io, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};
use fault::{PassingFault, print_error};

/// Plays xiangqi games that train nets, on the cores that you give it, and hands them in.
///
/// `configure` asks a few questions; `run` plays until it is stopped. Ctrl-C finishes the games at
/// hand; a second one stops at once. Finished games stay on disk until the server has
/// accepted or refused them.
#[derive(Debug, Parser)]
#[command(name = "chuhe-worker", version, term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Arguments>),
    Configure(Box<configure::Arguments>),
    Status(status::Arguments),
    Selftest(selftest::Arguments),
    Systemd(service::Systemd),
    /// Print a property list that lets launchd start the worker (macOS)
    Launchd(service::Program),
    /// Print the command that lets Windows start the worker when you log on
    Windows(service::Program),
    Manual(command_line::Manual),
}

/// Runs the program and returns its exit status: 0 success, 1 failure, 2 bad input.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command_line::parse::<Arguments>();
    let mut out = io::stdout();
    let result = match &arguments.command {
        Command::Run(arguments) => arguments.run(&mut out),
        Command::Configure(arguments) => arguments.run(&mut out),
        Command::Status(arguments) => arguments.run(&mut out),
        Command::Selftest(arguments) => arguments.run(&mut out),
        Command::Systemd(arguments) => arguments.run(&mut out),
        Command::Launchd(program) => program.print(crate::service::launchd, &mut out),
        Command::Windows(program) => program.print(crate::service::windows, &mut out),
        Command::Manual(arguments) => arguments.run(Arguments::command()).map(|()| ExitCode::SUCCESS),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            print_error(format!("chuhe-worker: {error:#}"));
            if error.is::<PassingFault>() { ExitCode::FAILURE } else { ExitCode::from(2) }
        }
    }
}
