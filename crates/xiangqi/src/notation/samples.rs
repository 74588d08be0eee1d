//! Sample positions for both relative notations, and the proof that their selectors distinguish all
//! pawns.

use super::{
    Notation, chinese,
    relative::{Description, Direction, Pattern, Step, Subject},
    wxf,
};
use crate::{Color, PieceKind, Position, Square};

/// Chariots on e3 and e5, horses on c0 and c2.
pub(super) const PAIRS: &str = "3k5/9/9/9/4R4/9/4R4/2N6/9/2N1K4 w";
/// Advisors on f0 and f2, elephants on c0 and c4.
pub(super) const GUARDS: &str = "3k5/9/9/9/9/2B6/9/5A3/9/2B1KA3 w";
/// Pawns on g5 to g7, and one on a3.
pub(super) const THREE: &str = "3k5/9/6P2/6P2/6P2/9/P8/9/9/4K4 w";
/// Pawns on g5 to g8.
pub(super) const FOUR: &str = "3k5/6P2/6P2/6P2/6P2/9/9/9/9/4K4 w";
/// Pawns on g5 to g9.
pub(super) const FIVE: &str = "3k2P2/6P2/6P2/6P2/6P2/9/9/9/9/4K4 w";
/// Pawns on g5 to g7, c5 and c6.
pub(super) const THREE_AND_TWO: &str = "3k5/9/6P2/2P3P2/2P3P2/9/9/9/9/4K4 w";

/// The parsed move, in UCI.
pub(super) fn read(fen: &str, text: &str, notation: Notation) -> String {
    let position = Position::from_fen(fen).expect(fen);
    position.parse_move_in(text, notation).unwrap_or_else(|error| panic!("{error} in {fen}")).to_string()
}

/// The parse error.
pub(super) fn error(fen: &str, text: &str, notation: Notation) -> String {
    let position = Position::from_fen(fen).expect(fen);
    position.parse_move_in(text, notation).expect_err(text).to_string()
}

/// Checks that each move is formatted as its text, and the text parsed as its move.
pub(super) fn check(fen: &str, notation: Notation, moves: &[(&str, &str)]) {
    let position = Position::from_fen(fen).expect(fen);
    for &(text, uci) in moves {
        let mv = position.parse_move(uci).unwrap();
        assert_eq!(position.format_move(mv, notation), text, "{uci} in {fen}");
        assert_eq!(read(fen, text, notation), uci, "{text} in {fen}");
    }
}

/// Visits every distribution of up to `left` pawns over the files from `file` on.
fn layouts(file: usize, left: usize, counts: &mut [usize; 9], visit: &mut impl FnMut(&[usize; 9])) {
    if file == counts.len() {
        return visit(counts);
    }
    for count in 0..=left {
        counts[file] = count;
        layouts(file + 1, left - count, counts, visit);
    }
}

/// A position with these numbers of red pawns on the files, Red to move.
fn with_pawns(counts: &[usize; 9]) -> Position {
    let mut rows = [[b'1'; 9]; 10];
    for (file, &count) in counts.iter().enumerate() {
        // On the files of the starting position pawns may also be below the river.
        let lowest = if file % 2 == 0 { 3 } else { 5 };
        (lowest..lowest + count).for_each(|rank| rows[rank][file] = b'P');
    }
    let points = (7..10).flat_map(|rank| (3..6).map(move |file| (rank, file)));
    let candidates = points.flat_map(|point| (3..6).map(move |red| (point, red)));
    let sound = candidates.filter(|&((rank, file), _)| rows[rank][file] == b'1').find_map(|((rank, file), red)| {
        let mut rows = rows;
        rows[rank][file] = b'k';
        rows[0][red] = b'K';
        let board: Vec<_> = rows.iter().rev().map(|row| String::from_utf8_lossy(row)).collect();
        Position::from_fen(&format!("{} w", board.join("/"))).ok()
    });
    sound.unwrap_or_else(|| panic!("nowhere to put the kings among {counts:?}"))
}

fn write(description: Description, notation: Notation) -> String {
    match notation {
        Notation::Wxf => wxf::write(description),
        Notation::ChineseSimplified => chinese::write(description, chinese::Script::Simplified),
        _ => chinese::write(description, chinese::Script::Traditional),
    }
}

fn pattern(position: &Position, text: &str, notation: Notation) -> Pattern {
    let pattern = if notation == Notation::Wxf { wxf::read(position, text) } else { chinese::read(text) };
    pattern.unwrap_or_else(|| panic!("{text} is not read"))
}

/// For every layout of pawns, the text of each pawn selects it and no other piece.
#[test]
fn every_pawn_is_distinguished_from_every_other() {
    let step = Step { direction: Direction::Sideways, number: 5 };
    let mut seen = 0;
    layouts(0, PieceKind::Pawn.max_count() as usize, &mut [0; 9], &mut |counts| {
        let red = with_pawns(counts);
        for position in [red.flipped(), red] {
            let side = position.turn();
            let subject = |square: Square| Subject::of(&position, square).unwrap();
            let own = position.by_color(side);
            for pawn in position.pieces(side, PieceKind::Pawn) {
                for notation in [Notation::Wxf, Notation::ChineseSimplified, Notation::ChineseTraditional] {
                    let text = write(Description { subject: subject(pawn), step }, notation);
                    let pattern = pattern(&position, &text, notation);
                    let selected: Vec<_> = own.into_iter().filter(|&from| pattern.selects(subject(from))).collect();
                    assert_eq!(selected, [pawn], "{text} in {position}");
                    assert_eq!(text.chars().count(), 4);
                }
            }
        }
        seen += 1;
    });
    assert_eq!(seen, 2002);
    assert_eq!(with_pawns(&[0; 9]).turn(), Color::Red);
}
