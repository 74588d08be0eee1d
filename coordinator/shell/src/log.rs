//! The log, on standard error.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;

/// The form of the log; `CHUHE_LOG` filters it.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Log {
    /// Write the log as JSON, one object per line
    #[arg(long)]
    log_json: bool,
}

impl Log {
    /// Begins the log of this process.
    pub fn begin(self) {
        let filter = EnvFilter::try_from_env("CHUHE_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
        // An error of the log itself would be printed to standard error too: a panic if that fails.
        let log = log.with_ansi(stderr().is_terminal()).log_internal_errors(false);
        if self.log_json {
            log.json().init();
        } else {
            log.with_target(false).init();
        }
    }
}
