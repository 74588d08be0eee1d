//! `chuhe-worker systemd`, `launchd` and `windows`.

use std::{io::Write, process::ExitCode};

use anyhow::{Context as _, Result};

use crate::service;

/// Print a unit that lets systemd start the worker
#[derive(Debug, clap::Args)]
pub(super) struct Systemd {
    /// For your own systemd (`systemctl --user`) instead of the machine's
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    program: Program,
}

#[derive(Debug, clap::Args)]
pub(super) struct Program {
    /// The worker's file [default: this one]
    #[arg(long, value_name = "FILE")]
    program: Option<String>,
}

impl Program {
    fn path(&self) -> Result<String> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        Ok(std::env::current_exe().context("this program's own file")?.display().to_string())
    }

    /// Prints the definition of a service that starts it.
    pub(super) fn print(&self, definition: fn(&str) -> String, out: &mut impl Write) -> Result<ExitCode> {
        write!(out, "{}", definition(&self.path()?))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Systemd {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        write!(out, "{}", service::systemd(&self.program.path()?, self.user)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
