//! `chuhe judge` with a closed pipe, a full disk, and unusual files of cases. Its usual output is
//! in `tests/cmd`.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

const GOOD: &str = include_str!("cmd/batch.in/good.jsonl");
const WRONG: &str = include_str!("cmd/batch.in/wrong.jsonl");

fn batch(file: &PathBuf) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    command.args(["judge", "--threads", "1", "--batch"]).arg(file);
    command
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

fn answer(output: &Output) -> (Option<i32>, &str, &str) {
    let text = |bytes| str::from_utf8(bytes).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn known_failures_set_the_exit_status_after_a_broken_pipe() {
    // More than any pipe holds.
    let wrong = file("many-wrong.jsonl", &WRONG.repeat(3_000));
    let mut child = batch(&wrong).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "line 1: not a draw: expected draw, judged red_loses\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(answer(&output), (Some(1), "", ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let few = file("few.jsonl", GOOD);
    let many = file("many-wrong-too.jsonl", &WRONG.repeat(3_000));
    for cases in [few, many] {
        let output = batch(&cases).stdout(full()).output().unwrap();
        let expected = "chuhe: standard output: No space left on device (os error 28)\n";
        assert_eq!(answer(&output), (Some(2), "", expected));
    }
}

#[test]
fn a_byte_order_mark_at_the_beginning_is_passed_over() {
    let marked = file("marked.jsonl", &format!("\u{feff}{GOOD}"));
    let output = batch(&marked).output().unwrap();
    assert_eq!(answer(&output), (Some(0), "2 passed, 0 failed\n", ""));
    let line = GOOD.lines().next().unwrap();
    let inside = file("marked-inside.jsonl", &format!("{line}\n\u{feff}{line}\n"));
    let output = batch(&inside).output().unwrap();
    let (status, _, complaint) = answer(&output);
    assert_eq!(status, Some(2));
    assert!(complaint.ends_with("line 2: not a case: not an object, which begins with `{`\n"), "{complaint}");
}

#[test]
fn a_file_without_cases_shows_nothing() {
    for (name, text) in [("empty.jsonl", ""), ("blank.jsonl", "\n \n"), ("mark.jsonl", "\u{feff}")] {
        let output = batch(&file(name, text)).output().unwrap();
        let (status, sum, complaint) = answer(&output);
        assert_eq!((status, sum), (Some(2), "0 passed, 0 failed\n"));
        assert!(complaint.ends_with(&format!("{name}: no cases\n")), "{complaint}");
    }
}
