//! The project's checks: `cargo xtask check` is what CI runs, `cargo xtask language` holds the
//! sources against the glossary, `cargo xtask modules` the coordinator's modules against their
//! design. `scripts/check` is a thin entry that installs a compiler first.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a command line speaks to people

mod check;
mod documentation;
mod language;
mod modules;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's checks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check format, lints, tests, documentation, language, licences
    Check(check::Arguments),
    /// Build the documentation of the crates, with a landing page
    Doc(documentation::Arguments),
    /// Check words, sentences and line widths against docs/GLOSSARY.md
    Language(language::Arguments),
    /// Check the modules of the coordinator: no import circle, SQL only in the store
    Modules(modules::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Doc(arguments) => documentation::run(&arguments),
        Command::Language(arguments) => language::run(&arguments),
        Command::Modules(arguments) => modules::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root").to_path_buf()
}
