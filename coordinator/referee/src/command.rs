//! The command line.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use coordinator_core::{clock::Clock, objects::Objects, store::Database};
use nnue::Kernel;
use tokio::{signal::unix, sync::watch, task::JoinSet};
use tracing_subscriber::EnvFilter;

use crate::Referee;

/// Play disputed games and random games of uploads again, beside a coordinator
///
/// It rules on the games of the engine that it was built with.
#[derive(Parser)]
#[command(name = "chuhe-referee", version, max_term_width = 100)]
struct Arguments {
    /// The coordinator's folder of database and objects, unless these are given
    #[arg(long, env = "CHUHE_DATA", default_value = "chuhe-data", value_name = "DIR")]
    data: PathBuf,
    /// The database: `sqlite:FILE` or `postgres://USER@HOST/NAME` [default: sqlite:DIR/chuhe.db]
    #[arg(long, env = "CHUHE_DATABASE", value_name = "ADDRESS", hide_env_values = true)]
    database: Option<String>,
    /// The games and nets: a folder, or `s3://BUCKET/PREFIX` with AWS_* in the environment
    /// [default: DIR/objects]
    #[arg(long, env = "CHUHE_OBJECTS", value_name = "ADDRESS")]
    objects: Option<String>,
    /// Games played at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    /// Write the log as JSON, one object per line
    #[arg(long)]
    log_json: bool,
}

impl Arguments {
    /// Opens a database that exists.
    async fn open(&self, clock: &Clock) -> Result<(Database, Objects)> {
        let default = || format!("sqlite:{}", self.data.join("chuhe.db").display());
        let address = self.database.clone().unwrap_or_else(default);
        let file = address.strip_prefix("sqlite:").map(|file| file.strip_prefix("//").unwrap_or(file));
        if let Some(file) = file {
            ensure!(Path::new(file).exists(), "there is no database at {file}: a coordinator creates it");
        }
        let store = Database::open(&address, clock.to_compare()).await?;
        let objects = self.objects.clone().unwrap_or_else(|| self.data.join("objects").display().to_string());
        Ok((store, Objects::open(&objects)?))
    }
}

/// Runs the command line.
#[must_use]
#[allow(clippy::print_stderr, reason = "errors are printed here")]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let done = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(run(arguments)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chuhe-referee: {}", format!("{error:#}").replace('\n', " "));
            ExitCode::from(2)
        }
    }
}

async fn run(arguments: Arguments) -> Result<()> {
    let filter = EnvFilter::try_from_env("CHUHE_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // An error of the log itself would be printed to standard error too: a panic if that fails.
    let log = log.with_ansi(std::io::stderr().is_terminal()).log_internal_errors(false);
    if arguments.log_json {
        log.json().init();
    } else {
        log.with_target(false).init();
    }
    let clock = Clock::of_this_process();
    let (store, objects) = arguments.open(&clock).await?;
    let kernel = Kernel::from_env().context("the instruction set")?;
    let (stop, stopping) = watch::channel(false);
    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    let referee = Referee::new(store.clone(), objects, clock, kernel);
    let mut threads = JoinSet::new();
    for _ in 0..arguments.threads.max(1) {
        threads.spawn(referee.clone().serve(stopping.clone()));
    }
    tracing::info!(bench_signature = engine::bench::SIGNATURE, "the referee plays");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
        // A thread that panics must not look like a referee.
        Some(ended) = threads.join_next() => ended.context("the referee ended")?,
    }
    stop.send_replace(true);
    while threads.join_next().await.is_some() {}
    store.close().await;
    Ok(())
}
