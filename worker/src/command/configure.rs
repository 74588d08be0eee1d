//! `chuhe-worker configure`.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result};
use client::{Client, Settings as ClientSettings, SystemClock};

use crate::{
    dialog,
    settings::{File, Given},
};

/// Answer a few questions: server, token, cores, memory, hours, battery
///
/// An empty line keeps what is in brackets. The token is tried at the server at once. The answers go to a file that only
/// you can read.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: Given,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let path = self.given.config_path()?;
        let known = File::read(&path).with_context(|| path.display().to_string())?;
        ask(&known, &self.given, &path, out)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks, and writes the answers down.
pub(super) fn ask(known: &File, given: &Given, path: &Path, out: &mut impl Write) -> Result<()> {
    let token = given.token().context("--token")?;
    let Given { server, name, cores, memory, hours, on_battery, .. } = given.clone();
    let known = known.clone();
    let known = File {
        server: server.or(known.server),
        token: token.or(known.token),
        name: name.or(known.name),
        cores: cores.or(known.cores),
        memory_mebibytes: memory.or(known.memory_mebibytes),
        hours: hours.or(known.hours),
        on_battery: on_battery.or(known.on_battery),
    };
    let mut check = |server: &client::ServerAddress, token: &client::Token| {
        let clock = Arc::new(SystemClock::default());
        Ok(Client::new(ClientSettings::new(server.clone(), Some(token.clone()), clock))?.me()?)
    };
    let answers = dialog::ask(&known, &mut io::stdin().lock(), out, &mut check)?;
    answers.write(path).with_context(|| path.display().to_string())?;
    writeln!(out, "Written to {}. `chuhe-worker run` plays.", path.display())?;
    Ok(())
}
