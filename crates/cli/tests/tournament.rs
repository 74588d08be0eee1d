//! Tournaments: the schedule, the record, and a resumed tournament, which ends like any other.
//!
//! Outside engines are Fairy-Stockfish where it is installed, and ours in a process of its own.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use selfplay::pgn;
use serde_json::Value;

const CHUHE: &str = env!("CARGO_BIN_EXE_chuhe");
const FAIRY: &str = "/usr/games/fairy-stockfish";

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
    let [record, pgn] = ["record", "games.pgn"].map(|file| fs::read(folder.join(file)).unwrap());
    let begun = record.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [0, 10, begun, record.len() / 2, record.len() - 1, record.len()] {
        fs::write(folder.join("record"), &record[..cut]).unwrap();
        // The games of a pair are written before its line.
        let is_begun = record[..cut].contains(&b'\n');
        let written = if cut == begun { &pgn[..700] } else { &pgn[..] };
        fs::write(folder.join("games.pgn"), if is_begun { written } else { b"" }).unwrap();
        let again = answer(&tournament(&folder, &["--threads", "2"]).output().unwrap());
        assert_eq!(again, whole, "cut at {cut}");
        assert_eq!(played(&folder), all, "cut at {cut}");
    }

    // The page names the terms.
    for term in ["<dt>limits</dt><dd>100 nodes a move", "random openings, seed 1", "<dt>rules</dt><dd>cxr", "<dt>begun"]
    {
        assert!(page.contains(term), "{term}: {page}");
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
    assert_eq!(complaint, "chuhe: --pgn: games.pgn: it does not hold the games of the record\n");
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

/// Three nets, plain, and two outside engines under both protocols.
fn six() -> Vec<String> {
    let nets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nets");
    let net = |name: &str| format!("net:{}", nets.join(name).join("net.nnue").display());
    let uci = if Path::new(FAIRY).exists() { format!("uci:{FAIRY}") } else { format!("uci:{CHUHE} uci;name=outside") };
    let ucci = format!("ucci:{CHUHE} uci;name=outside UCCI");
    vec![net("gen0-256-scores"), net("gen1-256"), net("gen2-256"), "plain".to_owned(), uci, ucci]
}

fn tournament_of(engines: &[String], folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(CHUHE);
    command.current_dir(folder).arg("tournament").args(["--hash", "1", "--json", "--pairs", "1"]);
    command.args(engines.iter().flat_map(|engine| ["--engine", engine]));
    command.args(["--record", "record", "--pgn", "games.pgn"]).args(more);
    command
}

/// Kills a tournament once its record has this many lines.
fn kill_after(lines: usize, folder: &Path, mut command: Command) {
    let count = || fs::read_to_string(folder.join("record")).unwrap_or_default().lines().count();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while count() < lines && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL, on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(count() >= lines);
}

#[test]
fn six_engines_killed_and_resumed_end_as_if_they_were_not() {
    for (kind, kills) in [("round-robin", &[3, 9][..]), ("swiss", &[4]), ("knockout", &[3])] {
        let folder = folder(&format!("six_{kind}"));
        let options =
            ["--kind", kind, "--nodes", "80", "--ply-cap", "50", "--odds", "4:nodes=40", "--html", "table.html"];
        let whole = answer(&tournament_of(&six(), &folder, &options).output().unwrap());
        let (all, page) = (played(&folder), fs::read(folder.join("table.html")).unwrap());
        for file in ["games.pgn", "table.html"] {
            fs::remove_file(folder.join(file)).unwrap();
        }
        // The header stays, with the day of the beginning, which may be yesterday by now.
        let record = fs::read_to_string(folder.join("record")).unwrap();
        fs::write(folder.join("record"), record.split_inclusive('\n').next().unwrap()).unwrap();
        for lines in kills {
            kill_after(*lines, &folder, tournament_of(&six(), &folder, &options));
        }
        assert_eq!(answer(&tournament_of(&six(), &folder, &options).output().unwrap()), whole, "{kind}");
        assert_eq!((played(&folder), fs::read(folder.join("table.html")).unwrap()), (all.clone(), page), "{kind}");

        let rounds = whole["rounds"].as_array().unwrap();
        let expected = match kind {
            "round-robin" => vec![3; 5],
            "swiss" => vec![3; 3],
            _ => vec![2, 2, 2],
        };
        assert_eq!(rounds.iter().map(|round| round.as_array().unwrap().len()).collect::<Vec<_>>(), expected);
        let standings = whole["standings"].as_array().unwrap();
        assert_eq!(standings.len(), 6);
        assert_eq!(standings[0]["place"], 1);
        if kind != "knockout" {
            assert_eq!(all.len(), 2 * expected.iter().sum::<usize>());
        }
        assert_eq!(whole["tournament"]["limits"][3], "40 nodes a move");
        let games = pgn::read(&fs::read_to_string(folder.join("games.pgn")).unwrap()).unwrap();
        for game in games.iter().filter(|game| game.tag("Red") == Some("plain")) {
            // A quarter of it in rapid games, of which the decider is one.
            let limit = game.tag("RedTimeControl").unwrap_or_else(|| game.tag("TimeControl").unwrap());
            assert!(["40 nodes a move", "10 nodes a move"].contains(&limit), "{game}");
        }
    }
}

/// An engine against itself: both games of a pair are the same, so only a decider decides.
#[test]
fn a_tied_knockout_continues_with_rapid_games_and_a_decider() {
    let folder = folder("tied");
    let engines = ["plain".to_owned(), "plain".to_owned()];
    let options = ["--kind", "knockout", "--nodes", "120", "--ply-cap", "20"];
    let with_page = [&options[..], &["--html", "table.html"]].concat();
    let whole = answer(&tournament_of(&engines, &folder, &with_page).output().unwrap());
    let games = pgn::read(&fs::read_to_string(folder.join("games.pgn")).unwrap()).unwrap();
    let limits: Vec<_> = games
        .iter()
        .map(|game| {
            ["Round", "TimeControl", "RedTimeControl", "BlackTimeControl"].map(|name| game.tag(name).unwrap_or("-"))
        })
        .collect();
    let common = |round, limit| [round, limit, "-", "-"];
    assert_eq!(
        limits,
        [
            common("1.1.1", "120 nodes a move"),
            common("1.1.2", "120 nodes a move"),
            common("1.2.1", "30 nodes a move"),
            common("1.2.2", "30 nodes a move"),
            ["1.3.1", "?", "30 nodes a move", "20 nodes a move"],
        ]
    );
    let decider = &games[4];
    assert_eq!((decider.tag("Red"), decider.tag("Black")), (Some("plain"), Some("plain (2)")));
    let winner = decider.outcome.unwrap().loser().map(|loser| usize::from(loser == xiangqi::Color::Red)).unwrap();
    assert_eq!(whole["standings"][0]["player"], winner, "a decider has a winner");
    // The page names the terms of all games. The drawn decider, won by Black, counts for no Elo.
    let page = fs::read_to_string(folder.join("table.html")).unwrap();
    for term in
        ["2 in each encounter without a tie", "a pair after a tie: 30 nodes a move", "a draw and has 20 nodes a move"]
    {
        assert!(page.contains(term), "{term}: {page}");
    }
    let elo = |row: usize| whole["standings"][row]["elo"].as_f64().unwrap().abs();
    assert!(elo(0) < 1e-9 && elo(1) < 1e-9, "{whole}");
    let tie = &whole["rounds"][0][0];
    assert_eq!((&tie["decided_by"], tie["points"][winner].as_u64()), (&"decider".into(), Some(4 + 2)));

    // Another limit of rapid games, and a record of other rapid games.
    let refused =
        tournament_of(&engines, &folder, &[&options[..], &["--rapid", "nodes=50"]].concat()).output().unwrap();
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert!(complaint.contains("another tournament: its rapid is null, here it is \"50 nodes a move\""), "{complaint}");
}

/// The table is printed all the same, and the finished pairs are not played again.
#[test]
fn an_engine_that_does_not_start_again_ends_the_tournament_with_its_table() {
    let folder = folder("broken");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engines/fake.py");
    let broken = format!("uci:python3 '{script}' '{CHUHE}' once=lives");
    // The table of three: 2-3 in the first round.
    let engines = [broken, "plain".to_owned(), "plain".to_owned()];
    let options = ["--nodes", "50", "--ply-cap", "30", "--html", "table.html"];
    let output = tournament_of(&engines, &folder, &options).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    let last = complaint.lines().last().unwrap();
    assert!(last.starts_with("chuhe: the table is of the games before the end: "), "{complaint}");
    let table: Value = serde_json::from_slice(&output.stdout).unwrap();
    let recorded = fs::read_to_string(folder.join("record")).unwrap().lines().count() - 1;
    let games = table["standings"].as_array().unwrap().iter().map(|row| row["games"].as_u64().unwrap()).sum::<u64>();
    assert!(recorded > 0 && games == 2 * 2 * recorded as u64, "{recorded} pairs: {table}");
    assert!(fs::read_to_string(folder.join("table.html")).unwrap().contains("</table>"));
}

/// A record holds only pairs of its tournament.
#[test]
fn pairs_of_no_encounter_are_refused() {
    let folder = folder("foreign_pairs");
    let engines = ["plain".to_owned(), "plain".to_owned()];
    let options = ["--nodes", "20", "--ply-cap", "10"];
    answer(&tournament_of(&engines, &folder, &options).output().unwrap());
    let record = fs::read_to_string(folder.join("record")).unwrap();
    let pair = record.lines().nth(1).unwrap();
    for (foreign, expected) in [
        (pair.replace("\"round\":1", "\"round\":7"), "line 2: no encounter of this tournament has this pair"),
        (format!("{pair}\n{pair}"), "line 3: pair 1 of its encounter stands where pair 2 belongs"),
        (format!("{pair}\n{}", pair.replace("\"pair\":1", "\"pair\":2")), "line 3: no encounter of this"),
    ] {
        fs::write(folder.join("record"), record.replace(pair, &foreign)).unwrap();
        let output = tournament_of(&engines, &folder, &options).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.starts_with("chuhe: --record: ") && complaint.contains(expected), "{complaint}");
    }
}

/// With deciders only, the engine with Black wins every draw.
#[test]
fn a_tournament_of_deciders() {
    let folder = folder("deciders");
    let engines = ["plain".to_owned(), "plain".to_owned()];
    let whole = answer(
        &tournament_of(&engines, &folder, &["--decider", "--tc", "2/0.6+0.1", "--grace", "60000", "--ply-cap", "8"])
            .output()
            .unwrap(),
    );
    let games = pgn::read(&fs::read_to_string(folder.join("games.pgn")).unwrap()).unwrap();
    for game in &games {
        assert_eq!(game.outcome, Some(xiangqi::rules::Outcome::loss_of(xiangqi::Color::Red)));
        assert_eq!((game.tag("RedTimeControl"), game.tag("BlackTimeControl")), (Some("2/0.6+0.1"), Some("2/0.4+0.1")));
    }
    assert_eq!((games.len(), &whole["standings"][0]["wins_as_black"]), (2, &1.into()));
}

/// A terminal shows a board, other outputs a line per move.
#[test]
fn a_running_game_is_shown() {
    let arguments =
        ["--a", "plain", "--b", "plain", "--pairs", "1", "--nodes", "400", "--hash", "1", "--ply-cap", "10"];
    let output = Command::new(CHUHE).arg("match").args(arguments).arg("--live").output().unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = shown.lines().skip(1).collect();
    // The beginning, four moves and the end of two games.
    assert_eq!(lines.len(), 2 * (1 + 4 + 1), "{shown}");
    assert_eq!(lines[0], "game 1.1: plain (A) against plain (B)");
    assert!(lines[1].starts_with("game 1.1, ply 7: ") && lines[1].contains(" by plain (A)  "), "{shown}");
    assert!(lines[1].contains(['进', '退', '平']), "{shown}");
    assert!(lines[1..5].iter().any(|line| line.contains("  expects ")), "{shown}");
    assert_eq!(lines[5], "game 1.1, ply 10: draw: ply_cap");
    assert_eq!(lines[6], "game 1.2: plain (B) against plain (A)");

    let on_terminal = |script: &str| {
        let spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
        let mut command = Command::new("python3");
        command.args(["-c", spawn, CHUHE, "match"]).args(arguments).arg(format!("--live={script}"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let chinese = on_terminal("chinese");
    // Red's pieces are red, and each drawing replaces the one before.
    assert!(chinese.contains("\x1b[31m帅\x1b[0m") && chinese.contains("楚河      汉界"), "{chinese}");
    assert!(chinese.contains('车') && !chinese.contains(['車', '帥', '進']), "{chinese}");
    let traditional = on_terminal("traditional");
    assert!(traditional.contains("\x1b[31m帥\x1b[0m") && traditional.contains("楚河      漢界"), "{traditional}");
    assert!(traditional.contains('車') && !traditional.contains(['车', '帅', '进']), "{traditional}");
    assert!(chinese.contains("\x1b[20A\r\x1b[J"), "{chinese}");
    let letters = on_terminal("letters");
    assert!(letters.contains("\x1b[31mK \x1b[0m") && letters.contains(" k ") && !letters.contains('帥'), "{letters}");
}

#[test]
fn a_running_game_is_served_as_a_page() {
    let mut command = Command::new(CHUHE);
    command.args(["match", "--a", "plain", "--b", "plain", "--pairs", "1000000", "--nodes", "200", "--hash", "1"]);
    command.args(["--live-page", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(address) = line.strip_prefix("live page: http://") {
            break address.trim_end_matches('/').to_owned();
        }
    };
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        // In two parts, as the network may deliver it.
        write!(stream, "GET {path} HTTP/1.1\r\nHost: ").unwrap();
        thread::sleep(Duration::from_millis(50));
        write!(stream, "{address}\r\n\r\n").unwrap();
        BufReader::new(stream)
    };
    for (path, content) in [
        ("/", "<script src=\"live.js\" defer>"),
        ("/live.js", "new EventSource(\"events\")"),
        ("/live.css", "--ground"),
        ("/board.css", ".board-lines"),
        ("/games.pgn", "404 Not Found"),
        ("/../Cargo.toml", "404 Not Found"),
    ] {
        let mut text = String::new();
        get(path).read_to_string(&mut text).unwrap();
        assert!(
            text.contains(content) && text.contains("Content-Security-Policy: default-src 'self'"),
            "{path}: {text}"
        );
    }
    let mut boards = get("/events").lines().map(Result::unwrap).filter(|line| line.contains("<svg class=\"board\""));
    assert!(boards.next().is_some() && boards.next().is_some(), "boards follow each other");
    child.kill().unwrap();
    child.wait().unwrap();
}
