//! Every notation on thousands of positions: a formatted move is parsed back, and its text means no
//! other move.

use std::collections::HashMap;

use proptest::prelude::*;
use xiangqi::{
    Color, Move, Piece, PieceKind, Position, Square,
    notation::{Notation, NotationError, parse_any},
};

/// `SplitMix64` (Steele, Lea and Flood): the same positions on every machine.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The notations whose texts depend on the position.
const RELATIVE: [Notation; 3] = [Notation::Wxf, Notation::ChineseSimplified, Notation::ChineseTraditional];

/// Checks every property of a position.
fn check(position: &Position) {
    // The letters depend on neither colour nor side of the board: the same game from the other
    // chair.
    let turned = position.flipped().mirrored();
    for notation in Notation::ALL {
        let mut written = HashMap::new();
        for mv in position.legal_moves() {
            let text = position.format_move(mv, notation);
            assert_eq!(position.parse_move_in(&text, notation), Ok(mv), "{text} ({notation}) in {position}");
            for variant in variants(&text, notation) {
                assert_eq!(position.parse_move_in(&variant, notation), Ok(mv), "{variant} ({notation}) in {position}");
            }
            check_recognition(position, mv, &text, notation);
            if notation == Notation::Wxf {
                assert_eq!(turned.format_move(mv.flipped().mirrored(), notation), text, "{position}");
            }
            if let Some(other) = written.insert(text, mv) {
                panic!("{other} and {mv} are written alike in {notation} in {position}");
            }
        }
    }
}

/// `parse_any` recognises the notation, except for ranks 1 to 10 that are also a legal move as
/// ranks 0 to 9.
fn check_recognition(position: &Position, mv: Move, text: &str, notation: Notation) {
    let expected = match notation {
        Notation::Uci1 => position.parse_move(text).unwrap_or(mv),
        _ => mv,
    };
    assert_eq!(parse_any(position, text), Ok(expected), "{text} ({notation}) in {position}");
    assert_eq!(parse_any(position, &format!(" {text}\r\n")), Ok(expected));
    if RELATIVE.contains(&notation) {
        for variant in variants(text, notation) {
            assert_eq!(parse_any(position, &variant), Ok(expected), "{variant} ({notation}) in {position}");
        }
    }
}

/// Other spellings of the same move.
fn variants(text: &str, notation: Notation) -> Vec<String> {
    match notation {
        Notation::Uci | Notation::Uci1 | Notation::Ucci => Vec::new(),
        Notation::Iccs => vec![text.to_lowercase(), text.replace('-', ""), text.to_lowercase().replace('-', "")],
        Notation::Wxf => {
            let chars: Vec<_> = text.chars().collect();
            let official = String::from_iter([chars[1], chars[0], chars[2], chars[3]]).replace('=', ".");
            let signed = chars[0] == '+' || chars[0] == '-' || chars[1] == '+' || chars[1] == '-';
            let mut variants = vec![
                text.to_lowercase(),
                text.replace('=', "."),
                text.replace('H', "N").replace('E', "B"),
                text.replace('-', "−"),
            ];
            variants.extend(signed.then_some(official));
            variants
        }
        Notation::ChineseSimplified | Notation::ChineseTraditional => vec![
            respelled(text, "车马炮兵仕相帅卒士象将进后砲進後車馬帥將", "俥傌砲卒士象將兵仕相帥進後包上后車馬将帅"),
            respelled(text, "一二三四五六七八九进進退", "123456789上上下"),
            respelled(text, "123456789", "一二三四五六七八九"),
            respelled(text, "123456789", "１２３４５６７８９"),
            respelled(text, "一二三四五六七八九平退", "１２３４５６７８９=-"),
        ],
    }
}

fn respelled(text: &str, from: &str, to: &str) -> String {
    let pairs: HashMap<char, char> = from.chars().zip(to.chars()).collect();
    assert_eq!(pairs.len(), to.chars().count());
    text.chars().map(|char| pairs.get(&char).copied().unwrap_or(char)).collect()
}

#[test]
fn games_from_the_start() {
    let mut rng = Rng(1);
    for _ in 0..12 {
        let mut position = Position::start();
        for _ in 0..100 {
            check(&position);
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let _ = position.make(rng.pick(&moves));
        }
    }
}

/// A position in which each side's chariots, horses, cannons and pawns crowd on one, two or three
/// files.
fn crowded(rng: &mut Rng) -> Option<Position> {
    let mut board = [None; Square::COUNT];
    let palace = |rng: &mut Rng, lowest| Square::new(3 + rng.below(3) as u8, lowest + rng.below(3) as u8);
    board[palace(rng, 0)?.index()] = Some(Piece::RedKing);
    board[palace(rng, 7)?.index()] = Some(Piece::BlackKing);
    for color in Color::ALL {
        for kind in [PieceKind::Pawn, PieceKind::Chariot, PieceKind::Horse, PieceKind::Cannon] {
            let files: Vec<_> = (0..=rng.below(3)).map(|_| rng.below(9) as u8).collect();
            let mut left = kind.max_count() as usize - rng.below(2);
            for _ in 0..20 {
                let square = Square::new(rng.pick(&files), rng.below(10) as u8)?;
                let at_home = kind != PieceKind::Pawn || can_stand(color, square);
                if left > 0 && at_home && board[square.index()].is_none() {
                    left -= 1;
                    board[square.index()] = Some(Piece::new(color, kind));
                }
            }
        }
    }
    let rows: Vec<String> = (0..10).rev().map(|rank| row(&board, rank)).collect();
    let side = rng.pick(&['w', 'b']);
    // Some have facing kings, or a king that could be captured.
    Position::from_fen(&format!("{} {side}", rows.join("/"))).ok()
}

fn can_stand(color: Color, square: Square) -> bool {
    let rank = if color == Color::Red { square.rank() } else { 9 - square.rank() };
    rank >= 5 || rank >= 3 && square.file().is_multiple_of(2)
}

fn row(board: &[Option<Piece>], rank: u8) -> String {
    let points = (0..9).filter_map(|file| Square::new(file, rank));
    points.map(|square| board[square.index()].map_or('1', Piece::letter)).collect()
}

#[test]
fn crowded_files() {
    let mut rng = Rng(2);
    let mut seen = 0;
    let mut pawn_layouts = HashMap::new();
    while seen < 1000 {
        let Some(position) = crowded(&mut rng) else { continue };
        check(&position);
        seen += 1;
        let pawns = position.pieces(position.turn(), PieceKind::Pawn);
        let mut counts = [0; 9];
        pawns.into_iter().for_each(|pawn| counts[usize::from(pawn.file())] += 1);
        counts.sort_unstable();
        *pawn_layouts.entry(counts).or_insert(0) += 1;
    }
    // Every kind of layout that the notations distinguish has occurred.
    for crowd in [[0, 0, 2], [0, 0, 3], [0, 0, 4], [0, 0, 5], [0, 2, 2], [0, 2, 3], [1, 2, 2], [1, 1, 3], [0, 1, 4]] {
        let times: i32 =
            pawn_layouts.iter().filter(|(counts, _)| counts.ends_with(&crowd)).map(|(_, times)| times).sum();
        assert!(times >= 10, "{crowd:?} was seen {times} times");
    }
}

#[test]
fn illegal_moves_are_refused_with_a_reason() {
    let mut rng = Rng(3);
    for _ in 0..200 {
        let Some(position) = crowded(&mut rng) else { continue };
        let legal = position.legal_moves();
        for from in Square::all() {
            for to in Square::all() {
                let mv = Move::new(from, to);
                let text = mv.to_string();
                match position.parse_move(&text) {
                    Ok(read) => assert!(read == mv && legal.contains(&mv), "{text} in {position}"),
                    Err(error) => {
                        assert!(!legal.contains(&mv), "{text} in {position}");
                        assert!(!matches!(error, NotationError::NotAMove { .. } | NotationError::Ambiguous { .. }));
                        assert!(error.to_string().contains(&text));
                    }
                }
            }
        }
    }
}

/// A parsed move is legal, and parsing never panics.
fn read_in_all(position: &Position, text: &str) {
    for notation in Notation::ALL {
        if let Ok(mv) = position.parse_move_in(text, notation) {
            assert!(position.is_legal(mv), "{text} ({notation})");
        }
    }
    match parse_any(position, text) {
        Ok(mv) => assert!(position.is_legal(mv), "{text}"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.chars().count() < 400 && !message.contains('\n'), "{message}");
        }
    }
}

fn some_position(seed: u64) -> Position {
    let mut rng = Rng(seed);
    crowded(&mut rng).unwrap_or_default()
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text: String, seed: u64) {
        read_in_all(&some_position(seed), &text);
    }

    #[test]
    fn any_text_in_the_notations_characters_is_read_or_refused(
        text in "[a-iA-I0-9+=.kaehrcpbnKAEHRCPBN一二三四五六七八九１-９车馬傌炮包兵卒士相帅将前后後中进退平上下é -]{0,6}",
        seed: u64,
    ) {
        read_in_all(&some_position(seed), &text);
    }

    #[test]
    fn any_four_words_are_read_or_refused(
        text in "[1-3+P前后中二三兵-]{1,3}[+=进平-][1-9一二三四]",
        seed: u64,
    ) {
        let position = some_position(seed);
        read_in_all(&position, &text);
        for notation in RELATIVE {
            // A text parsed in a lenient form has a strict form that is parsed as the same move.
            if let Ok(mv) = position.parse_move_in(&text, notation) {
                prop_assert_eq!(position.parse_move_in(&position.format_move(mv, notation), notation), Ok(mv));
            }
        }
    }
}
