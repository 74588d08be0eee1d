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

/// The status is that of the whole file, although only its first line was read.
#[test]
fn cases_behind_a_broken_pipe_are_judged() {
    let passes = "{\"name\":\"a\",\"moves\":\"C2=5; maybe\",\"expected\":\"none\"}\n";
    let file = file("many-skipped.jsonl", &(passes.repeat(3_000) + WRONG));
    let mut child = batch(&file).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "line 1: a: passed\n");
    assert_eq!(answer(&child.wait_with_output().unwrap()), (Some(1), "", ""));
}

fn pgn(file: &PathBuf, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    command.args(["judge", "--threads", "1", "--pgn"]).arg(file).args(more);
    command
}

/// The status is that of the whole file, although only its first line was read.
#[test]
fn games_behind_a_broken_pipe_are_judged() {
    let agrees = format!("1. h2e2 {{{}}} h9g7 *\n\n", "x".repeat(10_000));
    for (last, status) in [("", 0), (include_str!("cmd/games.in/differs.pgn"), 1), ("1. h2e2 h9g5 *\n", 2)] {
        // More than any pipe and chunk holds.
        let file = file(&format!("many-{status}.pgn"), &(agrees.repeat(1_000) + last));
        let mut child = pgn(&file, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.ends_with("line 1, game 1: agrees: claimed ongoing, ongoing after 2 plies\n"), "{line}");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(status));
    }
}

#[test]
fn skipped_parts_and_hints_are_listed_game_by_game() {
    let text = "[Result \"1-O\"]\n1. h2e2 {好} 7 h9g7 *\n\n\
                [FEN \"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b\"]\n1. 炮二平五 *\n";
    let file = file("skipped.pgn", text);
    let output = pgn(&file, &[]).output().unwrap();
    let (status, shown, _) = answer(&output);
    let parts: Vec<_> = shown.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let hint = "hint: all numerals are the other side's (Red's are Chinese, Black's Arabic): Black moves first in the \
                position, and the text begins with Red";
    assert_eq!(
        parts,
        [
            "skipped tag `[Result \"1-O\"]` at line 1, column 1",
            "skipped comment `{好}` at line 2, column 9",
            "skipped number `7` at line 2, column 13",
            hint
        ]
    );
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("skipped: 1 comments, 0 variations, 0 glyphs, 2 others\n"), "{shown}");
    let output = pgn(&file, &["--json"]).output().unwrap();
    let lines: Vec<serde_json::Value> =
        answer(&output).1.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["skipped"][2], serde_json::json!({ "kind": "number", "line": 2, "column": 13, "text": "7" }));
    assert_eq!((&lines[1]["hint"], lines[1].get("skipped")), (&hint[6..].into(), None));
    assert_eq!(lines[2]["skipped_others"], 2);
    let output = pgn(&file, &["--brief"]).output().unwrap();
    assert!(!answer(&output).1.contains("  skipped") && answer(&output).1.contains("2 others"), "{output:?}");
}

#[test]
fn files_in_gbk_are_read_and_others_are_refused_in_a_sentence() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gbk.pgn");
    // `[Event "赛"] 1. 炮二平五 红胜`.
    fs::write(&path, b"[Event \"\xc8\xfc\"]\n1. \xc5\xda\xb6\xfe\xc6\xbd\xce\xe5 \xba\xec\xca\xa4\n").unwrap();
    let output = pgn(&path, &["--brief"]).output().unwrap();
    let (status, shown, notes) = answer(&output);
    assert!(shown.contains("undecided: claimed red_wins, ongoing after 1 ply"), "{shown}");
    assert_eq!((status, notes), (Some(0), format!("{}: read as GBK\n", path.display()).as_str()));
    // As moves on standard input too.
    let mut judge = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    let judge = judge.args(["judge", "--moves", "-"]).stdin(File::open(&path).unwrap());
    let output = judge.output().unwrap();
    let (status, shown, notes) = answer(&output);
    assert!(shown.contains("the text claims: red_wins"), "{shown}");
    assert_eq!((status, notes), (Some(0), "standard input: read as GBK\n"));
    fs::write(&path, b"1. h2e2 \xff *\n").unwrap();
    let output = pgn(&path, &[]).output().unwrap();
    let (status, shown, _) = answer(&output);
    assert!(shown.contains("refused: line 1, column 9: a byte that is neither UTF-8 nor GBK"), "{shown}");
    assert_eq!(status, Some(2));
}

/// One game is refused with its place; the others are judged.
#[test]
fn an_open_bracket_costs_one_game() {
    let games =
        "[Event \"a\"]\n\n1. h2e2 {an open remark\nh9g7 1-0\n\n[Event \"b\"]\n\n1. b2e2 b9c7 {Red resigns} 1-0\n";
    let file = file("open-bracket.pgn", games);
    let output = pgn(&file, &["--brief"]).output().unwrap();
    let (status, shown, _) = answer(&output);
    assert!(shown.contains("game 1: refused: line 3, column 9: the bracket of `{an open remark"), "{shown}");
    assert!(shown.contains("2 games: 0 agree, 0 differ, 1 undecided, 1 refused"), "{shown}");
    assert_eq!(status, Some(2));
    // A file that ends the command does not take the sum with it.
    let output = pgn(&file, &["no-such.pgn"]).output().unwrap();
    let (status, shown, complaint) = answer(&output);
    assert!(shown.contains("2 games: ") && complaint.contains("no-such.pgn"), "{shown}{complaint}");
    assert_eq!(status, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let few = file("few.jsonl", GOOD);
    let many = file("many-wrong-too.jsonl", &WRONG.repeat(3_000));
    for cases in [few, many] {
        let output = batch(&cases).stdout(full()).output().unwrap();
        let expected = "chuhe: standard output: the disk is full\n";
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
