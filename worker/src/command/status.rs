//! `chuhe-worker status`.

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};

use crate::{
    display,
    settings::Given,
    state::Folder,
    status::{Contributions, Snapshot},
    wishes::set_paused,
};

/// Say what the worker on this machine is doing; let it pause or go on
///
/// The exit status is 1 if none is running.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder of the worker, if it was given one
    #[arg(long, value_name = "DIR", env = "CHUHE_STATE", hide_env_values = true)]
    state: Option<PathBuf>,
    /// Let it rest, now and after its next start: the games at hand wait, the processor is free
    #[arg(long, conflicts_with = "resume")]
    pause: bool,
    /// Let it go on
    #[arg(long)]
    resume: bool,
    /// Answer as one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let root = Given { state: self.state.clone(), ..Given::default() }.state_path()?;
        if self.pause || self.resume {
            set_paused(&root, self.pause).with_context(|| root.display().to_string())?;
        }
        let runs = Folder::is_taken(&root);
        let snapshot = Snapshot::read(&root).filter(|_| runs);
        let code = if runs { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&snapshot)?)?;
            return Ok(code);
        }
        match &snapshot {
            None if runs => {
                writeln!(out, "a worker is running with {}, and has not written what it does", root.display())?;
            }
            None => writeln!(out, "no worker is running with {}", root.display())?,
            Some(snapshot) => print(snapshot, out)?,
        }
        match (self.pause, self.resume) {
            (true, _) => writeln!(out, "paused: it rests within two seconds, until `chuhe-worker status --resume`")?,
            (_, true) => writeln!(out, "resumed: it goes on within two seconds")?,
            _ => {}
        }
        Ok(code)
    }
}

fn print(snapshot: &Snapshot, out: &mut impl Write) -> Result<()> {
    let Snapshot { server, name, cores, process, .. } = snapshot;
    writeln!(out, "{name}, {cores} cores, for {server} (process {process})")?;
    for line in display::lines(snapshot) {
        writeln!(out, "{line}")?;
    }
    let Some(Contributions { account, today, total, rank, page }) = &snapshot.contribution else { return Ok(()) };
    let rank = rank.map_or_else(String::new, |rank| format!(", place {rank}"));
    writeln!(out, "{account}: {} games today, {} in all{rank}; {page}", today.games, total.games)?;
    Ok(())
}
