//! `chuhe data` on files: verification, recovery, export and import.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use dataset::{
    Reason,
    shard::{self, Shard, ShardWriter},
};
use serde_json::Value;
use xiangqi::notation::Notation;

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dataset/tests/data/selfplay-64.chuhe");

/// Creates an empty folder.
fn new_folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn data(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chuhe")).arg("data").args(arguments).current_dir(folder).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A user learns what to do from each.
#[test]
fn a_network_error_names_its_remedy() {
    let folder = new_folder("data-fetch");
    let hash = "0".repeat(64);
    let fails = |server: &str, says: String| {
        let output = data(&folder, &["fetch", &hash, "--server", server, "--tries", "1"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error), (Some(2), format!("chuhe: {says}\n")));
    };
    let closed = "http://127.0.0.1:1";
    let asks = "is the address right, and does the server run?";
    fails(closed, format!("no server answers at {closed} (connection refused); {asks}"));
    // A label of 64 letters is in no name server, and none is asked.
    let host = format!("{}.invalid", "a".repeat(64));
    let asks = "is the address right, and is this machine online?";
    fails(&format!("http://{host}"), format!("there is no host `{host}`; {asks}"));
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = plain.local_addr().unwrap();
    let answering = thread::spawn(move || {
        let (mut stream, _) = plain.accept()?;
        let _ = stream.read(&mut [0; 4096])?;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    });
    fails(&format!("https://{place}"), format!("https://{place} speaks no TLS; is http://{place} meant?"));
    answering.join().unwrap().unwrap();
}

#[cfg(unix)]
#[test]
fn an_interrupted_fetch_says_how_it_continues() {
    let folder = new_folder("data-fetch-interrupted");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", silent.local_addr().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    command.args(["data", "fetch", &"0".repeat(64), "--server", &server, "--out", "here"]).current_dir(&folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _connection = silent.accept().unwrap();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = "\nchuhe: interrupted: what was fetched stays in here; the same command continues\n";
    assert_eq!((output.status.code(), said.as_str()), (Some(130), expected));
}

/// The commands whose only output is at their end said nothing, and died by the signal.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_command_says_that_nothing_was_written() {
    let folder = new_folder("interrupted");
    // Opening it as a file waits for a writer.
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
    let nothing = "nothing was written";
    for (arguments, says) in [
        ("data verify pipe", nothing),
        ("data stats pipe", nothing),
        ("data sample pipe --quiet", nothing),
        ("data sample pipe", "the printed positions are only the first"),
        ("data recover pipe --out whole.chuhe", nothing),
        ("data dump pipe", "the printed games are only the first; the same command begins again"),
        ("data certificate pipe", "the certificate was not verified; the same command begins again"),
        ("judge --batch pipe", "not all was judged; the same command begins again"),
        ("judge --pgn pipe", "not all was judged; the same command begins again"),
        ("judge --moves -", "not all was judged; the same command begins again"),
        ("bench --depth 64", nothing),
        ("perft --depth 32", nothing),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
        command.args(arguments.split(' ')).current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        // Waiting for the end would close it.
        let _input = child.stdin.take();
        // It runs until the signal, which the second thread waits for.
        let threads = format!("/proc/{}/task", child.id());
        while fs::read_dir(&threads).unwrap().count() < 2 {
            thread::yield_now();
        }
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        let expected = format!("\nchuhe: interrupted: {says}\n");
        assert_eq!((output.status.code(), error), (Some(130), expected), "{arguments}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no partial file is left");
}

/// A position takes long at this depth: the line comes before the first is searched.
#[cfg(target_os = "linux")]
#[test]
fn a_bench_counts_on_a_terminal_until_it_is_interrupted() {
    let spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    let mut command = Command::new("python3");
    command.args(["-c", spawn, env!("CARGO_BIN_EXE_chuhe"), "bench", "--depth", "64"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut shown = Vec::new();
    let mut output = child.stdout.take().unwrap();
    let mut read = |shown: &mut Vec<u8>| {
        let mut part = [0; 4096];
        let size = output.read(&mut part).unwrap();
        shown.extend(&part[..size]);
        size > 0
    };
    while !String::from_utf8_lossy(&shown).contains("positions 0/") {
        assert!(read(&mut shown), "{shown:?}");
    }
    let mut keyboard = child.stdin.take().unwrap();
    keyboard.write_all(b"\x03").unwrap();
    while read(&mut shown) {}
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.ends_with("\r\nchuhe: interrupted: nothing was written\r\n"), "{shown:?}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_device_as_output_names_standard_output() {
    let folder = new_folder("data-export-device");
    let output = data(&folder, &["export", GAMES, "--format", "jsonl", "--out", "/dev/null"]);
    let error = String::from_utf8(output.stderr).unwrap();
    let expected = "chuhe: --out: /dev/null exists already; nothing is written over; \
                    `--out -` writes to standard output\n";
    assert_eq!((output.status.code(), error.as_str()), (Some(2), expected));
}

#[test]
fn a_truncated_file_is_rejected_and_recovered() {
    let folder = new_folder("data-recover");
    let bytes = fs::read(GAMES).unwrap();
    fs::write(folder.join("cut.chuhe"), &bytes[..bytes.len() - 1]).unwrap();
    let output = data(&folder, &["verify", "cut.chuhe"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaint.starts_with("chuhe: cut.chuhe: no footer at the end") && complaint.lines().count() == 1,
        "{complaint}"
    );
    let answer: Value =
        serde_json::from_str(&text(&data(&folder, &["recover", "cut.chuhe", "--out", "saved.chuhe", "--json"])))
            .unwrap();
    assert_eq!((&answer["games"], &answer["positions"]), (&64.into(), &9836.into()));
    assert_eq!(fs::read(folder.join("saved.chuhe")).unwrap(), bytes);
    // Existing files are not overwritten.
    assert_eq!(data(&folder, &["recover", "cut.chuhe", "--out", "saved.chuhe"]).status.code(), Some(2));
}

/// Plays games of the plain evaluation; returns the folder and the shard.
fn played(name: &str, games: u32, rules: &str) -> (PathBuf, PathBuf) {
    let folder = new_folder(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    let settings = format!("selfplay --games {games} --nodes 100 --seed 3 --rules {rules} --out {rules}");
    assert!(command.args(settings.split(' ')).current_dir(&folder).output().unwrap().status.success());
    let shard = folder.join(format!("{rules}/games-seed3-{games}.chuhe"));
    (folder, shard)
}

#[test]
fn the_player_labels_its_games_as_it_did() {
    let (folder, shard) = played("data-relabel", 6, "cxr");
    let label = |words: &str| {
        data(&folder, &[&["relabel", shard.to_str().unwrap()][..], &words.split(' ').collect::<Vec<_>>()].concat())
    };
    let said = |words: &str| serde_json::from_str::<Value>(&text(&label(words))).unwrap();
    let file = |folder_name: &str| fs::read(folder.join(folder_name).join("games-seed3-6.chuhe")).unwrap();
    assert_eq!(said("--out same --threads 2 --json")["games"], 6);
    assert_eq!(file("same"), fs::read(&shard).unwrap());
    text(&label("--out deeper --nodes 300"));
    text(&label("--out again --nodes 300 --threads 3"));
    assert_eq!(file("deeper"), file("again"));
    let [before, after] =
        ["same", "deeper"].map(|name| shard::open(folder.join(name).join("games-seed3-6.chuhe")).unwrap());
    let (mut moves, mut scores) = (0, 0);
    for (one, other) in before.records().zip(after.records()) {
        let (one, other) = (one.unwrap().1, other.unwrap().1);
        assert_eq!((one.outcome, one.reason, one.moves.len()), (other.outcome, other.reason, other.moves.len()));
        for (one, other) in one.moves.iter().zip(&other.moves) {
            assert_eq!(one.mv, other.mv);
            (moves, scores) = (moves + 1, scores + u32::from(one.score != other.score));
        }
    }
    assert!(scores * 2 > moves, "{scores} of {moves} scores differ");
    let kept = said("--out deeper --nodes 300 --json");
    assert_eq!((&kept["games"], &kept["kept_files"]), (&0.into(), &1.into()));
    let settings = |name: &str| shard::open(folder.join(name).join("games-seed3-6.chuhe")).unwrap().header().settings;
    text(&label("--out soft --soft-nodes 50"));
    assert_eq!((settings("soft").hard_nodes, settings("soft").soft_nodes), (100, Some(50)));
    text(&data(&folder, &["relabel", "soft/games-seed3-6.chuhe", "--nodes", "300", "--out", "hard"]));
    assert_eq!((settings("hard").hard_nodes, settings("hard").soft_nodes), (300, None));
    assert_eq!(file("hard"), file("deeper"));
    let refuses = |arguments: &[&str], error: &str| {
        let refused = data(&folder, arguments);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((refused.status.code(), said), (Some(2), format!("chuhe: {error}\n")));
    };
    let (deeper, soft) = ("deeper/games-seed3-6.chuhe", "soft/games-seed3-6.chuhe");
    refuses(&["relabel", soft, "--out", "deeper"], &format!("{deeper}: a file with other labels is there already"));
    refuses(&["relabel", soft, deeper, "--out", "new"], &format!("{soft} and {deeper} have the same name"));
    assert!(!folder.join("new").exists());
}

#[test]
fn games_that_were_played_blind_get_right_results() {
    let (folder, shard) = played("data-relabel-blind", 40, "simple");
    let arguments =
        ["relabel", shard.to_str().unwrap(), "--rules", "cxr", "--out", "right", "--threads", "2", "--json"];
    let said: Value = serde_json::from_str(&text(&data(&folder, &arguments))).unwrap();
    assert!(said["other_outcomes"].as_u64().unwrap() > 0, "{said}");
    assert_eq!(said["lost_results"], 0, "where the simple rules end a game, so do the others");
    let right = shard::open(folder.join("right/games-seed3-40.chuhe")).unwrap();
    assert!(right.records().any(|game| game.unwrap().1.reason.name() == "perpetual_check"));
}

#[test]
fn every_fault_is_a_line_with_game_and_ply() {
    let folder = new_folder("data-verify");
    let shard = Shard::new(fs::read(GAMES).unwrap()).unwrap();
    let mut writer = ShardWriter::new(Vec::new(), shard.header().clone()).unwrap();
    let mut expected = String::new();
    for (number, mut record) in shard.records().map(Result::unwrap) {
        if number % 20 == 3 {
            let reason = record.reason;
            record.reason = if reason == Reason::PlyCap { Reason::AdjudicatedDraw } else { Reason::PlyCap };
            let (ply, outcome) = (record.opening.moves.len() + record.moves.len(), record.outcome);
            writeln!(
                expected,
                "wrong.chuhe: game {number} ply {ply}: recorded {outcome} by ply_cap; it is {outcome} by {reason}"
            )
            .unwrap();
        }
        writer.add(&record).unwrap();
    }
    fs::write(folder.join("wrong.chuhe"), writer.finish().unwrap().0).unwrap();
    let output = data(&folder, &["verify", "wrong.chuhe", "--threads", "3"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.starts_with(&expected) && printed.ends_with("64 games with 9836 positions, 4 faults\n"),
        "{printed}"
    );
    assert!(text(&data(&folder, &["verify", GAMES])).ends_with("64 games with 9836 positions, 0 faults\n"));
}

#[test]
fn games_are_exported_in_every_format() {
    let folder = new_folder("data-export");
    for format in ["jsonl", "csv", "pgn", "sfen", "parquet"] {
        assert_eq!(text(&data(&folder, &["export", GAMES, "--format", format, "--out", format])), "64 games\n");
    }
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let shard = Shard::new(fs::read(GAMES).unwrap()).unwrap();
    let lines: Vec<Value> = read("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (number, record) in shard.records().map(Result::unwrap) {
        let line = &lines[number as usize];
        assert_eq!(
            (&line["digest"], &line["reason"]),
            (&record.digest().to_string().into(), &record.reason.name().into())
        );
    }
    let games = selfplay::pgn::read(&read("pgn")).unwrap();
    let record = shard.game(9).unwrap();
    let moves: Vec<_> = record.opening.moves.iter().copied().chain(record.moves.iter().map(|it| it.mv)).collect();
    assert_eq!(games.len(), 64);
    assert_eq!(games[9].moves.iter().map(|(mv, _)| *mv).collect::<Vec<_>>(), moves);
    assert_eq!(games[9].outcome, Some(record.outcome));
    // The score in pawns, and nothing that is not recorded.
    let comments = record.opening.moves.iter().map(|_| "opening".to_owned());
    let scores =
        record.moves.iter().map(|it| it.score.map_or(String::new(), |it| format!("{:+.2}", f64::from(it) / 100.0)));
    assert!(games[9].moves.iter().map(|(_, comment)| comment).eq(comments.chain(scores).collect::<Vec<_>>().iter()));
    let csv = read("csv");
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 9836);
    // A round trip through sfen records keeps the positions.
    assert_eq!(text(&data(&folder, &["import", "sfen", "--out", "back.jsonl"])), "9836 positions\n");
    for (line, row) in read("back.jsonl").lines().zip(&rows) {
        let line: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| line[name].to_string().trim_matches('"').to_owned();
        assert_eq!(["ply", "fen", "move", "score", "result"].map(field), [row[1], row[2], row[3], row[4], row[5]]);
    }
    // A round trip through PGN keeps positions, scores and results; adjudicated games claim theirs.
    let sum = text(&data(&folder, &["import", "pgn", "--format", "pgn", "--out", "games.jsonl", "--json"]));
    let sum: Value = serde_json::from_str(&sum).unwrap();
    assert_eq!((&sum["games"], &sum["positions"], &sum["differ"]), (&64.into(), &9836.into(), &0.into()));
    for (line, row) in read("games.jsonl").lines().zip(&rows) {
        let line: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| line[name].to_string().trim_matches('"').to_owned();
        assert_eq!(["ply", "fen", "move", "score"].map(field), [row[1], row[2], row[3], row[4]]);
        assert_eq!(line["game"], row[0].parse::<u64>().unwrap() + 1);
        let (result, reason) = if row[6] == "ply_cap" { ("null", "null") } else { (row[5], row[6]) };
        assert_eq!(field("result"), result);
        assert!(field("reason") == reason || reason.starts_with("adjudicated") && field("reason") == "claimed");
    }
    let into = ["import", "pgn", "--format", "pgn", "--to", "sfen", "--out", "records"];
    data(&folder, &into);
    let labelled = rows.iter().filter(|row| row[6] != "ply_cap" && !row[4].is_empty()).count();
    let (records, sfen) = (fs::read(folder.join("records")).unwrap(), fs::read(folder.join("sfen")).unwrap());
    assert_eq!((records.len(), records == sfen), (labelled * 72, true));
    let parquet = fs::read(folder.join("parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

/// Standard output holds the games alone, and judging reads what was written.
#[test]
fn games_go_to_standard_output_in_every_notation() {
    let folder = new_folder("data-notations");
    for notation in Notation::ALL.map(Notation::name).into_iter().chain(["chinese"]) {
        let output = data(&folder, &["export", GAMES, "--format", "pgn", "--notation", notation, "--out", "-"]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "64 games\n");
        let file = folder.join(notation);
        let file_argument = file.to_str().unwrap();
        let again = ["export", GAMES, "--format", "pgn", "--notation", notation, "--out", file_argument];
        assert_eq!(text(&data(&folder, &again)), "64 games\n");
        assert_eq!(text(&output).into_bytes(), fs::read(&file).unwrap(), "the same bytes every time");
        let judged = Command::new(env!("CARGO_BIN_EXE_chuhe")).args(["judge", "--pgn"]).arg(&file).output().unwrap();
        assert!(text(&judged).ends_with("\n64 games: 64 agree, 0 differ, 0 undecided, 0 refused\n"), "{notation}");
    }
    assert_eq!(fs::read(folder.join("chinese")).unwrap(), fs::read(folder.join("chinese_simplified")).unwrap());
    let output = data(&folder, &["export", GAMES, "--format", "csv", "--notation", "wxf", "--out", "-"]);
    let complaint = "chuhe: --notation: only `--format pgn` has a choice of notation\n";
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(2), complaint));
}

/// As in `chuhe data export … | head`, whatever the format.
#[test]
fn a_reader_that_leaves_is_no_error() {
    for format in ["jsonl", "csv", "pgn", "sfen", "parquet"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chuhe"))
            .args(["data", "export", GAMES, GAMES, GAMES, "--format", format, "--out", "-"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{format}: {output:?}");
    }
}

/// The games of outside runners (`dataset/tests/data/pgn`), compressed too.
#[test]
fn games_of_outside_runners_are_imported() {
    let folder = new_folder("data-import");
    let pgn = concat!(env!("CARGO_MANIFEST_DIR"), "/../dataset/tests/data/pgn");
    let [cchess, cutechess] = ["cchess", "cutechess"].map(|name| format!("{pgn}/{name}.pgn"));
    let into = |file: &str, out: &str| data(&folder, &["import", file, "--format", "pgn", "--out", out]);
    assert_eq!(
        text(&into(&cutechess, "scored")),
        "348 positions of 4 games: 348 with a score, 348 with a result\n\
         left out: 0 of openings, 0 without score and result, 0 after the end, 0 without one of the two\n\
         skipped: 0 comments without a score, 0 variations, 0 glyphs, 0 others\n"
    );
    assert_eq!(
        text(&into(&cchess, "bare")).lines().next(),
        Some("348 positions of 4 games: 0 with a score, 348 with a result")
    );
    let positions = |name: &str| {
        let read = fs::read_to_string(folder.join(name)).unwrap();
        let lines = read.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| ["fen", "move", "result"].map(|name| line[name].to_string())).collect::<Vec<_>>()
    };
    assert_eq!(positions("scored"), positions("bare"));
    let bytes = fs::read(&cutechess).unwrap();
    fs::write(folder.join("zst"), zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    fs::write(folder.join("gz"), gzip.finish().unwrap()).unwrap();
    for file in ["zst", "gz"] {
        into(file, &format!("{file}.jsonl"));
        assert_eq!(fs::read(folder.join(format!("{file}.jsonl"))).unwrap(), fs::read(folder.join("scored")).unwrap());
    }
    // Standard output holds the positions, and nothing else.
    let standard = into("gz", "-");
    assert_eq!(standard.stdout, fs::read(folder.join("scored")).unwrap());
    assert!(String::from_utf8(standard.stderr).unwrap().starts_with("348 positions of 4 games"));
    assert!(!folder.join("-").exists());
    let output = data(&folder, &["import", "gz", "--out", "none"]);
    assert_eq!(output.status.code(), Some(2));
    // The game, its line and the place in it.
    fs::write(folder.join("bad.pgn"), "1. h2e2 *\n\n[Event \"x\"]\n1. h2e2\nh9g5 *\n").unwrap();
    let output = into("bad.pgn", "none");
    assert_eq!(output.status.code(), Some(2));
    let error =
        "chuhe: bad.pgn, line 3, game 2: line 5, column 1: move 2: `h9g5`: Black's horse on h9 does not go to g5\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), error);
    fs::write(folder.join("cut"), &fs::read(folder.join("zst")).unwrap()[..2_000]).unwrap();
    assert_eq!(into("cut", "none").status.code(), Some(2));
    assert!(!folder.join("none").exists());
}

#[test]
fn bad_input_is_named_and_leaves_nothing_behind() {
    let folder = new_folder("data-bad");
    fs::write(folder.join("notes"), "no shard").unwrap();
    let rejected = |arguments: &[&str]| {
        let output = data(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["notes"], "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let not = "chuhe: notes: not a shard: it does not begin as one\n";
    assert_eq!(rejected(&["export", GAMES, "notes", "--format", "csv", "--out", "new/it"]), not);
    assert_eq!(rejected(&["recover", "notes", "--out", "it"]), not);
    let names_none = |what: &str| format!("chuhe: --out: `{what}` names no file\n");
    for out in [".", "..", "new/"] {
        assert_eq!(rejected(&["export", GAMES, "--format", "csv", "--out", out]), names_none(out));
    }
    // An endless file.
    #[cfg(unix)]
    assert_eq!(
        rejected(&["recover", "/dev/zero", "--out", "it"]),
        "chuhe: /dev/zero: not a shard: it does not begin as one\n"
    );
}

#[test]
fn counts_add_up_and_sets_have_names() {
    let folder = new_folder("data-stats");
    let answer: Value =
        serde_json::from_str(&text(&data(&folder, &["stats", GAMES, "--json", "--svg", "s.svg"]))).unwrap();
    let sum = |what: &str| answer[what].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum::<u64>();
    assert_eq!(["outcomes", "reasons", "lengths"].map(sum), [64; 3]);
    assert_eq!(answer["outcomes"].as_object().unwrap().len(), 3);
    assert_eq!(["scores", "pieces"].map(sum), [9836; 2]);
    assert_eq!(answer["bytes"], fs::metadata(GAMES).unwrap().len());
    assert!(answer["bytes_per_position"].as_f64().unwrap() < 1.6);
    assert!(fs::read_to_string(folder.join("s.svg")).unwrap().starts_with("<svg "));
    let printed = text(&data(&folder, &["manifest", GAMES, "--out", "set.json"]));
    let manifest =
        dataset::manifest::Manifest::from_text(&fs::read_to_string(folder.join("set.json")).unwrap()).unwrap();
    assert!(
        printed.ends_with(&format!("1 shards, 64 games, 9836 positions\nsha256 {}\n", manifest.hash())),
        "{printed}"
    );
    assert!(manifest.shards[0].scale_tenths.is_some_and(|scale| (1_000..10_000).contains(&scale)));
}
