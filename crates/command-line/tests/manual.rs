//! The manual of a program with a subcommand.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{fs, path::Path};

use clap::{CommandFactory as _, Parser, Subcommand};

/// Judges games
#[derive(Parser)]
#[command(name = "judge")]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Manual(command_line::Manual),
}

fn write(folder: &Path) -> anyhow::Result<()> {
    let Command::Manual(manual) = Program::parse_from(["judge", "manual", folder.to_str().unwrap()]).command;
    manual.run(Program::command())
}

#[test]
fn each_command_has_a_page_and_each_shell_its_completions() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path()).unwrap();
    for (file, text) in [
        ("man/man1/judge.1", "Judges games"),
        ("man/man1/judge-manual.1", "laid out like /usr/share"),
        ("bash-completion/completions/judge", "manual"),
        ("fish/vendor_completions.d/judge.fish", "manual"),
        ("powershell/judge.ps1", "manual"),
        ("zsh/site-functions/_judge", "manual"),
    ] {
        let found = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(found.contains(text), "{file}: {found}");
    }
}

#[test]
fn a_folder_that_is_a_file_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = write(file.path()).unwrap_err();
    assert!(error.to_string().contains(file.path().to_str().unwrap()), "{error}");
}
