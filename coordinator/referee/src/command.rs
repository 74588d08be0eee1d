//! The command line.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{CommandFactory as _, Parser, Subcommand};
use coordinator_core::clock::Clock;
use nnue::Kernel;
use shell::{Log, Places, stop_signal};
use tokio::task::JoinSet;

use crate::Referee;

/// Play disputed games and random games of uploads again, beside a coordinator
///
/// It rules on the games of the engine that it was built with.
#[derive(Parser)]
#[command(name = "chuhe-referee", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    places: Places,
    /// Games played at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    #[command(flatten)]
    log: Log,
}

#[derive(Subcommand)]
enum Command {
    #[command(hide = true)]
    Manual(command_line::Manual),
}

/// Runs the command line.
#[must_use]
pub fn main() -> ExitCode {
    shell::run("chuhe-referee", run(command_line::parse::<Arguments>()))
}

async fn run(arguments: Arguments) -> Result<ExitCode> {
    if let Some(Command::Manual(manual)) = arguments.command {
        manual.run(Arguments::command())?;
        return Ok(ExitCode::SUCCESS);
    }
    arguments.log.begin();
    let clock = Clock::of_this_process();
    let (store, objects) = arguments.places.open_existing(&clock).await?;
    let kernel = Kernel::from_env().context("the instruction set")?;
    let (_stop, mut stopping) = stop_signal();
    let referee = Referee::new(store.clone(), objects, clock, kernel);
    let mut threads = JoinSet::new();
    for _ in 0..arguments.threads.max(1) {
        threads.spawn(referee.clone().serve(stopping.clone()));
    }
    tracing::info!(bench_signature = engine::bench::SIGNATURE, "the referee plays");
    tokio::select! {
        _ = stopping.wait_for(|stop| *stop) => {}
        // A thread that panics must not look like a referee.
        Some(ended) = threads.join_next() => ended.context("the referee ended")?,
    }
    while threads.join_next().await.is_some() {}
    store.close().await;
    Ok(ExitCode::SUCCESS)
}
