//! `chuhe-worker selftest`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use nnue::Kernel;
use serde::Serialize;

use crate::selftest;

/// Check that this machine reproduces the reference results
///
/// Runs the engine's bench and three games with known moves, in some seconds. The exit status is 1
/// if any result differs.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    passed: bool,
    version: &'static str,
    instruction_set: &'static str,
    bench_signature: Option<u64>,
    reason: Option<String>,
}

impl Arguments {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<ExitCode> {
        let kernel = Kernel::from_env()?;
        let tested = selftest::run(kernel, |what| {
            if !self.json {
                let _ = writeln!(io::stderr(), "{what}");
            }
        });
        let answer = Answer {
            passed: tested.is_ok(),
            version: env!("CARGO_PKG_VERSION"),
            instruction_set: kernel.name(),
            bench_signature: tested.as_ref().ok().copied(),
            reason: tested.as_ref().err().map(|error| format!("{error:#}")),
        };
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        } else if let Some(reason) = &answer.reason {
            writeln!(out, "failed: {reason}")?;
        } else {
            writeln!(out, "passed: nodes {}, {}", selftest::SIGNATURE, kernel.name())?;
        }
        Ok(if answer.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
