//! Errors of a command line in plain words.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::ffi::OsString;

use clap::Parser;

/// Plays
#[derive(Debug, Parser)]
#[command(name = "play")]
struct Program {
    #[arg(long)]
    games: Option<u64>,
    #[arg(long)]
    pairs: Option<usize>,
    #[arg(long)]
    rate: Option<f64>,
    #[arg(long, value_parser = ["fast", "slow"])]
    speed: Option<String>,
}

fn error(arguments: &[&str]) -> String {
    let line = ["play"].iter().chain(arguments).map(OsString::from);
    let error = command_line::parse_from::<Program>(line).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

#[test]
fn a_number_that_cannot_be_read_is_named_with_its_argument() {
    for (option, wanted) in [("--games", "a whole number"), ("--pairs", "a whole number"), ("--rate", "a number")] {
        let text = error(&[option, "many"]);
        let name = option.trim_start_matches('-').to_uppercase();
        let sentence = format!("error: invalid value 'many' for '{option} <{name}>': {wanted} is wanted\n");
        assert!(text.starts_with(&sentence), "{text}");
    }
}

#[test]
fn other_errors_stay_as_they_are() {
    assert!(error(&["--speed", "lazy"]).contains("[possible values: fast, slow]"));
    assert!(error(&["--gamse", "1"]).contains("'--games'"));
}
