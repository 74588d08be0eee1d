//! `chuhe-worker status`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, anyhow};

use crate::{display, settings::Given, state::Folder, status::Snapshot, wishes::set_paused};

/// Say what the worker on this machine is doing; let it pause or go on
///
/// The exit status is 1 if none is running, and 2 if you may not look into its folder: a service's worker is asked with
/// `sudo chuhe-worker status --state /var/lib/chuhe-worker`.
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
            set_paused(&root, self.pause).map_err(|error| cannot(&root, &error))?;
        }
        let runs = Folder::is_taken(&root).map_err(|error| cannot(&root, &error))?;
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
        match (self.pause, self.resume, runs) {
            (true, _, true) => {
                writeln!(out, "paused: it rests within two seconds, until `chuhe-worker status --resume`")?;
            }
            (true, ..) => writeln!(out, "paused: the next one will rest, until `chuhe-worker status --resume`")?,
            (_, true, true) => writeln!(out, "resumed: it goes on within two seconds")?,
            (_, true, _) => writeln!(out, "resumed: the next one will play")?,
            _ => {}
        }
        Ok(code)
    }
}

/// Why a folder cannot be looked into, and what to do about it.
fn cannot(root: &Path, error: &io::Error) -> anyhow::Error {
    let is_others = error.kind() == io::ErrorKind::PermissionDenied;
    let root = root.display();
    let hint = if is_others { format!("; `sudo chuhe-worker status --state {root}` may look") } else { String::new() };
    anyhow!("{root}: {error}{hint}")
}

fn print(snapshot: &Snapshot, out: &mut impl Write) -> Result<()> {
    let Snapshot { server, name, cores, process, .. } = snapshot;
    writeln!(out, "{name}, {cores} cores, for {server} (process {process})")?;
    for line in display::lines(snapshot) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
