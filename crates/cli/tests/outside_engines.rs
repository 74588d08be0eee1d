//! External engines, good and bad: every fault is detected, costs its game, is reported and
//! recorded, and the match continues.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use selfplay::pgn::{self, Comment, PgnGame};
use serde_json::Value;
use xiangqi::{
    notation::Notation,
    rules::{Game, RuleSet, Status},
};

const CHUHE: &str = env!("CARGO_BIN_EXE_chuhe");
const FAIRY: &str = "/usr/games/fairy-stockfish";

/// A path that does not exist yet.
fn new_file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

fn fake(spoils: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engines/fake.py");
    format!("uci:python3 '{script}' '{CHUHE}' {spoils}")
}

fn run(arguments: &[&str]) -> Output {
    Command::new(CHUHE).arg("match").args(arguments).output().unwrap()
}

/// Plays `plain` against an engine, and returns the answer and the games.
fn play(name: &str, engine: &str, more: &[&str]) -> (Value, Vec<PgnGame>) {
    let file = new_file(&format!("{name}.pgn"));
    let path = file.to_str().unwrap();
    let mut arguments = vec!["--a", "plain", "--b", engine, "--hash", "1", "--pgn", path, "--json"];
    arguments.extend(more);
    let output = run(&arguments);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let games = pgn::read(&fs::read_to_string(&file).unwrap()).unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), games)
}

/// Plays one pair in which every game ends by the same fault of B.
fn expect_fault(name: &str, spoils: &str, kind: &str, more: &[&str]) -> (Value, Vec<PgnGame>) {
    let mut arguments = vec!["--pairs", "1"];
    arguments.extend(more);
    let (answer, games) = play(name, &fake(&format!("{spoils};name=fake")), &arguments);
    assert_eq!((&answer["wins"], &answer["faults"]), (&2.into(), &2.into()), "{answer}");
    assert_eq!(answer["pentanomial"], serde_json::json!([0, 0, 0, 0, 1]));
    for (game, fault) in games.iter().zip(answer["fault_list"].as_array().unwrap()) {
        assert_eq!((&fault["kind"], &fault["engine"]), (&kind.into(), &"fake".into()));
        assert_eq!(fault["ply"], game.moves.len());
        assert!(game.tag("Termination").unwrap().starts_with(kind), "{game}");
    }
    assert_eq!(games.len(), 2);
    (answer, games)
}

const NODES: [&str; 2] = ["--nodes", "100"];

#[test]
fn a_crash_is_detected_and_the_engine_restarted() {
    let (answer, games) = expect_fault("crash", "crash=3", "crash", &NODES);
    // Twice the same: the second process lived as long as the first.
    assert_eq!(games.iter().map(|game| game.moves.len()).collect::<Vec<_>>(), [6 + 5, 6 + 4]);
    assert_eq!(answer["fault_list"][0]["detail"], "the engine ended (exit status: 3)");
    assert_eq!(
        (answer["fault_list"][0]["round"].as_str(), answer["fault_list"][1]["round"].as_str()),
        (Some("1.1"), Some("1.2"))
    );
}

/// An aborted match keeps its counts, and the game that explains the abort.
#[test]
fn an_engine_that_cannot_be_restarted_ends_the_match_and_nothing_is_lost() {
    let (file, lives) = (new_file("gone.pgn"), new_file("gone.lives"));
    let [path, lives] = [&file, &lives].map(|path| path.to_str().unwrap());
    let engine = fake(&format!("'once={lives}';name=fake"));
    let common = ["--a", "plain", "--b", &engine, "--pairs", "3", "--nodes", "100", "--hash", "1"];
    let output = run(&[&common[..], &["--pgn", path, "--json"]].concat());
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("game 1.1: crash by fake after ply 11: "), "{complaint}");
    let last = complaint.lines().last().unwrap();
    assert!(last.starts_with("chuhe: engine B: ") && last.ends_with("the engine ended (exit status: 4)"), "{last}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["pentanomial"], serde_json::json!([0, 0, 0, 0, 0]));
    assert_eq!((&answer["faults"], &answer["fault_list"][0]["round"]), (&1.into(), &"1.1".into()));
    assert_eq!(last.strip_prefix("chuhe: "), answer["broken_off"].as_str());
    let games = pgn::read(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((games.len(), games[0].moves.len(), games[0].tag("Round")), (1, 6 + 5, Some("1.1")));

    // Counted pairs stand: with seven moves of each side in a game, the fortieth belongs to the
    // third pair.
    for threads in ["1", "2"] {
        for path in [path, lives] {
            fs::remove_file(path).unwrap();
        }
        let engine = fake(&format!("'once={lives}' crash=40;name=fake"));
        let common =
            ["--a", "plain", "--b", &engine, "--pairs", "9", "--nodes", "50", "--hash", "1", "--ply-cap", "20"];
        let output = run(&[&common[..], &["--pgn", path, "--json", "--threads", threads]].concat());
        assert_eq!(output.status.code(), Some(2));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let games = pgn::read(&fs::read_to_string(&file).unwrap()).unwrap();
        let counted: u64 = answer["pentanomial"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
        if threads == "1" {
            assert_eq!((counted, &answer["faults"]), (3, &1.into()), "{answer}");
            assert_eq!(answer["fault_list"][0]["round"], "3.2", "{answer}");
        }
        assert!((2 * counted..=2 * counted + 1).contains(&(games.len() as u64)), "{answer}");
        assert!(answer["broken_off"].is_string(), "{answer}");
    }

    // The same as text; without a file the game is on standard error.
    fs::remove_file(lives).unwrap();
    let output = run(&common);
    assert_eq!(output.status.code(), Some(2));
    let output_text = String::from_utf8(output.stdout).unwrap();
    assert!(output_text.starts_with("games 0: ") && output_text.ends_with("\nfaults 1\n"), "{output_text}");
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("[Termination \"crash by Black: the engine ended (exit status: 3)\"]"), "{complaint}");
}

#[test]
fn an_engine_that_ends_between_games_has_crashed() {
    let (answer, games) = play("eager", &fake("eager"), &["--pairs", "2", "--nodes", "60", "--ply-cap", "30"]);
    // It dies before its second game, and is restarted for the third.
    assert_eq!(answer["faults"], 2, "{answer}");
    assert_eq!(
        games.iter().map(|game| game.tag("Termination").unwrap().starts_with("crash")).collect::<Vec<_>>(),
        [false, true, false, true]
    );
}

#[test]
fn a_stalled_engine_is_not_waited_for() {
    expect_fault("stall", "stall=2", "stall", &["--nodes", "100", "--watchdog", "1500"]);
}

#[test]
fn illegal_moves_are_noticed() {
    let (answer, games) = expect_fault("illegal", "illegal=2", "illegal_move", &NODES);
    assert!(answer["fault_list"][0]["detail"].as_str().unwrap().starts_with("`a0a9`: "), "{answer}");
    assert_eq!(games[0].moves.len(), 6 + 3);
    expect_fault("resign", "resign=1", "illegal_move", &NODES);
}

/// The engine sleeps far longer than the grace, which is long enough for all others.
#[test]
fn late_moves_are_noticed() {
    let more = ["--movetime", "20", "--grace", "2000"];
    let (_, games) = expect_fault("late", "late=4", "time_loss", &more);
    // The late move is not played.
    assert_eq!(games.iter().map(|game| game.moves.len()).collect::<Vec<_>>(), [6 + 1, 6]);
}

#[test]
fn an_engine_that_does_not_follow_the_moves_is_noticed() {
    expect_fault("deaf", "deaf", "wrong_position", &NODES);
    // An engine that does not show its position is detected by its moves.
    let (answer, _) = expect_fault("deaf-mute", "deaf mute", "illegal_move", &NODES);
    assert!(answer["fault_list"][0]["ply"].as_u64().unwrap() < 40);
}

/// An engine plays the same games in any dialect, whether detected or configured.
#[test]
fn both_dialects_are_understood() {
    let more = ["--pairs", "1", "--nodes", "150"];
    let (answer, games) = play("ranks0", &format!("uci:{CHUHE}"), &more);
    assert_eq!((&answer["faults"], games.len()), (&0.into(), 2), "{answer}");
    let moves = |games: &[PgnGame]| {
        games.iter().map(|game| game.moves.iter().map(|(mv, _)| *mv).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    for (name, engine) in [
        ("ranks1", fake("ranks1")),
        ("ranks1-mute", fake("ranks1 mute")),
        ("ranks1-configured", fake("ranks1 mute;ranks=1")),
        ("mute", fake("mute")),
        ("ucci", format!("ucci:{CHUHE}")),
    ] {
        let (answer, others) = play(name, &engine, &more);
        assert_eq!(answer["faults"], 0, "{name}: {answer}");
        assert!(moves(&others) == moves(&games), "{name}");
    }
    // A wrong setting is detected.
    let output = run(&["--a", "plain", "--b", &fake("ranks1;ranks=0"), "--pairs", "1", "--nodes", "100"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.ends_with("it does not follow the move h2e2, with ranks 0 to 9\n"), "{complaint}");
}

#[test]
fn an_option_or_engine_that_fails_is_reported() {
    for (engine, complaint) in [
        ("uci:/no/such/engine".to_owned(), "--b: /no/such/engine: there is no such file or folder\n"),
        (format!("uci:{CHUHE} perft"), "`uci`: the engine ended (exit status: 2)\n"),
        (format!("uci:{CHUHE};Colour=blue"), "the engine has no option `Colour`\n"),
        // The engine would continue with another evaluation than requested.
        (
            format!("uci:{CHUHE};EvalFile=/no/such.nnue;name=typo"),
            ": setoption EvalFile: cannot read the net /no/such.nnue: there is no such file or folder\n",
        ),
        (
            format!("ucci:{CHUHE};evalfile=/no/such.nnue"),
            ": setoption evalfile: cannot read the net /no/such.nnue: there is no such file or folder\n",
        ),
        (format!("uci:{CHUHE};Threads=many"), ": setoption Threads: `many` is not a whole number from 1 to 512\n"),
    ] {
        let output = run(&["--a", "plain", "--b", &engine, "--pairs", "1", "--nodes", "100"]);
        assert_eq!(output.status.code(), Some(2));
        let output_text = String::from_utf8(output.stderr).unwrap();
        assert!(output_text.ends_with(complaint) && output_text.lines().count() == 1, "{output_text}");
    }
}

#[test]
fn messages_of_an_engine_are_shown_once() {
    let remark = fake("'message=a net of 1 MiB' mute;name=fake");
    let output = run(&["--a", "plain", "--b", &remark, "--pairs", "1", "--nodes", "50", "--ply-cap", "10"]);
    let output_text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{output_text}");
    let lines: Vec<_> = output_text.lines().collect();
    assert!(lines[0].ends_with(", seed 1; positions of fake cannot be checked"), "{output_text}");
    assert_eq!(lines[1..], ["fake: a net of 1 MiB"]);
}

/// UCCI engines that ignore moves are detected too, by the position that they show.
#[test]
fn positions_are_checked_under_both_protocols() {
    for protocol in ["uci", "ucci"] {
        let engine = format!("{protocol}:{CHUHE};name=x");
        let output = run(&["--a", "plain", "--b", &engine, "--pairs", "1", "--nodes", "50", "--ply-cap", "10"]);
        let output_text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && output_text.ends_with(", seed 1\n"), "{output_text}");
    }
    let deaf = fake("deaf;name=fake").replacen("uci:", "ucci:", 1);
    let (answer, _) = play("deaf-ucci", &deaf, &["--pairs", "1", "--nodes", "100"]);
    assert_eq!(answer["fault_list"][0]["kind"], "wrong_position", "{answer}");
}

#[test]
fn records_are_complete_and_not_written_over() {
    let file = new_file("records.pgn");
    let book = new_file("records.epd");
    fs::write(&book, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 1\n").unwrap();
    let [path, book] = [&file, &book].map(|path| path.to_str().unwrap());
    let arguments = [
        "--a",
        "plain",
        "--b",
        "plain",
        "--pairs",
        "1",
        "--nodes",
        "80",
        "--hash",
        "1",
        "--book",
        book,
        "--pgn",
        path,
        "--notation",
        "chinese_simplified",
        "--event",
        "A \"test\"",
    ];
    let output = run(&arguments);
    assert!(output.status.success());
    let digest = Command::new("sha256sum").arg(book).output().unwrap().stdout;
    let output_text = String::from_utf8(output.stderr).unwrap();
    assert!(output_text.contains(str::from_utf8(&digest[..64]).unwrap()), "{output_text}");
    let text = fs::read_to_string(&file).unwrap();
    let games = pgn::read(&text).unwrap();
    assert_eq!(games.iter().map(ToString::to_string).collect::<String>(), text);
    assert_eq!(games.len(), 2);
    for (game, red) in games.iter().zip(["plain (A)", "plain (B)"]) {
        assert_eq!((game.notation, game.start.to_string().contains(" b ")), (Notation::ChineseSimplified, true));
        assert_eq!((game.tag("Event"), game.tag("Red")), (Some("A \"test\""), Some(red)));
        assert!(["Date", "Round", "Black", "TimeControl", "Termination"].iter().all(|tag| game.tag(tag).is_some()));
        let mut replayed = Game::new(game.start.clone(), RuleSet::Cxr);
        for (mv, comment) in &game.moves {
            replayed.push(*mv).unwrap();
            assert!(comment.parse::<Comment>().is_ok(), "{comment}");
        }
        let Status::Over(ending) = replayed.status() else { panic!("the game continues: {game}") };
        assert_eq!((Some(ending.outcome), Some(ending.reason.name())), (game.outcome, game.tag("Termination")));
    }
    let again = run(&arguments);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("records.pgn: there is a file of this name"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

/// A recorded game tells its terms, and why it ended.
#[test]
fn the_terms_of_a_match_are_in_its_records_and_its_answer() {
    let tags = |games: &[PgnGame]| {
        let names = ["Seed", "Book", "HashMebibytes", "GraceMilliseconds", "PlyCap", "AdjudicateWin", "AdjudicateDraw"];
        names.map(|name| games[1].tag(name).unwrap().to_owned())
    };
    let nodes = ["--pairs", "1", "--nodes", "60"];
    let more = ["--adjudicate-win", "300,2", "--adjudicate-draw", "10,4,20", "--ply-cap", "90", "--grace", "7"];
    let (answer, games) = play("terms", "plain", &[&nodes[..], &more, &["--seed", "18446744073709551615"]].concat());
    assert_eq!(tags(&games), ["18446744073709551615", "-", "1", "7", "90", "300,2", "10,4,20"]);
    assert_eq!(answer["seed"], u64::MAX);
    assert_eq!(answer["adjudicate_win"], serde_json::json!([300, 2]));
    assert_eq!(answer["adjudicate_draw"], serde_json::json!([10, 4, 20]));
    let numbers = ["hash_mebibytes", "grace_milliseconds", "ply_cap"].map(|name| answer[name].as_u64());
    assert_eq!(numbers, [Some(1), Some(7), Some(90)]);

    let book = new_file("terms.epd");
    fs::write(&book, "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w\n").unwrap();
    let (answer, games) = play("terms-book", "plain", &[&nodes[..], &["--book", book.to_str().unwrap()]].concat());
    let hash = answer["book"].as_str().unwrap();
    assert_eq!((hash.len(), &answer["adjudicate_win"]), (64, &Value::Null));
    assert_eq!(tags(&games), ["1", hash, "1", "200", "1000", "-", "-"]);
}

/// A player's name can be anything; the hash of its net is what was played.
#[test]
fn records_have_the_hashes_of_the_nets() {
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/../../nets/material.nnue");
    let digest = Command::new("sha256sum").arg(net).output().unwrap().stdout;
    let hash = str::from_utf8(&digest[..64]).unwrap();
    let more = ["--pairs", "1", "--nodes", "20", "--ply-cap", "10"];
    let (_, games) = play("nets", &format!("net:{net}"), &more);
    let nets = |game: &PgnGame| ["RedNet", "BlackNet"].map(|name| game.tag(name).unwrap().to_owned());
    assert_eq!(nets(&games[0]), ["-", hash]);
    assert_eq!(nets(&games[1]), [hash, "-"]);
}

/// With limits of its own for each side, a game has both in its tags.
#[test]
fn limits_per_side_and_deciders_are_in_the_records() {
    let more = ["--pairs", "1", "--nodes", "90", "--b-nodes", "60", "--ply-cap", "8", "--decider"];
    let (answer, games) = play("decider", "plain", &more);
    assert_eq!((&answer["wins"], &answer["losses"], &answer["decider"]), (&1.into(), &1.into(), &true.into()));
    assert_eq!(answer["limits"], serde_json::json!(["90 nodes a move", "60 nodes a move"]));
    let limits = |game: &PgnGame| {
        ["TimeControl", "RedTimeControl", "BlackTimeControl"].map(|name| game.tag(name).map(str::to_owned))
    };
    let nodes = |red: u32, black: u32| {
        [Some("?".to_owned()), Some(format!("{red} nodes a move")), Some(format!("{black} nodes a move"))]
    };
    // No common limit is needed where both sides have one.
    let (answer, _) =
        play("own_limits", "plain", &["--pairs", "1", "--a-nodes", "90", "--b-movetime", "5", "--ply-cap", "8"]);
    assert_eq!(answer["limits"], serde_json::json!(["90 nodes a move", "0.005 s a move"]));
    // Two thirds for Black; equal limits need one tag.
    assert_eq!(limits(&games[0]), nodes(90, 40));
    assert_eq!(limits(&games[1]), [Some("60 nodes a move".to_owned()), None, None]);
    for game in &games {
        assert_eq!(game.outcome, Some(xiangqi::rules::Outcome::loss_of(xiangqi::Color::Red)));
        assert_eq!(game.tag("Termination"), Some("ply_cap, a draw is Black's win"));
    }
}

/// The engine receives the number of moves that its period has left.
#[test]
fn periods_are_sent_as_moves_to_go() {
    let log = new_file("period.log");
    let engine = fake(&format!("'log={}';name=fake", log.to_str().unwrap()));
    let more = ["--pairs", "1", "--nodes", "50", "--b-tc", "2/0.2+0.1", "--grace", "60000", "--ply-cap", "12"];
    let (answer, _) = play("period", &engine, &more);
    assert_eq!(answer["faults"], 0, "{answer}");
    let text = fs::read_to_string(&log).unwrap();
    let sent: Vec<_> = text.lines().filter(|line| line.contains("wtime")).collect();
    // Three moves of Black, then three of Red.
    let moves: Vec<_> = sent.iter().map(|line| line.rsplit_once(" winc 100 binc 100 movestogo ").unwrap().1).collect();
    assert_eq!(moves, ["2", "1", "2", "2", "1", "2"]);
    assert!(sent[0].starts_with("go wtime 200 btime 200 "), "{sent:?}");
}

#[test]
fn a_real_match() {
    if !Path::new(FAIRY).exists() {
        // Not by the macro, whose output is captured when a test passes.
        writeln!(io::stderr(), "SKIPPED a_real_match: {FAIRY} is not installed, and no match is played").unwrap();
        return;
    }
    let (answer, games) = play("fairy", &format!("uci:{FAIRY}"), &["--pairs", "2", "--nodes", "100", "--threads", "2"]);
    assert_eq!((&answer["faults"], games.len()), (&0.into(), 4), "{answer}");
    assert_eq!(answer["b"], "Fairy-Stockfish 11.1 LB 64");
    let played = ["wins", "draws", "losses"].map(|name| answer[name].as_u64().unwrap()).iter().sum::<u64>();
    assert_eq!(played, 4);
    let rounds: Vec<_> = games.iter().map(|game| game.tag("Round").unwrap()).collect();
    assert_eq!(rounds, ["1.1", "1.2", "2.1", "2.2"]);
    // Its scores and nodes are recorded.
    let comment: Comment = games[0].moves.last().unwrap().1.parse().unwrap();
    assert!(comment.0.score.is_some() && comment.0.nodes > 0);
}
