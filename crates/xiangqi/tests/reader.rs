//! The reader of games on the rulebooks' own texts, and on arbitrary ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

#[path = "../fuzz/properties.rs"]
#[allow(dead_code, reason = "the other properties belong to other tests")]
mod properties;

use proptest::prelude::*;
use serde_json::Value;
use xiangqi::{
    Fen,
    notation::{
        Notation,
        reader::{ReadError, Transcript},
    },
    rules::{Game, Outcome, RuleSet},
};

fn verdict(position: &str, moves: &str) -> Result<&'static str, ReadError> {
    Ok(verdict_of(&Transcript::read(position, moves)?.play(RuleSet::Cxr)?.game))
}

/// A game's verdict, as files of cases name it.
fn verdict_of(game: &Game) -> &'static str {
    match game.status().ending().map(|ending| ending.outcome) {
        None => "none",
        Some(Outcome::RedWins) => "black_loses",
        Some(Outcome::BlackWins) => "red_loses",
        Some(Outcome::Draw) => "draw",
    }
}

/// The 38 examples that the scan has, letter by letter. Four positions are damaged.
#[test]
fn the_competition_rulebooks_examples_as_printed() {
    let mut refused = Vec::new();
    for line in include_str!("data/cxr_printed.jsonl").lines() {
        let example: Value = serde_json::from_str(line).unwrap();
        let [name, uci, chinese, expected] =
            ["name", "uci", "chinese", "expected"].map(|field| example[field].as_str().unwrap());
        let (fen, _) = uci.split_once(" moves ").unwrap();
        for judged in
            [verdict(uci, ""), verdict("", uci), verdict(fen, chinese), verdict("", &format!("{fen}\n{chinese}"))]
        {
            match judged {
                Ok(judged) => assert_eq!(judged, expected, "{name}"),
                Err(error) => refused.push(format!("{name}: {error}")),
            }
        }
    }
    let damaged = [
        "CXR-03: FEN board: `l` on rank 9, file e is neither a piece nor a number of empty points 1 to 9",
        "CXR-05: FEN board: 9 ranks, not 10",
        "CXR-21: FEN board: `l` on rank 0, file b is neither a piece nor a number of empty points 1 to 9",
        "CXR-39: FEN board: 9 ranks, not 10",
    ];
    let expected: Vec<_> = damaged.into_iter().flat_map(|error| [error; 4]).collect();
    assert_eq!(refused, expected);
}

/// The move lines of the World and Asian rules, each with its place in the seeds. Of one, the
/// second half is prose. The words before an example in a line of prose are left out.
fn printed_lines() -> impl Iterator<Item = (&'static str, usize, &'static str)> {
    include_str!("data/printed_lines.txt").lines().map(|line| {
        let [book, number, text] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        (book, number.parse().unwrap(), text)
    })
}

/// The rules of a book.
fn rules_of(book: &str) -> RuleSet {
    book.parse().unwrap()
}

/// The lines of data, without remarks.
fn rows(data: &'static str) -> impl Iterator<Item = &'static str> {
    data.lines().filter(|line| !line.starts_with('#'))
}

/// Every printed move line is in a game, each game is read whole from its lines, and judged.
#[test]
fn the_move_lines_of_the_rulebooks_are_played_and_judged() {
    let mut lines: Vec<_> = printed_lines().collect();
    let samples: Vec<Value> =
        include_str!("data/wxf_sample.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut moves, mut found, mut of_the_book) = (0, Vec::new(), 0);
    for row in rows(include_str!("data/printed_games.txt")) {
        let [book, from, to, _, position] = row.splitn(5, ' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let places = from.parse().unwrap()..=to.parse().unwrap();
        let is_in = |(of, number, _): &(&str, usize, &str)| *of == book && places.contains(number);
        let text: Vec<_> = lines.extract_if(.., |line| is_in(line)).map(|(_, _, text)| text).collect();
        let sample = samples.iter().find(|sample| sample["name"] == position);
        let fen = sample.map_or(position, |sample| sample["fen"].as_str().unwrap());
        let read = Transcript::read(fen, &text.join("\n")).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert!(!read.moves.is_empty() && read.skipped.is_empty(), "{row}: {:?}", read.skipped);
        moves += read.moves.len();
        // Also the moves behind the end are legal.
        let (legal, error) = read.legal_moves();
        assert_eq!((legal.len(), error), (read.moves.len(), None), "{row}");
        let replay = read.play(rules_of(book)).unwrap();
        let verdict = verdict_of(&replay.game);
        if let Some(sample) = sample.filter(|_| verdict != "none") {
            assert_eq!(sample["expected"], verdict, "{row}");
            of_the_book += 1;
        }
        found.push(format!("{book} {from} {to} {verdict} {position}"));
    }
    let expected: Vec<_> = rows(include_str!("data/printed_games.txt")).collect();
    assert!(found == expected, "{}", found.join("\n"));
    // The one line that is refused: its second half is prose.
    let [(book, number, text)] = lines[..] else { panic!("lines in no game: {lines:?}") };
    let error = Transcript::read("", text).unwrap_err().to_string();
    assert_eq!((book, number), ("axf", 671));
    assert_eq!(error, "move 2: `红伏有兵四进一的杀着` is not a move in any known notation");
    assert_eq!((moves, of_the_book), (2_088, 36));
}

/// The articles on notation, with all that is refused and why.
#[test]
fn the_articles_on_notation_are_read_as_printed() {
    let mut refused = 0;
    for row in rows(include_str!("data/printed_notation.txt")) {
        let [_, position, text, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let played = Transcript::read(position, text).and_then(|read| {
            assert!(read.skipped.is_empty(), "{row}: {:?}", read.skipped);
            read.play(RuleSet::Wxf)
        });
        match played {
            Ok(replay) => {
                let moves: Vec<_> = replay.game.moves().map(|mv| mv.to_string()).collect();
                assert_eq!(moves.join(" "), expected, "{row}");
            }
            Err(error) => {
                assert!(expected.starts_with("refused: "), "{row}: {error}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 8);
}

/// A game of random moves, written in a notation with everything that may stand between moves.
fn written(notation: Notation, choices: &[(u16, u8)]) -> (Vec<String>, String) {
    let mut game = Game::new(Fen::start(), RuleSet::Cxr);
    let (mut played, mut text) = (Vec::new(), String::new());
    for (index, (choice, between)) in choices.iter().enumerate() {
        let moves = game.position().legal_moves();
        if moves.is_empty() || game.status().ending().is_some() {
            break;
        }
        let mv = moves[usize::from(*choice) % moves.len()];
        if index % 2 == 0 && between % 2 == 0 {
            text += &(index / 2 + 1).to_string();
            text += [".", ". "][usize::from(*between) / 2 % 2];
        }
        text += &game.position().format_move(mv, notation);
        text += [" ", ", ", "; ", "\n", " {注 (1. h2e2)} ", " (1. h2e2 {)}) ", " $4 ", "! ", "； ", "，"]
            [usize::from(*between) % 10];
        played.push(mv.to_string());
        game.push_legal(mv);
    }
    (played, text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The parts that are read and those named as skipped are the whole text.
    #[test]
    fn nothing_is_dropped(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        properties::reader(pieces.concat().as_bytes());
    }

    /// The same with pieces that are no error alone, so that more of the texts are read.
    #[test]
    fn nothing_is_dropped_from_readable_texts(
        pieces in prop::collection::vec((prop::sample::select(readable()), prop::sample::select(vec!["", " ", "\n", "; "])), 0..12),
    ) {
        let text: String = pieces.into_iter().flat_map(|(piece, blank)| [piece, blank]).collect();
        properties::reader(text.as_bytes());
    }

    #[test]
    fn any_letters_are_read_or_refused(position in "\\PC{0,40}", moves in "\\PC{0,80}") {
        for text in [&position, &moves] {
            properties::reader(text.as_bytes());
        }
        let _ = Transcript::read(&position, &moves).and_then(|read| read.play(RuleSet::Cxr).map(drop));
    }

    #[test]
    fn written_games_are_read_back(
        notation in prop::sample::select(&Notation::ALL),
        choices in prop::collection::vec(any::<(u16, u8)>(), 0..60),
    ) {
        let (played, text) = written(notation, &choices);
        let read = Transcript::read("", &text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let replay = read.play(RuleSet::Cxr).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let moves: Vec<_> = replay.game.moves().map(|mv| mv.to_string()).collect();
        // Few moves with ranks 1 to 9 alone can be legal under both countings.
        if notation != Notation::Uci1 || text.contains("10") {
            prop_assert_eq!(moves, played, "{}", text);
        }
    }
}

/// The pieces that are no error alone.
fn readable() -> Vec<&'static str> {
    let extra = ["{好}", "(1. h2e2)", "（好）", "[Event \"x\"]\n", "; a comment\n", "1. h2e2 h9g7 2. h0g2"];
    PIECES.iter().copied().chain(extra).filter(|piece| Transcript::read("", piece).is_ok()).collect()
}

/// Pieces of texts, many of which have a meaning.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "\t",
    "\u{3000}",
    ".",
    "…",
    "，",
    "。",
    "；",
    ";",
    "、",
    "|",
    "-",
    "- ",
    "---",
    "!",
    "$1",
    "%",
    "{",
    "}",
    "(",
    ")",
    "（",
    "）",
    "[",
    "]",
    "\"",
    "\\",
    "[FEN \"",
    "\"]",
    "[Event \"x\"]",
    "[Event \"a\\\" \\\\ {\"]",
    "[Result \"1-0\"]",
    "[Rules \"wxf\"]",
    "\n[",
    "\n%",
    "1",
    "2",
    "7 ",
    "12.",
    "1.",
    "2.",
    "１．",
    "第一回合",
    "第2回合：",
    "Ｃ２＝５",
    "C2=5H8+7",
    "h2e2h9g7",
    "１－０",
    "红方认输",
    "黑先胜",
    "平局",
    "White wins",
    "[Result \"1-O\"]",
    "[Notation \"x\"]",
    "[Rules \"x\"]",
    "16.5",
    "36=5",
    "2…",
    "h2e2",
    "h9g7",
    "H2-E2",
    "i10h10",
    "C2=5",
    "H8+7",
    "-P=5",
    "炮二平五",
    "马8进7",
    "炮",
    "二",
    "平",
    "五",
    "前",
    "进",
    "5",
    "1-0",
    "*",
    "和棋",
    "红胜",
    "draw",
    "position",
    "fen",
    "moves",
    "startpos",
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR",
    "w",
    "b",
    "- - 0 1",
    "zzz",
    "é",
    "🀄",
    "\0",
    "\u{feff}",
];
