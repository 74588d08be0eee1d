//! `chuhe` and `chuhe uci`: the engine on standard input and output.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Result;
use engine::{
    Settings, published,
    uci::{self, Setup},
};
use nnue::Kernel;

use crate::Finding;

/// Play as an engine: UCI or UCCI on standard input and output; the default command
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Offer the parameters of the search as UCI options, for tests and tuning
    #[arg(long)]
    tune: bool,
}

impl Arguments {
    pub(crate) fn run(&self) -> Result<Finding> {
        let kernel = Kernel::from_env()?;
        if io::stdin().is_terminal() {
            // For a person: a GUI writes to a pipe.
            _ = writeln!(
                io::stderr(),
                "An engine for UCI and UCCI, which waits for commands such as `uci`, `go` and `quit`. `chuhe --help` lists \
                 what else it does."
            );
        }
        let settings = Settings { evaluation: published::evaluation(kernel), ..Settings::default() };
        let setup = Setup { tune: self.tune, ..Setup::new(settings, kernel) };
        uci::run(io::stdin().lock(), io::stdout(), setup)?;
        Ok(Finding::Holds)
    }
}
