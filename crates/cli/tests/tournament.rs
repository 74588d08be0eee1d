//! Tournaments: the schedule, the record, and a resumed tournament, which ends like any other.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use selfplay::pgn;
use serde_json::Value;

const CHUHE: &str = env!("CARGO_BIN_EXE_chuhe");

/// A folder for the files of a test, empty.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

/// The command of a tournament of four with two pairs in each encounter.
fn tournament(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(CHUHE);
    command.current_dir(folder).arg("tournament");
    for engine in ["plain", "published", "plain", "plain"] {
        command.args(["--engine", engine]);
    }
    command.args(["--nodes", "100", "--hash", "1", "--pairs", "2", "--ply-cap", "60", "--json"]);
    command.args(["--record", "record", "--pgn", "games.pgn"]).args(more);
    command
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Round, Red and Black of the games, in the order of the file.
fn played(folder: &Path) -> Vec<String> {
    let games = pgn::read(&fs::read_to_string(folder.join("games.pgn")).unwrap()).unwrap();
    let tag = |game: &pgn::PgnGame, name: &str| game.tag(name).unwrap().to_owned();
    games.iter().map(|game| ["Round", "Red", "Black"].map(|name| tag(game, name)).join(" ")).collect()
}

#[test]
fn a_round_robin_follows_the_tables_and_is_resumed_wherever_it_was_cut() {
    let folder = folder("tournament");
    let whole = answer(&tournament(&folder, &["--html", "table.html"]).output().unwrap());
    let all = played(&folder);
    assert_eq!(all.len(), 6 * 4);
    let names: Vec<_> =
        whole["tournament"]["engines"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!((names[0], names[2], names[3]), ("plain", "plain (3)", "plain (4)"));
    // The table of four: 1-4 2-3, 4-3 1-2, 2-4 3-1. Colours are swapped within a pair.
    let expected = [(1, 0, 3), (1, 1, 2), (2, 3, 2), (2, 0, 1), (3, 1, 3), (3, 2, 0)];
    for (games, (round, red, black)) in all.chunks(4).zip(expected) {
        let (one, other) = (names[red], names[black]);
        assert_eq!(games[0], format!("{round}.1.1 {one} {other}"));
        assert_eq!(games[1], format!("{round}.1.2 {other} {one}"));
        assert_eq!(games[3], format!("{round}.2.2 {other} {one}"));
    }
    let points = |row: &Value| row["points"].as_u64().unwrap();
    let standings = whole["standings"].as_array().unwrap();
    assert_eq!(standings.iter().map(points).sum::<u64>(), 2 * 24, "{whole}");
    assert!(standings.is_sorted_by_key(|row| std::cmp::Reverse(points(row))), "{whole}");
    let page = fs::read_to_string(folder.join("table.html")).unwrap();
    assert_eq!(page.matches("<tr>").count(), 5, "{page}");

    // All encounters have the same openings.
    let games = pgn::read(&fs::read_to_string(folder.join("games.pgn")).unwrap()).unwrap();
    let opening = |index: usize| games[index].moves[..6].iter().map(|(mv, _)| mv.to_string()).collect::<Vec<_>>();
    assert!((0..24).all(|index| opening(index) == opening(index % 4)) && opening(0) != opening(2));

    // Cut anywhere: within a line, after a line, within the first one.
    let record = fs::read(folder.join("record")).unwrap();
    for cut in [0, 10, record.len() / 2, record.len() - 1, record.len()] {
        fs::write(folder.join("record"), &record[..cut]).unwrap();
        if record[..cut].iter().all(|byte| *byte != b'\n') {
            fs::remove_file(folder.join("games.pgn")).unwrap();
        }
        let again = answer(&tournament(&folder, &["--threads", "2"]).output().unwrap());
        assert_eq!(again, whole, "cut at {cut}");
        assert_eq!(played(&folder), all, "cut at {cut}");
    }

    // Another tournament's record is refused, and so is a PGN file that lost games.
    let refused = tournament(&folder, &["--seed", "2"]).output().unwrap();
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{complaint}");
    assert!(complaint.starts_with("chuhe: --record: record: the record is of another tournament: its terms is "));
    fs::write(folder.join("games.pgn"), "").unwrap();
    let refused = tournament(&folder, &[]).output().unwrap();
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("--pgn: games.pgn has 0 bytes, but the record knows of "), "{complaint}");
}

#[test]
fn a_killed_tournament_is_resumed() {
    let folder = folder("tournament_killed");
    let gauntlet = ["--kind", "gauntlet"];
    let whole = answer(&tournament(&folder, &gauntlet).output().unwrap());
    let all = played(&folder);
    assert_eq!((all.len(), whole["encounters"].as_array().unwrap().len()), (3 * 4, 3));
    assert!(all.iter().all(|game| game.split_once(' ').unwrap().1.contains("plain")));
    for file in ["record", "games.pgn"] {
        fs::remove_file(folder.join(file)).unwrap();
    }
    let lines = || fs::read_to_string(folder.join("record")).unwrap_or_default().lines().count();
    let mut child = tournament(&folder, &gauntlet).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while lines() < 2 && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lines() >= 2);
    assert_eq!(answer(&tournament(&folder, &gauntlet).output().unwrap()), whole);
    assert_eq!(played(&folder), all);
}
