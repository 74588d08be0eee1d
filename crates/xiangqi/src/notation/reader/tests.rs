use super::*;

fn moves(text: &str) -> String {
    let transcript = Transcript::read("", text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let replay = transcript.play(RuleSet::Cxr).unwrap_or_else(|error| panic!("{text}: {error}"));
    replay.game.moves().map(|mv| mv.to_string()).collect::<Vec<_>>().join(" ")
}

fn error(text: &str) -> String {
    Transcript::read("", text).and_then(|it| it.play(RuleSet::Cxr)).unwrap_err().to_string()
}

#[test]
fn a_game_is_read_as_people_write_it() {
    for text in [
        "h2e2 h9g7 h0g2",
        "h3e3 h10g8 h1g3",
        "H2-E2 H9-G7 H0-G2",
        "1. C2=5 H8+7 2. H2+3",
        "1. C2=5, H8+7; 2. H2+3, …",
        "1. C2=5, H8+7； 2. H2+3....",
        "1.C2.5 H8+7 2.H2+3",
        "| 1. C2=5 | H8+7 | 2. H2+3 | |",
        "1.炮二平五 马8进7 2.马二进三 *",
        "炮二平五，马8进7、马二进三。",
        "炮二平五马8进7马二进三",
        "1炮二平五马8进72马二进三",
        "1. 炮 二 平 五 马 8 进 7 2. 马二进三",
        "１．炮二平五 马８进７ ２．马二进三；",
        "１、炮二平五 马８进７ ２、马二进三",
        "========\n1.炮二平五\n    马8进7\n 2.马二进三\n   *\n  =========",
        "1.砲二平五 馬8進7 2⋯⋯ 傌二進三 紅勝",
        "1. 炮2=5 马8+7 2. …… 马2+3 和棋",
        "1 炮二平五 馬８進７ 2 馬二進三 1/2-1/2",
        "[Event \"x\"]\n1. h2e2 {a comment} h9g7 $1\n2. h0g2!? ; to the end of the line\n1-0",
        "1. h2e2 (1. b2e2 (1. g3g4) {a ) b}) h9g7 （好）2. h0g2\n% an escape\nRed wins",
        "position startpos moves h2e2 h9g7 h0g2",
        "position fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1 moves h2e2 h9g7 h0g2",
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR r moves h2e2 h9g7 h0g2",
        "[FEN \"rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w\"]\n\n1.h2e2 h9g7 2.h0g2",
    ] {
        assert_eq!(moves(text), "h2e2 h9g7 h0g2", "{text}");
    }
}

#[test]
fn tandem_pawns_are_not_the_numbers_of_moves() {
    let fen = "4k4/3Pa4/9/3P5/3P5/9/9/9/9/3K5 w";
    for (text, uci) in [
        ("36=5", "d5e5"),
        ("36.5", "d5e5"),
        ("26=5", "d6e6"),
        ("26.5", "d6e6"),
        ("16=5", "d8e8"),
        ("16.5", "d8e8"),
        ("1. 16.5", "d8e8"),
        ("1.16.5", "d8e8"),
        ("16.P-.5", "d5e5"),
        ("-P=5", "d5e5"),
        ("-P.5", "d5e5"),
    ] {
        let transcript = Transcript::read(fen, text).unwrap();
        let replay = transcript.play(RuleSet::Wxf).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(replay.game.moves().map(|mv| mv.to_string()).collect::<Vec<_>>(), [uci], "{text}");
    }
}

#[test]
fn skipped_parts_are_named_with_their_places() {
    let text = "[Event \"x\"]\n1. h2e2 {good} (1. b2e2 ( x )) h9g7!\n; 机器\n2. h0g2 （好） $3";
    let transcript = Transcript::read("", text).unwrap();
    assert_eq!(transcript.tag("Event"), Some("x"));
    let skipped: Vec<_> = transcript.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        skipped,
        [
            "comment `{good}` at line 2, column 9",
            "variation `(1. b2e2 ( x ))` at line 2, column 16",
            "glyph `!` at line 2, column 36",
            "comment `; 机器` at line 3, column 1",
            "comment `（好）` at line 4, column 9",
            "glyph `$3` at line 4, column 13",
        ]
    );
}

#[test]
fn results_are_read_in_both_languages() {
    let result = |text| Transcript::read("", &format!("h2e2 {text}")).unwrap().result;
    for text in ["1-0", "红胜", "紅方勝", "Red wins", "black resigns", "红先胜", "黑方负"] {
        assert_eq!(result(text), Some(Some(Outcome::RedWins)), "{text}");
    }
    for text in ["0-1", "黑胜", "黑方勝", "Black won.", "红方负"] {
        assert_eq!(result(text), Some(Some(Outcome::BlackWins)), "{text}");
    }
    for text in ["1/2-1/2", "½-½", "判和。", "和棋", "draw"] {
        assert_eq!(result(text), Some(Some(Outcome::Draw)), "{text}");
    }
    assert_eq!((result("*"), result("")), (Some(None), None));
}

#[test]
fn errors_name_the_place() {
    assert_eq!(error("h2e2 h2e2"), "move 2: `h2e2`: nothing of Black's stands on h2");
    assert_eq!(error("h2e2\nh9g5"), "line 2, column 1: move 2: `h9g5`: Black's horse on h9 does not go to g5");
    assert_eq!(error("h2e2 zzz"), "move 2: `zzz` is not a move in any known notation");
    assert_eq!(error("h2e2\n h9g7 zzz"), "line 2, column 7: move 3: `zzz` is not a move in any known notation");
    assert_eq!(error("h2e2 {x"), "line 1, column 6: the bracket of `{x` is not closed");
    assert_eq!(error("h2e2 (x"), "line 1, column 6: the bracket of `(x` is not closed");
    assert_eq!(error("h2e2 )"), "move 2: `)` is not a move in any known notation");
    assert_eq!(error("h2e2 1-0 h9g7"), "line 1, column 10: a move after the result: `h9g7`");
    assert_eq!(error("h2e2 1-0 *"), "line 1, column 10: a second result, `*`");
    assert_eq!(error("startpos startpos"), "line 1, column 10: a second position, or a position after moves");
    assert_eq!(error("h2e2 startpos"), "line 1, column 6: a second position, or a position after moves");
    let fen = |text| Transcript::read(text, "").unwrap_err().to_string();
    assert_eq!(fen("9/9 w"), "FEN board: 2 ranks, not 10");
    assert_eq!(fen("9"), "FEN board: 1 rank, not 10");
    assert_eq!(
        fen("4k4/9/9/9/9/9/9/9/9/3K5 white"),
        "FEN side: `white` is neither `w` (or `r`) for Red nor `b` for Black"
    );
}

#[test]
fn numerals_of_the_other_side_give_a_hint() {
    let fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b";
    let text = "炮二平五 马8进7";
    let transcript = Transcript::read(fen, text).unwrap();
    assert!(
        transcript
            .hint()
            .unwrap()
            .to_string()
            .ends_with("Black moves first in the position, and the text begins with Red")
    );
    assert!(Transcript::read("", text).unwrap().hint().is_none());
    assert!(error("马8进7 炮二平九").contains("`炮二平九`"));
    // All numerals alike is a habit, and no sign of an error.
    assert!(Transcript::read("", "炮2平5 马8进7").unwrap().hint().is_none());
}

#[test]
fn the_whole_text_decides_how_ranks_are_counted() {
    // Under both countings a legal move for Red.
    assert_eq!(moves("a1a2"), "a0a1");
    assert_eq!(moves("c4c5 c7c6"), "c3c4 c6c5");
    assert_eq!(moves("b1c3 a10a9"), "b0c2 a9a8");
}
