//! `chuhe-worker configure`.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result};
use client::{Client, ServerAddress, Settings as ClientSettings, SystemClock, Token};
use protocol::api::work::Me;

use crate::{
    dialog,
    settings::{File, Flags},
};

/// Answer a few questions: server, token, cores, memory, hours, battery
///
/// An empty line keeps the value in brackets. The token is checked with the server at once. The
/// answers go to a file that only you can read.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    flags: Flags,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let path = self.flags.config_path()?;
        let known = File::read(&path).with_context(|| path.display().to_string())?;
        ask(known, &self.flags, &path, out)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Servers on the network.
struct Network;

impl Network {
    fn client(server: &ServerAddress, token: Option<&Token>) -> Result<Client, client::Error> {
        Client::new(ClientSettings::new(server.clone(), token.cloned(), Arc::new(SystemClock::default())))
    }
}

impl dialog::Server for Network {
    fn check(&mut self, server: &ServerAddress) -> Result<()> {
        Self::client(server, None)?.server()?;
        Ok(())
    }

    fn account(&mut self, server: &ServerAddress, token: &Token) -> Result<Me> {
        Ok(Self::client(server, Some(token))?.me()?)
    }
}

/// Asks the questions and saves the answers.
pub(super) fn ask(known: File, flags: &Flags, path: &Path, out: &mut impl Write) -> Result<()> {
    let known = flags.over(known)?;
    let answers = dialog::ask(&known, &mut io::stdin().lock(), out, &mut Network)?;
    answers.write(path).with_context(|| path.display().to_string())?;
    writeln!(out, "Written to {}. `chuhe-worker run` plays.", path.display())?;
    Ok(())
}
