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
        "C2=5H8+7H2+3",
        "1.C2=5H8+72.H2+3",
        "h2e2h9g7h0g2",
        "h3e3h10g8h1g3",
        "H2-E2H9-G7 H0-G2",
        "Ｃ２＝５　Ｈ８＋７ Ｈ２＋３",
        "ｈ２ｅ２ Ｈ９－Ｇ７，h0g2 １－０",
        "第1回合 炮二平五 马8进7 第2回合：马二进三",
        "第一回合：炮二平五 马8进7\n第二回合：马二进三 红方认输",
        "1. h2e2; h9g7 ; 2. h0g2; 1-0",
        "h2e2; {good; or not} h9g7 ; (x; y) h0g2",
        "h2e2 ; h9g7 is possible\nh9g7; 好\n; 2 moves later\nh0g2",
        "moves h2e2 h9g7 h0g2",
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
    for text in [
        "1-0",
        "１－０",
        "红胜",
        "紅方勝",
        "Red wins",
        "black resigns",
        "红先胜",
        "黑方负",
        "黑方认输",
        "黑認輸",
        "先胜",
        "White wins",
        "white  won.",
        "ＲＥＤ　ＷＩＮＳ",
        "Black lost",
        "黑先负",
        "1:0",
        "1–0",
        "红方获胜",
        "黑方超时",
        "黑方超时负",
    ] {
        assert_eq!(result(text), Some(Some(Outcome::RedWins)), "{text}");
    }
    for text in [
        "0-1",
        "黑胜",
        "黑方勝",
        "Black won.",
        "红方负",
        "红方认输",
        "黑先胜",
        "先负",
        "White resigns",
        "紅先負",
        "0:1",
        "红方超时",
    ] {
        assert_eq!(result(text), Some(Some(Outcome::BlackWins)), "{text}");
    }
    for text in [
        "1/2-1/2",
        "½-½",
        "判和。",
        "和棋",
        "draw",
        "平局",
        "和局",
        "红先和",
        "黑先和",
        "作和",
        "和！",
        "議和",
        "和了",
        "1/2–1/2",
        "Draw agreed",
        "成和",
    ] {
        assert_eq!(result(text).flatten(), Some(Outcome::Draw), "{text}");
    }
    assert_eq!((result("*"), result("")), (Some(None), None));
}

/// The skipped parts of a text.
fn skipped(text: &str) -> Vec<String> {
    let read = Transcript::read("", text).unwrap_or_else(|error| panic!("{text}: {error}"));
    read.skipped.iter().map(ToString::to_string).collect()
}

#[test]
fn numbers_words_and_dashes_without_use_are_named() {
    assert_eq!(
        skipped("1. h2e2 1 2 3 7 99 h9g7"),
        ["2", "3", "7", "99"]
            .iter()
            .zip([11, 13, 15, 17])
            .map(|(number, column)| { format!("number `{number}` at line 1, column {column}") })
            .collect::<Vec<_>>()
    );
    assert_eq!(
        skipped("h2e2 moves h9g7 fen - position h0g2 -"),
        [
            "keyword `moves` at line 1, column 6",
            "keyword `fen` at line 1, column 17",
            "dash `-` at line 1, column 21",
            "keyword `position` at line 1, column 23",
            "dash `-` at line 1, column 37",
        ]
    );
    assert_eq!(skipped("position h2e2"), ["keyword `position` at line 1, column 1"]);
    assert_eq!(
        skipped("startpos position moves h2e2"),
        ["keyword `position` at line 1, column 10", "keyword `moves` at line 1, column 19"]
    );
    assert_eq!(
        skipped("2024 1. h2e2 h9g7 2. h0g2 3."),
        ["number `2024` at line 1, column 1", "number `3.` at line 1, column 27"]
    );
    assert_eq!(skipped("第3回合 h2e2 第七回合 h9g7"), ["number `第七回合` at line 1, column 11"]);
    assert_eq!(skipped("C2=5 2024 H8+7"), ["number `2024` at line 1, column 6"]);
    assert_eq!(skipped("炮二平五 99 马8进7"), ["number `99` at line 1, column 6"]);
    assert_eq!(skipped("h2e2 第九回合 h9g7"), ["number `第九回合` at line 1, column 6"]);
    assert_eq!(skipped("h2e2 h9g7 2024"), ["number `2024` at line 1, column 11"]);
    assert_eq!(
        skipped("h2e2 1-0 {x} 红胜"),
        ["comment `{x}` at line 1, column 10", "result `红胜` at line 1, column 14"]
    );
    for text in [
        "1. h2e2 h9g7 2. h0g2 i9h9 3.",
        "7. h2e2 7... h9g7 8. h0g2",
        "1. h2e2 2. h9g7 3. h0g2",
        "position startpos moves h2e2",
        "fen rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1 moves h2e2",
    ] {
        assert_eq!(skipped(text), [""; 0], "{text}");
    }
}

#[test]
fn tags_without_use_are_named() {
    let text = "[Result \"1-O\"]\n[Rules \"nonsense\"]\n[Notation \"runes\"]\n[Event \"a\"] [Event \"b\"]\n1. h2e2";
    let expected = [
        "tag `[Result \"1-O\"]` at line 1, column 1",
        "tag `[Rules \"nonsense\"]` at line 2, column 1",
        "tag `[Notation \"runes\"]` at line 3, column 1",
        "tag `[Event \"b\"]` at line 4, column 13",
    ];
    assert_eq!(skipped(text), expected);
    assert_eq!(Transcript::read("", text).unwrap().claimed(), None);
    let fen = "3k5/9/9/9/9/9/9/9/9/R3K4 w";
    let text = format!("[fen \"{fen}\"] [FEN \"{fen}\"] [result \"0-1\"]\na0a1");
    assert_eq!(skipped(&text), ["tag `[FEN \"3k5/9/9/9/9/9/9/9/9/R3K4 w…` at line 1, column 36"]);
    assert_eq!(Transcript::read("", &text).unwrap().claimed(), Some(Some(Outcome::BlackWins)));
    assert_eq!(moves(&text), "a0a1");
    assert_eq!(skipped("[FEN \"\"] h2e2"), ["tag `[FEN \"\"]` at line 1, column 1"]);
    let text = "[Result \"1-0\"]\n[Result \"红胜\"]\n1. h2e2 1-0";
    assert_eq!(skipped(text), ["tag `[Result \"红胜\"]` at line 2, column 1"]);
    assert_eq!(Transcript::read("", text).unwrap().claimed(), Some(Some(Outcome::RedWins)));
    assert_eq!(
        error("[Result \"1-0\"]\n[Result \"0-1\"]\nh2e2"),
        "line 2, column 1: a second result, `[Result \"0-1\"]`"
    );
    assert_eq!(error("h2e2 1-0\n[Result \"*\"]"), "line 2, column 1: the tag `*` is not the result before it");
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
    assert!(Transcript::read("", "马8进7").unwrap().hint().is_some());
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
