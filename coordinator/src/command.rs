//! The command line.

mod admin;
mod serve;
mod watch;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};
use coordinator_core::{clock::Clock, store::SCHEMA};
use shell::Places;

/// Hand out games, validate uploads, schedule trainings and matches, and promote stronger nets
#[derive(Parser)]
#[command(name = "chuhe-coordinator", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    places: Places,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve workers, trainers and people until stopped
    Serve(Box<serve::Arguments>),
    /// Validate uploads, beside a coordinator that serves
    Validate(serve::ValidateArguments),
    /// Create the database, or bring it to this version
    Migrate,
    /// Print a campaign's progress, line by line, until it reaches its target
    Watch(watch::Arguments),
    /// Manage campaigns, nets, accounts and data
    #[command(subcommand)]
    Admin(Box<admin::Command>),
    Manual(command_line::Manual),
}

/// Runs the command line.
#[must_use]
pub fn main() -> ExitCode {
    shell::run("chuhe-coordinator", run(command_line::parse::<Arguments>()))
}

async fn run(arguments: Arguments) -> Result<ExitCode> {
    let clock = Clock::of_this_process();
    match arguments.command {
        Command::Serve(serve) => serve::serve(&arguments.places, *serve, clock).await?,
        Command::Validate(validate) => serve::validate(&arguments.places, validate, clock).await?,
        Command::Migrate => {
            let (store, _) = arguments.places.open(&clock).await?;
            let (place, found) = (arguments.places.database_shown(), store.found_schema());
            store.close().await;
            let holds = match found {
                0 => "is created",
                SCHEMA => "was up to date already, and is unchanged",
                _ => "has the tables of this version now",
            };
            admin::print(&format!("the database {place} {holds} (schema {SCHEMA})").into())?;
        }
        Command::Admin(command) => {
            let (store, objects) = if command.fills_empty_database() {
                arguments.places.open(&clock).await?
            } else {
                arguments.places.open_existing(&clock).await?
            };
            let done = admin::run(&store, &objects, &clock, *command).await;
            store.close().await;
            done?;
        }
        Command::Manual(manual) => manual.run(Arguments::command())?,
        Command::Watch(watch) => {
            let (store, _) = arguments.places.open_existing(&clock).await?;
            let ended = watch::run(&store, &clock, &watch).await;
            store.close().await;
            return ended;
        }
    }
    Ok(ExitCode::SUCCESS)
}
