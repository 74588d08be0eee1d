//! `chuhe-worker status`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, anyhow};

use crate::{control::set_paused, display, settings::Flags, state::Folder, status::Snapshot};

/// Show what the worker on this machine is doing; pause or resume it
///
/// The exit status is 1 if no worker is running, and 2 if you may not read its folder. For a
/// service's worker use `sudo chuhe-worker status --state /var/lib/chuhe-worker`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The worker's state folder, if it is not the default
    #[arg(long, value_name = "DIR", env = "CHUHE_STATE", hide_env_values = true)]
    state: Option<PathBuf>,
    /// Pause, now and after the next start: the games at hand wait and the processor is free
    #[arg(long, conflicts_with = "resume")]
    pause: bool,
    /// Resume a paused worker
    #[arg(long)]
    resume: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let root = Flags { state: self.state.clone(), ..Flags::default() }.state_path()?;
        if self.pause || self.resume {
            set_paused(&root, self.pause).map_err(|error| cannot(&root, &error))?;
        }
        let runs = Folder::is_locked(&root).map_err(|error| cannot(&root, &error))?;
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
            (_, true, true) => writeln!(out, "resumed: it plays within two seconds")?,
            (_, true, _) => writeln!(out, "resumed: the next one will play")?,
            _ => {}
        }
        Ok(code)
    }
}

/// Formats an access error with a hint.
fn cannot(root: &Path, error: &io::Error) -> anyhow::Error {
    let root = root.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            anyhow!("{root}: {error}; `sudo chuhe-worker status --state {root}` may look")
        }
        io::ErrorKind::NotFound => anyhow!("no worker has run with {root}: there is no such folder"),
        _ => anyhow!("{root}: {error}"),
    }
}

fn print(snapshot: &Snapshot, out: &mut impl Write) -> Result<()> {
    let Snapshot { server, name, cores, process, .. } = snapshot;
    writeln!(out, "{name}, {cores} cores, for {server} (process {process})")?;
    for line in display::lines(snapshot) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
