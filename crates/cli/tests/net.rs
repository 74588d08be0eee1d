//! `chuhe net` on sound nets.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// Creates a folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("net-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

fn chuhe(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chuhe")).arg("net").args(arguments).output().unwrap()
}

fn answers(arguments: &[&str]) -> Vec<Value> {
    let output = chuhe(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_net_is_written_described_and_found_sound() {
    let folder = folder("sound");
    let file = folder.join("small.nnue");
    let path = file.to_str().unwrap();
    let written = chuhe(&["untrained", path, "--width", "128", "--stacks", "2", "--seed", "5"]);
    assert!(written.status.success(), "{written:?}");
    let hash = String::from_utf8(written.stdout).unwrap().split_whitespace().next().unwrap().to_owned();

    let info = &answers(&["info", path, "--json"])[0];
    assert_eq!(info["hash"], hash.as_str());
    assert_eq!(["width", "first", "second", "stacks"].map(|size| info[size].as_u64().unwrap()), [128, 16, 32, 2]);
    assert_eq!(info["inputs"], "kings");
    assert_eq!(info["bytes"], fs::metadata(&file).unwrap().len());
    assert_eq!(answers(&["check", path, "--json"])[0]["hash"], hash.as_str());

    let with_attackers = folder.join("with_attackers.nnue");
    let path_with_attackers = with_attackers.to_str().unwrap();
    chuhe(&["untrained", path_with_attackers, "--width", "128", "--stacks", "2", "--inputs", "kings-attackers"]);
    assert_eq!(answers(&["info", path_with_attackers, "--json"])[0]["inputs"], "kings-attackers");
    assert_eq!(answers(&["check", path_with_attackers, "--json"])[0]["sound"], true);
    fs::remove_file(with_attackers).unwrap();

    // Equal seeds give equal files; another seed gives another.
    let again = folder.join("again.nnue");
    chuhe(&["untrained", again.to_str().unwrap(), "--width", "128", "--stacks", "2", "--seed", "5"]);
    assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap());
    let other = folder.join("other.nnue");
    chuhe(&["untrained", other.to_str().unwrap(), "--width", "128", "--stacks", "2", "--seed", "6"]);
    assert_ne!(fs::read(&file).unwrap(), fs::read(&other).unwrap());
    // An existing file is not overwritten, and no partial file stays.
    let over = chuhe(&["untrained", path, "--width", "128", "--stacks", "2", "--seed", "6"]);
    assert_eq!(over.status.code(), Some(2));
    assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_net_that_demonstrations_begin_with_is_made_by_this_command() {
    let folder = folder("material");
    let file = folder.join("material.nnue");
    let sizes = ["--width", "128", "--first", "8", "--second", "8", "--stacks", "1"];
    let made = chuhe(&[&["untrained", file.to_str().unwrap(), "--only-material"][..], &sizes].concat());
    assert!(made.status.success(), "{made:?}");
    let kept = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../nets/material.nnue")).unwrap();
    assert!(fs::read(&file).unwrap() == kept);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_net_that_knows_pieces_misses_a_chariot() {
    let folder = folder("eval");
    let file = folder.join("small.nnue");
    let path = file.to_str().unwrap();
    assert!(chuhe(&["untrained", path, "--width", "128"]).status.success());
    let board = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/1NBAKABNR";
    let (red, black) = (format!("{board} w"), format!("{board} b"));
    let opinions = answers(&["eval", path, "--fen", &red, "--fen", &black, "--json"]);
    assert_eq!(opinions.len(), 2);
    for (opinion, sign) in opinions.iter().zip([1, -1]) {
        let score = opinion["score"].as_i64().unwrap();
        assert_eq!(opinion["red"].as_i64().unwrap(), sign * score);
        assert!((-1100..-700).contains(&(sign * score)), "{opinion}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn one_damaged_net_among_several_is_named() {
    let folder = folder("damaged");
    let [whole, cut] = ["whole.nnue", "cut.nnue"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    assert!(chuhe(&["untrained", &whole, "--width", "128"]).status.success());
    let mut bytes = fs::read(&whole).unwrap();
    bytes.pop();
    fs::write(&cut, bytes).unwrap();
    let output = chuhe(&["check", &cut, &whole]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with(&format!("refused  {cut}: the net ends after ")), "{text}");
    assert!(lines[1].starts_with(&format!("sound    {whole}: ")), "{text}");
    fs::remove_dir_all(folder).unwrap();
}
