//! The rulebooks' examples and the variants of books.

use crate::{
    Position,
    notation::{
        Notation::{ChineseSimplified as Simplified, ChineseTraditional as Traditional},
        samples::{self, check, error, read},
    },
};

const START: &str = Position::START_FEN;
/// Chariots on e6 and e4, horses on c9 and c7.
const BLACK_PAIRS: &str = "2n1k4/9/2n6/4r4/9/4r4/9/9/9/3K5 b";
/// Pawns on c4 to c2.
const BLACK_THREE: &str = "4k4/9/9/9/9/2p6/2p6/2p6/9/3K5 b";
/// Pawns on c4, c3, g4 and g3.
const BLACK_TWO_AND_TWO: &str = "4k4/9/9/9/9/2p3p2/2p3p2/9/9/3K5 b";

#[test]
fn an_opening_in_both_scripts() {
    let mut position = Position::start();
    let game = [
        ("炮二平五", "炮二平五", "h2e2"),
        ("马8进7", "馬8進7", "h9g7"),
        ("马二进三", "馬二進三", "h0g2"),
        ("炮8平9", "砲8平9", "h7i7"),
        ("马八进七", "馬八進七", "b0c2"),
        ("车9平8", "車9平8", "i9h9"),
        ("兵七进一", "兵七進一", "c3c4"),
        ("卒7进1", "卒7進1", "g6g5"),
        ("仕四进五", "仕四進五", "f0e1"),
        ("象3进5", "象3進5", "c9e7"),
        ("相七进九", "相七進九", "c0a2"),
        ("士4进5", "士4進5", "d9e8"),
        ("帅五平四", "帥五平四", "e0f0"),
        ("将5平4", "將5平4", "e9d9"),
        ("车一进一", "車一進一", "i0i1"),
        ("车8进9", "車8進9", "h9h0"),
    ];
    for (simplified, traditional, uci) in game {
        let mv = position.parse_move(uci).unwrap();
        assert_eq!(position.format_move(mv, Simplified), simplified);
        assert_eq!(position.format_move(mv, Traditional), traditional);
        for text in [simplified, traditional] {
            assert_eq!(position.parse_move_in(text, Simplified), Ok(mv));
            assert_eq!(position.parse_move_in(text, Traditional), Ok(mv));
        }
        let _ = position.make(mv);
    }
}

#[test]
fn characters_of_either_side_and_any_digits_are_read() {
    let variants: [(&str, &[&str]); 7] = [
        ("h2e2", &["炮二平五", "砲二平五", "包二平五", "炮2平5", "炮２平５", "炮二平5", "炮2=5", "炮２＝５"]),
        ("h0g2", &["马二进三", "馬二進三", "傌二进三", "马2上3", "傌二上三", "马2+3", "马2＋3"]),
        ("b2b1", &["炮八退一", "炮八下一", "砲8退1", "炮8-1", "炮8－1"]),
        ("i0i1", &["车一进一", "車一進一", "俥一進一", "車１上１"]),
        ("d0e1", &["仕六进五", "士六进五", "士6進5"]),
        ("g0e2", &["相三进五", "象三进五", "象3進5"]),
        ("e0e1", &["帅五进一", "帥五進一", "将5进1", "將五上一"]),
    ];
    for (uci, texts) in variants {
        for text in texts {
            assert_eq!(read(START, text, Simplified), uci, "{text}");
            assert_eq!(read(START, text, Traditional), uci, "{text}");
        }
    }
    assert_eq!(read(START, "卒三进一", Simplified), "g3g4");
    assert_eq!(read(BLACK_PAIRS, "將五平六", Simplified), "e9f9");
}

#[test]
fn other_texts_are_refused() {
    let short = ["", "炮", "二", "炮二", "炮二平", "平五", "炮平五", "前平五", "二平五"];
    let wrong =
        ["炮二平十", "炮二平０", "炮〇平五", "王五进一", "炮二走五", "平炮二五", "前后进一", "前中平四", "炮炮平五"];
    let long = ["炮二平五!", "炮二平五五", " 炮二平五", "前后兵平五", "二二二平五", "兵三前平四", "前兵三三平四"];
    let ascii = ["C2=5", "h2e2", "33=4", "22+1"];
    for text in [&short[..], &wrong, &long, &ascii].concat() {
        let message = format!("`{text}` is not a move in chinese_simplified, which writes `炮二平五`");
        assert_eq!(error(START, text, Simplified), message);
    }
}

#[test]
fn two_of_a_kind_on_a_file() {
    let chariots = [("前车进二", "e5e7"), ("前车退一", "e5e4"), ("后车进一", "e3e4"), ("后车平四", "e3f3")];
    let horses = [("前马退六", "c2d0"), ("前马进六", "c2d4"), ("后马进八", "c0b2"), ("后马进五", "c0e1")];
    check(samples::PAIRS, Simplified, &chariots);
    check(samples::PAIRS, Simplified, &horses);
    check(BLACK_PAIRS, Simplified, &[("前车进2", "e4e2"), ("后车平6", "e6f6"), ("前马进4", "c7d5")]);
    check(BLACK_PAIRS, Traditional, &[("後車平6", "e6f6"), ("後馬進2", "c9b7"), ("前馬退4", "c7d9")]);
    let cannons = "3k5/2c6/9/2c6/9/9/9/9/9/4K4 b";
    check(cannons, Traditional, &[("後砲平4", "c8d8"), ("前砲平4", "c6d6")]);
    for text in ["前傌退六", "馬前退6", "前馬七退六", "一马退六"] {
        assert_eq!(read(samples::PAIRS, text, Simplified), "c2d0", "{text}");
    }
    assert_eq!(read(samples::PAIRS, "二车平四", Simplified), "e3f3");
}

#[test]
fn the_file_is_enough_where_one_of_two_can_do_it() {
    // Cannons on h2 and h4, a horse on g2.
    let fen = "3k5/9/9/9/9/7C1/9/6NC1/9/4K4 w";
    assert_eq!(read(fen, "炮二平五", Simplified), "h4e4");
    assert_eq!(error(fen, "炮二平一", Simplified), "`炮二平一`: it could be h2i2 or h4i4");
    check(fen, Simplified, &[("前炮平五", "h4e4"), ("后炮平一", "h2i2")]);
}

#[test]
fn advisors_and_elephants_keep_their_file() {
    let moves = [("仕四进五", "f0e1"), ("仕四退五", "f2e1"), ("相七进九", "c0a2"), ("相七退五", "c4e2")];
    check(samples::GUARDS, Simplified, &moves);
    for (text, uci) in [("前仕退五", "f2e1"), ("后士进五", "f0e1"), ("後相進九", "c0a2")] {
        assert_eq!(read(samples::GUARDS, text, Simplified), uci, "{text}");
    }
}

#[test]
fn pawns_on_one_file() {
    let three = [("前兵平四", "g7f7"), ("中兵平四", "g6f6"), ("后兵平四", "g5f5"), ("兵九进一", "a3a4")];
    let four = [("前兵平四", "g8f8"), ("二兵平四", "g7f7"), ("三兵平四", "g6f6"), ("后兵平四", "g5f5")];
    let five =
        [("前兵平四", "g9f9"), ("二兵平四", "g8f8"), ("三兵平四", "g7f7"), ("四兵平四", "g6f6"), ("后兵平四", "g5f5")];
    check(samples::THREE, Simplified, &three);
    check(samples::FOUR, Simplified, &four);
    check(samples::FIVE, Simplified, &five);
    check(BLACK_THREE, Simplified, &[("前卒平4", "c2d2"), ("中卒平4", "c3d3"), ("后卒平4", "c4d4")]);
    check(BLACK_THREE, Traditional, &[("後卒平4", "c4d4")]);

    // The Wikibook numbers the last one too.
    assert_eq!(read(samples::FOUR, "四兵平四", Simplified), "g5f5");
    assert_eq!(read(samples::FOUR, "4兵平4", Simplified), "g5f5");
    assert_eq!(read(samples::FIVE, "五兵平四", Simplified), "g5f5");
    assert_eq!(read(samples::FIVE, "中兵平四", Simplified), "g7f7");
    assert_eq!(read(samples::THREE, "二兵平四", Simplified), "g6f6");
    assert_eq!(read(samples::THREE, "兵中平四", Simplified), "g6f6");
    assert_eq!(read(samples::THREE, "中三平四", Simplified), "g6f6");
    assert_eq!(read(samples::THREE, "兵三进一", Simplified), "g7g8");
    assert_eq!(read(BLACK_THREE, "２卒平４", Simplified), "c3d3");
    assert_eq!(error(samples::FOUR, "中兵平四", Simplified), "`中兵平四`: Red has no such piece");
    assert_eq!(error(samples::FOUR, "五兵平四", Simplified), "`五兵平四`: Red has no such piece");
    assert_eq!(error(samples::FOUR, "兵三平四", Simplified), "`兵三平四`: it could be g5f5 or g6f6");
}

#[test]
fn the_competition_rulebooks_four_pawns() {
    // Four pawns on file four.
    let fen = "3k5/5P3/5P3/5P3/5P3/9/9/9/9/4K4 w";
    check(fen, Simplified, &[("后兵平五", "f5e5"), ("三兵平五", "f6e6")]);
}

#[test]
fn pawns_on_two_files() {
    let red = [("前三平四", "g7f7"), ("中三平四", "g6f6"), ("后三平四", "g5f5"), ("前七进一", "c6c7")];
    check(samples::THREE_AND_TWO, Simplified, &red);
    check(samples::THREE_AND_TWO, Traditional, &[("後七平六", "c5d5")]);
    check(BLACK_TWO_AND_TWO, Simplified, &[("前3平4", "c3d3"), ("后3平4", "c4d4"), ("前7平6", "g3f3")]);

    for text in ["前兵三平四", "前兵3平4", "一三平四", "前兵平四"] {
        assert_eq!(read(samples::THREE_AND_TWO, text, Simplified), "g7f7", "{text}");
    }
    for text in ["二7平6", "二卒7平6", "后卒7平6", "後七平六", "２卒７平６"] {
        assert_eq!(read(BLACK_TWO_AND_TWO, text, Simplified), "g4f4", "{text}");
    }
    // Only one file has three.
    assert_eq!(read(samples::THREE_AND_TWO, "中兵平四", Simplified), "g6f6");
    assert_eq!(error(samples::THREE_AND_TWO, "前兵进一", Simplified), "`前兵进一`: it could be c6c7 or g7g8");
}

#[test]
fn errors_name_the_fault() {
    assert_eq!(error(START, "炮三平五", Simplified), "`炮三平五`: Red has no such piece");
    assert_eq!(error(START, "前炮平五", Simplified), "`前炮平五`: Red has no such piece");
    assert_eq!(error(START, "前三平四", Simplified), "`前三平四`: Red has no such piece");
    assert_eq!(error(START, "马二进五", Simplified), "`马二进五`: the piece does not go there");
    assert_eq!(error(START, "兵三退一", Simplified), "`兵三退一`: the piece does not go there");
    let facing = "4k4/9/9/9/9/9/9/9/4A4/4K4 w";
    assert_eq!(error(facing, "仕五进四", Simplified), "`仕五进四`: it would leave Red's king in check");
    let checked = "4k4/4R4/9/9/9/9/9/9/9/3K5 b";
    assert_eq!(error(checked, "将5平4", Traditional), "`将5平4`: it would leave Black's king in check");
}
