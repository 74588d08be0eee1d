//! `chuhe tune`: a function of its settings, resumed after a kill.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// A path that does not exist yet.
fn new_file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

fn tune(state: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    command.args(["tune", "lmr_base=600", "futility_base=80", "--iterations", "6", "--pairs", "2", "--nodes", "100"]);
    command.args(["--rate", "0.05", "--random-plies", "4", "--opening-bound", "2000", "--hash", "1"]);
    command.args(["--ply-cap", "120", "--json", "--state"]);
    command.arg(state).args(more).output().unwrap()
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_resumed_run_ends_as_an_uninterrupted_one() {
    let (whole, killed) = (new_file("tune-whole.jsonl"), new_file("tune-killed.jsonl"));
    let chart = new_file("tune.svg");
    let expected = answer(&tune(&whole, &["--chart", chart.to_str().unwrap()]));
    assert_eq!((&expected["iterations"], &expected["games"]), (&6.into(), &24.into()));
    let starts = ["lmr_base", "futility_base"].map(|name| expected["values"][name]["start"].clone());
    let defaults = ["lmr_base", "futility_base"].map(|name| engine::tune::Parameter::find(name).unwrap().default);
    assert_eq!(starts, defaults);
    assert!(fs::read_to_string(&chart).unwrap().contains(&format!(">futility_base {} → ", defaults[1])));

    // Two threads until the kill, in the middle of a line.
    let text = fs::read_to_string(&whole).unwrap();
    let third = text.match_indices('\n').nth(3).unwrap().0;
    fs::write(&killed, &text[..third + 9]).unwrap();
    assert_eq!(answer(&tune(&killed, &["--threads", "2"])), expected);
    assert_eq!(fs::read_to_string(&killed).unwrap(), text);
    // A finished run is only reported.
    assert_eq!(answer(&tune(&killed, &[])), expected);
    // Games moved the values, or nothing was tested.
    assert_ne!(expected["parameters"], "");

    let other = tune(&killed, &["--seed", "2"]);
    assert_eq!(other.status.code(), Some(2));
    let message = String::from_utf8(other.stderr).unwrap();
    assert!(message.ends_with(": it is of another run: seed is 1 there and 2 here\n"), "{message}");
}
