//! Sessions of UCI and UCCI: input lines and the expected output.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod client;
mod options;
mod ucci;

use engine::uci;
use xiangqi::notation::Notation;

use client::{Client, Output, last_word, setup};

#[test]
fn the_engine_introduces_itself() {
    let answer = Client::new().request("uci\nisready");
    let expected = "\
option name Hash type spin default 2 min 1 max 64
option name Threads type spin default 1 min 1 max 4
option name MultiPV type spin default 1 min 1 max 120
option name EvalFile type string default <plain>
option name Rules type combo default cxr var cxr var wxf var axf var wikibook var simple
option name Move Overhead type spin default 30 min 0 max 10000
option name Ponder type check default false
option name UCI_ShowWDL type check default false
option name UCI_LimitStrength type check default false
option name UCI_Elo type spin default 2580 min 550 max 2580
option name Skill Level type spin default 20 min 0 max 20
option name UCI_Variant type combo default xiangqi var xiangqi
option name Ranks type combo default 0-9 var 0-9 var 1-10
option name Clear Hash type button
info string playing with the plain evaluation
uciok
readyok
";
    let (names, rest) = answer.split_at(answer.find("option").unwrap());
    assert!(names.starts_with("id name Chuhe ") && names.contains("\nid author "), "{names}");
    assert_eq!(rest, expected);
}

#[test]
fn a_search_reports_every_depth_and_ends_with_a_move() {
    let mut client = Client::new();
    let answer = client.request("position startpos moves h2e2 h9g7\ngo depth 5");
    for depth in 1..=5 {
        assert!(answer.contains(&format!("info depth {depth} seldepth ")), "{answer}");
    }
    let last = answer.lines().rev().nth(1).unwrap();
    for word in [" multipv 1 ", " score cp ", " nodes ", " nps ", " hashfull ", " time ", " pv "] {
        assert!(last.contains(word), "{last}");
    }
    let best = last_word(&answer, "bestmove").unwrap();
    assert_eq!(Some(best), last_word(&answer, "pv"));
    assert!(client.session.game().position().parse_move(best).is_ok());
    assert_eq!(answer.matches("bestmove").count(), 1);
    // Equal after `ucinewgame`, except for times.
    let strip = |answer: &str| {
        let timed = |word: &&str| !matches!(*word, "nps" | "time");
        let lines = answer.lines().map(|line| {
            let mut words = line.split(' ');
            let mut kept = Vec::new();
            while let Some(word) = words.next() {
                if timed(&word) { kept.push(word) } else { _ = words.next() }
            }
            kept.join(" ")
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(strip(&client.request("ucinewgame\ngo depth 5")), strip(&answer));
}

#[test]
fn nodes_are_a_hard_limit() {
    for nodes in [1, 500, 2000] {
        let answer = Client::new().request(&format!("go nodes {nodes}"));
        assert_eq!(answer.matches("bestmove ").count(), 1);
        if let Some(counted) = last_word(&answer, "nodes") {
            assert!(counted.parse::<u64>().unwrap() <= nodes);
        }
    }
    assert_eq!(last_word(&Client::new().request("go nodes 2000"), "nodes"), Some("2000"));
}

#[test]
fn an_infinite_search_answers_when_it_is_stopped() {
    let mut client = Client::new();
    client.send("go infinite");
    client.output.wait_for("info depth 3");
    client.send("isready");
    client.output.wait_for("readyok");
    assert!(!client.output.take().contains("bestmove"));
    client.send("stop");
    client.output.wait_for("bestmove ");
    // Without a search there is nothing to stop.
    client.output.take();
    client.send("stop");
    client.send("ponderhit");
    client.session.close();
    assert_eq!(client.output.take(), "");
}

/// A mate in one reaches the depth limit immediately.
#[test]
fn an_early_bestmove_is_withheld() {
    let mut client = Client::new();
    client.send("position fen 3k5/9/9/9/9/9/9/9/4R4/4K4 w");
    for (go, then) in
        [("go infinite depth 2", "stop"), ("go ponder depth 2", "ponderhit"), ("go ponder depth 2", "stop")]
    {
        client.send(go);
        client.output.wait_for("info depth 2");
        client.send("isready");
        client.output.wait_for("readyok");
        // Commands that do not need the engine do not end the wait.
        client.send("position startpos");
        client.send("setoption name Move Overhead value 20");
        assert!(!client.output.take().contains("bestmove"));
        client.send(then);
        client.output.wait_for("bestmove ");
        client.output.take();
    }
    client.send("go ponder infinite depth 1");
    client.send("ponderhit");
    client.send("stop");
    client.output.wait_for("bestmove ");
}

#[test]
fn pondering_becomes_thinking() {
    let mut client = Client::new();
    client.send("position startpos moves h2e2");
    client.send("go ponder wtime 1000 btime 1000 movestogo 1");
    client.output.wait_for("info depth 4");
    client.send("ponderhit");
    client.output.wait_for("bestmove ");
    let answer = client.request("go wtime 1 btime 1");
    assert!(answer.contains("bestmove "), "{answer}");
    let answer = client.request("go movetime 1");
    assert!(answer.contains("bestmove "), "{answer}");
    // An overdrawn clock.
    assert!(client.request("go wtime -5 btime -5 winc 0 binc 0").contains("bestmove "));
}

#[test]
fn a_command_that_needs_the_engine_stops_the_search() {
    let mut client = Client::new();
    for line in ["ucinewgame", "setoption name Hash value 1", "setoption name Threads value 2", "go depth 1", "eval"] {
        client.output.take();
        client.send("go infinite");
        client.send(line);
        client.session.finish();
        assert!(client.output.take().contains("bestmove "), "{line}");
    }
}

#[test]
fn several_lines_are_reported_in_order() {
    let answer = Client::new().request("setoption name MultiPV value 3\ngo depth 4");
    let last: Vec<_> = answer.lines().filter(|line| line.starts_with("info depth 4 ")).collect();
    let last = &last[last.len() - 3..];
    let mut firsts = Vec::new();
    let mut scores = Vec::new();
    for (index, line) in last.iter().enumerate() {
        assert!(line.contains(&format!(" multipv {} ", index + 1)), "{line}");
        firsts.push(last_word(line, "pv").unwrap());
        scores.push(last_word(line, "cp").unwrap().parse::<i32>().unwrap());
    }
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(last_word(&answer, "bestmove"), Some(firsts[0]));
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 3);
}

#[test]
fn only_the_given_moves_are_searched() {
    let mut client = Client::new();
    let answer = client.request("go searchmoves a0a1 i0i1 depth 3");
    assert!(["a0a1", "i0i1"].contains(&last_word(&answer, "bestmove").unwrap()), "{answer}");
    let answer = client.request("go depth 3 searchmoves a0a1 a0a9");
    assert_eq!(answer, "info string go: searchmoves: move 2: `a0a9`: Red's chariot on a0 does not go to a9\n");
}

#[test]
fn mates_are_counted_in_moves() {
    let mut client = Client::new();
    client.send("position fen 4k4/R8/9/9/9/9/9/9/9/1R1K5 w");
    let answer = client.request("go depth 4");
    assert!(answer.contains(" score mate 1 "), "{answer}");
    let answer = client.request("go mate 1");
    assert!(answer.contains(" score mate 1 "), "{answer}");
    let answer = client.request("setoption name UCI_ShowWDL value true\ngo depth 4");
    assert!(answer.contains(" score mate 1 wdl 1000 0 0 "), "{answer}");
}

#[test]
fn without_a_legal_move_there_is_no_bestmove() {
    let mated = "position fen R3k4/1R7/9/9/9/9/9/9/9/3K5 b";
    assert_eq!(Client::new().request(&format!("{mated}\ngo depth 3")), "info depth 0 score mate 0\nbestmove (none)\n");
    let answer = Client::new().request(&format!("ucci\n{mated}\ngo depth 3"));
    assert!(answer.ends_with("ucciok\ninfo depth 0 score -32000\nnobestmove\n"), "{answer}");
}

#[test]
fn ranks_are_counted_from_zero_or_one() {
    let mut client = Client::new();
    let from_0 = client.request("position startpos moves h2e2 h9g7\ngo depth 4");
    let fen = client.fen();
    client.send("setoption name Ranks value 1-10");
    let from_1 = client.request("ucinewgame\nposition startpos moves h3e3 h10g8\ngo depth 4");
    assert_eq!(client.fen(), fen);
    let position = client.session.game().position();
    let best =
        |answer: &str, notation| position.parse_move_in(last_word(answer, "bestmove").unwrap(), notation).unwrap();
    assert_eq!(best(&from_0, Notation::Uci), best(&from_1, Notation::Uci1));
    // Moves of the other counting name the option.
    let answer = client.request("position startpos moves b0c2");
    assert!(answer.starts_with("info string position: move 1: `b0c2` is not a move in "), "{answer}");
    assert!(answer.ends_with("; with `setoption name Ranks value 0-9` it is a move\n"), "{answer}");
    let answer = Client::new().request("position startpos moves h3e3");
    assert_eq!(
        answer,
        "info string position: move 1: `h3e3`: nothing of Red's stands on h3; with `setoption name Ranks value 1-10` it \
         is a move\n"
    );
    let answer = client.request("position startpos moves h10e10");
    assert_eq!(answer, "info string position: move 1: `h10e10`: nothing of Red's stands on h10\n");
    let answer = client.request("position startpos\ngo searchmoves h8g10 depth 1");
    assert!(answer.starts_with("info string go: searchmoves: move 1: "), "{answer}");
}

#[test]
fn an_invalid_command_is_reported_and_changes_nothing() {
    let mut client = Client::new();
    client.send("position startpos moves h2e2");
    let fen = client.fen();
    for (line, answer) in [
        (
            "position startpos moves h2e2 h9g7 e2h2 h7h2",
            "position: move 4: `h7h2`: Black's cannon on h7 does not go to h2",
        ),
        (
            "position startpos moves h2e2 nonsense",
            "position: move 2: `nonsense` is not a move in uci, which writes `h2e2`",
        ),
        ("position fen 9/9/9 w", "position: FEN board: 3 ranks, not 10"),
        ("position fen", "position: it is `position startpos` or `position fen <fen>`, then perhaps `moves <move> …`"),
        ("position", "position: it is `position startpos` or `position fen <fen>`, then perhaps `moves <move> …`"),
        ("go depth", "go: `depth` without a number"),
        ("go depth x", "go: depth `x` is not a whole number that makes sense"),
        ("go depth -1", "go: depth `-1` is not a whole number that makes sense"),
        ("go wtime soon", "go: wtime `soon` is not a whole number that makes sense"),
        ("setoption", "setoption: it is `setoption name <name>`, then perhaps `value <value>`"),
        ("setoption name", "setoption: it is `setoption name <name>`, then perhaps `value <value>`"),
        ("setoption Hash 5", "setoption: it is `setoption name <name>`, then perhaps `value <value>`"),
        ("setoption name Contempt value 5", "setoption: there is no option `Contempt`"),
        ("setoption name Hash value 0", "setoption Hash: `0` is not a whole number from 1 to 64"),
        ("setoption name hash value", "setoption Hash: `` is not a whole number from 1 to 64"),
        ("setoption name Threads value 5", "setoption Threads: `5` is not a whole number from 1 to 4"),
        ("setoption name Ponder value perhaps", "setoption Ponder: `perhaps` is not true or false"),
        ("setoption name UCI_Variant value chess", "setoption UCI_Variant: `chess` is not one of xiangqi"),
        ("setoption name EvalFile value /", "setoption EvalFile: /: not a file"),
        ("setoption name Rules value fide", "setoption Rules: `fide` is not one of cxr, wxf, axf, wikibook, simple"),
    ] {
        assert_eq!(client.request(line), format!("info string {answer}\n"), "{line}");
        assert_eq!(client.fen(), fen, "{line}");
    }
    for ignored in ["", "xyzzy", "register later", "debug on", "Position startpos", "banmoves h2e2", "\u{0}"] {
        assert_eq!(client.request(ignored), "", "{ignored}");
    }
    // In the user's words, not the system's.
    #[cfg(target_os = "linux")]
    for (file, cause) in [
        ("/no/such/net", "there is no such file or folder"),
        ("/proc/version/net", "a part of this path is a file"),
        ("/proc/self/mem", "it cannot be read or written"),
    ] {
        let answer = client.request(&format!("setoption name EvalFile value {file}"));
        assert_eq!(answer, format!("info string setoption EvalFile: cannot read the net {file}: {cause}\n"));
    }
}

/// A move for another position than the GUI's would be wrong, and often illegal.
#[test]
fn after_an_invalid_position_there_is_no_move() {
    let mut client = Client::new();
    for invalid in ["position startpos moves h2e2 h2e2", "position fen 9/9/9 w", "position", "fen"] {
        assert!(client.request(invalid).starts_with("info string position: "), "{invalid}");
        for go in ["go depth 3", "go perft 1", "go depth 3 searchmoves h2h2", "ucinewgame\ngo nodes 10"] {
            assert_eq!(client.request(go), "bestmove (none)\n", "{invalid}: {go}");
        }
        assert!(client.request("position startpos\ngo depth 1").contains("bestmove "), "{invalid}");
    }
    client.send("ucci");
    client.request("position fen 9/9/9 w");
    assert_eq!(client.request("go depth 1"), "nobestmove\n");
}

#[test]
fn the_table_survives_an_invalid_position() {
    let second = |between: &str| {
        let mut client = Client::new();
        let nodes = |client: &mut Client| {
            last_word(&client.request("position startpos\ngo depth 6"), "nodes").unwrap().parse::<u64>().unwrap()
        };
        let first = nodes(&mut client);
        client.request(between);
        (first, nodes(&mut client))
    };
    let (first, again) = second("");
    assert!(again < first, "{again} {first}");
    assert_eq!(second("position fen 9/9/9 w"), (first, again));
    assert_eq!(second("position startpos moves a0a0\ngo depth 2"), (first, again));
}

#[test]
fn the_word_position_may_be_missing() {
    let mut client = Client::new();
    for (short, long) in [
        ("startpos", "position startpos"),
        ("startpos moves h2e2 h9g7", "position startpos moves h2e2 h9g7"),
        ("fen 4k4/9/9/9/9/9/9/9/4A4/4KR3 w moves f0f5", "position fen 4k4/9/9/9/9/9/9/9/4A4/4KR3 w moves f0f5"),
    ] {
        assert_eq!(client.request(short), "", "{short}");
        let fen = client.fen();
        assert_eq!(client.request(long), "", "{long}");
        assert_eq!(client.fen(), fen);
    }
}

/// Perpetual check by a chariot, ended by the rules.
const PERPETUAL: &str = "position fen 5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w moves e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9";

#[test]
fn a_game_that_is_over_can_be_searched() {
    let mut client = Client::new();
    let answer = client.request(&format!("{PERPETUAL}\nd\ngo depth 3"));
    assert!(answer.contains("info string Red loses by perpetual check: "), "{answer}");
    assert!(answer.contains("\nbestmove "), "{answer}");
    let answer = client.request(&format!("{PERPETUAL} e0f0 f9e9\nd\ngo depth 3"));
    assert!(answer.contains("info string the game was over after move 8 (perpetual_check)"), "{answer}");
    assert!(answer.contains("\nbestmove "), "{answer}");
    assert_eq!(client.session.game().len(), 10);
    // Bare defenders, and the natural limit.
    for fen in ["4k4/4a4/9/9/9/9/9/9/4A4/3K5 w", "rnbakabnr/9/9/9/9/9/9/9/9/RNBAKABNR w - - 120 70"] {
        let answer = client.request(&format!("position fen {fen}\ngo depth 3"));
        assert!(answer.contains("bestmove "), "{answer}");
    }
    // Under other rules the verdict differs.
    let answer = client.request(&format!("{PERPETUAL}\nsetoption name Rules value simple\nd"));
    assert!(answer.contains("repetition") || answer.contains("drawn"), "{answer}");
}

#[test]
fn debug_commands_show_the_position() {
    let mut client = Client::new();
    let answer = client.request("position startpos moves h2e2\nd");
    assert!(answer.contains("info string fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - "));
    assert!(answer.ends_with("info string the game continues under cxr rules\n"), "{answer}");
    let answer = client.request("position startpos\ngo perft 2");
    assert!(answer.starts_with("a0a1: 44\n") && answer.ends_with("\nnodes 1920\n"), "{answer}");
    assert_eq!(client.request("go perft 0"), "nodes 1\n");
    client.send("go perft 20");
    client.send("stop");
    client.session.finish();
    assert_eq!(client.output.take(), "info string perft: stopped\n");
}

#[test]
fn the_end_of_the_input_is_quit() {
    let output = Output::default();
    uci::run(b"uci\nposition startpos\ngo infinite".as_slice(), output.clone(), setup()).unwrap();
    let text = output.take();
    assert!(text.contains("uciok\n") && text.lines().last().unwrap().starts_with("bestmove "), "{text}");
    let long = [b"position startpos moves ".to_vec(), b"h2e2 ".repeat(1 << 19), b"\nisready\nquit\nisready\n".to_vec()]
        .concat();
    uci::run(long.as_slice(), output.clone(), setup()).unwrap();
    assert_eq!(output.take(), "info string a line of more than 1048576 bytes\nreadyok\n");
}
