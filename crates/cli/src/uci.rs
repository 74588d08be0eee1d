//! `chuhe` and `chuhe uci`: the engine on standard input and output.

use std::io;

use anyhow::Result;
use engine::{
    Settings,
    uci::{self, Setup},
};
use nnue::Kernel;

use crate::Finding;

/// Play as an engine: UCI or UCCI on standard input and output; what happens without a command
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {}

impl Arguments {
    #[allow(clippy::unused_self, reason = "as the other commands")]
    pub(crate) fn run(&self) -> Result<Finding> {
        let setup = Setup::new(Settings::default(), Kernel::from_env()?);
        uci::run(io::stdin().lock(), io::stdout(), setup)?;
        Ok(Finding::Holds)
    }
}
