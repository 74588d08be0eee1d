//! The two schemes, and the variants of players.

use crate::{
    Position,
    notation::{
        Notation::Wxf,
        samples::{self, check, error, read},
    },
};

#[test]
fn an_opening() {
    let mut position = Position::start();
    let game = [
        ("C2=5", "h2e2"),
        ("H8+7", "h9g7"),
        ("H2+3", "h0g2"),
        ("R9=8", "i9h9"),
        ("R1=2", "i0h0"),
        ("H2+3", "b9c7"),
        ("P7+1", "c3c4"),
        ("P7+1", "g6g5"),
        ("R2+6", "h0h6"),
        ("C8=9", "h7i7"),
        ("R2=3", "h6g6"),
        ("C9-1", "i7i8"),
        ("A4+5", "f0e1"),
        ("E3+5", "c9e7"),
        ("K5=4", "e0f0"),
        ("K5+1", "e9e8"),
    ];
    for (text, uci) in game {
        let mv = position.parse_move(uci).unwrap();
        assert_eq!(position.format_move(mv, Wxf), text);
        assert_eq!(position.parse_move_in(text, Wxf), Ok(mv));
        assert_eq!(position.parse_move_in(&text.to_lowercase().replace('=', "."), Wxf), Ok(mv));
        let _ = position.make(mv);
    }
}

#[test]
fn other_letters_and_signs_are_read() {
    for text in ["H2+3", "N2+3", "n2+3", "h2+3"] {
        assert_eq!(read(Position::START_FEN, text, Wxf), "h0g2", "{text}");
    }
    for text in ["C8-1", "c8-1", "c8–1", "C8−1"] {
        assert_eq!(read(Position::START_FEN, text, Wxf), "b2b1", "{text}");
    }
    assert_eq!(read(Position::START_FEN, "b3+5", Wxf), "g0e2");
}

#[test]
fn other_texts_are_refused() {
    let short = ["", "C", "C2", "C2=", "C25", "=5", "2=5", "+=5"];
    let wrong = ["C2=0", "C0=5", "X2=5", "C2=5 ", "C2 =5", "C2==5", "2C=5", "C2=５", "炮2=5", "CC=5", "=C=5"];
    let long = ["++++++", "++P=5", "P++=5", "C2=55", "C22=5", "P+3-=5", "+-=5", "-+=5"];
    for text in [&short[..], &wrong, &long].concat() {
        let message = format!("`{text}` is not a move in wxf, which writes `C2=5`");
        assert_eq!(error(Position::START_FEN, text, Wxf), message);
    }
}

#[test]
fn two_of_a_kind_on_a_file() {
    let chariots = [("+R+2", "e5e7"), ("+R-1", "e5e4"), ("-R+1", "e3e4"), ("+R=4", "e5f5"), ("-R=4", "e3f3")];
    let horses = [("+H+6", "c2d4"), ("+H-5", "c2e1"), ("-H+8", "c0b2"), ("-H+5", "c0e1")];
    check(samples::PAIRS, Wxf, &chariots);
    check(samples::PAIRS, Wxf, &horses);
    for (text, uci) in [("R++2", "e5e7"), ("R+-1", "e5e4"), ("R-+1", "e3e4"), ("r-.4", "e3f3"), ("N+-5", "c2e1")] {
        assert_eq!(read(samples::PAIRS, text, Wxf), uci, "{text}");
    }
    // The file suffices where only one of the two has such a move.
    assert_eq!(read(samples::PAIRS, "H7-5", Wxf), "c2e1");
    assert_eq!(error(samples::PAIRS, "R5=4", Wxf), "`R5=4`: it could be e3f3 or e5f5");
}

#[test]
fn advisors_and_elephants_keep_their_file() {
    check(samples::GUARDS, Wxf, &[("A4+5", "f0e1"), ("A4-5", "f2e1"), ("E7+9", "c0a2"), ("E7-5", "c4e2")]);
    for (text, uci) in [("+A-5", "f2e1"), ("A-+5", "f0e1"), ("-E+9", "c0a2")] {
        assert_eq!(read(samples::GUARDS, text, Wxf), uci, "{text}");
    }
}

#[test]
fn pawns_on_one_file() {
    let three = [("+P=4", "g7f7"), ("P3=4", "g6f6"), ("-P=4", "g5f5"), ("+P+1", "g7g8"), ("P9+1", "a3a4")];
    let four = [("++=4", "g8f8"), ("+P=4", "g7f7"), ("-P=4", "g6f6"), ("--=4", "g5f5"), ("+++1", "g8g9")];
    let five = [("++=4", "g9f9"), ("+P=4", "g8f8"), ("P3=4", "g7f7"), ("-P=4", "g6f6"), ("--=4", "g5f5")];
    for (fen, moves) in [(samples::THREE, three), (samples::FOUR, four), (samples::FIVE, five)] {
        check(fen, Wxf, &moves);
        for (text, uci) in moves {
            let (selector, step) = text.split_at(2);
            let official = format!("{}{}", selector.chars().rev().collect::<String>(), step.replace('=', "."));
            if selector.contains(['+', '-']) {
                assert_eq!(read(fen, &official, Wxf), uci, "{official} in {fen}");
            }
        }
    }
    // Four have no middle.
    assert_eq!(error(samples::FOUR, "P3=4", Wxf), "`P3=4`: it could be g5f5 or g6f6");
    assert_eq!(read(samples::FOUR, "P3+1", Wxf), "g8g9");
    // Three have: it cannot step onto the front one, and no other is meant.
    assert_eq!(error(samples::THREE, "P3+1", Wxf), "`P3+1`: the piece does not go there");
}

#[test]
fn pawns_on_two_files() {
    let moves = [("3+=4", "g7f7"), ("33=4", "g6f6"), ("3-=4", "g5f5"), ("7+=6", "c6d6"), ("7-=6", "c5d5")];
    check(samples::THREE_AND_TWO, Wxf, &moves);
    let others = ["+3=4", "3+.4", "P3+=4", "p3+.4", "+P3=4", "13=4", "+P=4"];
    for text in others {
        assert_eq!(read(samples::THREE_AND_TWO, text, Wxf), "g7f7", "{text}");
    }
    for text in ["33.4", "23=4", "P3=4"] {
        assert_eq!(read(samples::THREE_AND_TWO, text, Wxf), "g6f6", "{text}");
    }
    assert_eq!(error(samples::THREE_AND_TWO, "+P+1", Wxf), "`+P+1`: it could be c6c7 or g7g8");
    assert_eq!(error(samples::THREE_AND_TWO, "77=6", Wxf), "`77=6`: Red has no such piece");
}

#[test]
fn the_world_rules_numbered_pawns() {
    let fen = "4k4/3Pa4/9/3P5/3P5/9/9/9/9/3K5 w";
    for (text, uci) in [("36=5", "d5e5"), ("26=5", "d6e6"), ("16=5", "d8e8")] {
        assert_eq!(read(fen, text, Wxf), uci, "{text}");
    }
    check(fen, Wxf, &[("-P=5", "d5e5"), ("P6=5", "d6e6"), ("+P=5", "d8e8")]);
    // The third on file 3, as no other file is crowded; compare `pawns_on_two_files`.
    assert_eq!(read(samples::THREE, "33=4", Wxf), "g5f5");
}

#[test]
fn errors_name_the_fault() {
    let start = Position::START_FEN;
    assert_eq!(error(start, "R2=5", Wxf), "`R2=5`: Red has no such piece");
    assert_eq!(error(start, "+C=5", Wxf), "`+C=5`: Red has no such piece");
    assert_eq!(error(start, "C2=8", Wxf), "`C2=8`: the piece does not go there");
    assert_eq!(error(start, "H2+5", Wxf), "`H2+5`: the piece does not go there");
    let pinned = "4k4/9/9/9/9/9/9/4r4/4A4/4K4 w";
    assert_eq!(error(pinned, "A5+4", Wxf), "`A5+4`: it would leave Red's king in check");
}
