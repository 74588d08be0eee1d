//! Test cases for an arbiter: random and adversarial cycles.
//!
//! [`random_case`] makes them from nothing, [`siege_case`] from positions near mate,
//! [`mutated_case`] from known ones (some are in [`twin_cases`]). All are functions of their
//! generator, so a failing case is identified by its seed. A [`Case`] prints as `FEN moves …`,
//! which [`parse_case`] reads.
//!
//! Every case consists of legal moves and reaches a third occurrence of a position. The rules may
//! end the game sooner, and moves may follow the end: that too is worth judging. The sides have no
//! more men than a game gives them, on points those can have reached.

mod hunts;
mod long;
mod loops;
mod mutate;
mod random;
mod rng;
mod sieges;
mod twins;

use std::fmt;

pub use hunts::find_hunt;
pub use long::{MAX_RING_PLIES, long_case, long_game, many_loops};
pub use loops::{find_loop, there_and_back};
pub use mutate::mutated_case;
pub use random::{random_case, random_position};
pub use rng::SplitMix64;
pub use sieges::siege_case;
pub use twins::twin_cases;

use super::board::{Board, Color, Kind, Move, fen_counter, file, rank};
use super::moves::{in_check, is_legal, kings_face, move_text, parse_moves};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    pub start: Board,
    /// The counter of the natural limit at the start.
    pub counter: u32,
    pub moves: Vec<Move>,
}

impl Case {
    pub fn new(start: Board, moves: Vec<Move>) -> Case {
        Case { start, counter: 0, moves }
    }

    pub fn fen(&self) -> String {
        let board = self.start.to_string();
        let fields: Vec<&str> = board.split(' ').take(4).collect();
        format!("{} {} 1", fields.join(" "), self.counter)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} moves", self.fen())?;
        self.moves.iter().try_for_each(|&mv| write!(out, " {}", move_text(mv)))
    }
}

/// Reads `FEN moves m1 m2 …`.
pub fn parse_case(line: &str) -> Result<Case, String> {
    let (fen, moves) = line.split_once(" moves").ok_or(format!("no moves in {line}"))?;
    let moves = parse_moves(moves).ok_or(format!("an unreadable move in {line}"))?;
    Ok(Case { start: Board::from_fen(fen)?, counter: fen_counter(fen), moves })
}

/// The mirrored case: left and right exchanged.
pub fn mirror_case(case: &Case) -> Case {
    map_case(case, |p| (rank(p) * 9 + 8 - file(p)) as u8, |color| color)
}

/// The same case with the board turned upside down and the colours exchanged.
pub fn swap_colours_case(case: &Case) -> Case {
    map_case(case, |p| ((9 - rank(p)) * 9 + file(p)) as u8, Color::other)
}

fn map_case(case: &Case, point: impl Fn(u8) -> u8, color: impl Fn(Color) -> Color) -> Case {
    let mut start = Board::empty(color(case.start.turn));
    for p in 0..90 {
        start.put(point(p), case.start.at(p).map(|(c, kind)| (color(c), kind)));
    }
    let moves = case.moves.iter().map(|&(from, to)| (point(from), point(to))).collect();
    Case { start, counter: case.counter, moves }
}

/// Whether a game could show this position, as far as can be seen without playing it. Each side has
/// a king and not too many men, and every man is where it can stand. The kings do not face each
/// other, and the side that has moved is not in check.
pub fn is_sound(board: &Board) -> bool {
    let most = |kind| match kind {
        Kind::King => 1,
        Kind::Pawn => 5,
        _ => 2,
    };
    let placed = |p: u8| board.at(p).is_none_or(|piece| Board::can_stand(piece, p));
    let few = |piece: (Color, Kind)| board.count(piece) <= most(piece.1);
    Color::BOTH.iter().all(|&c| board.king(c).is_some())
        && (0..90).all(placed)
        && board.points.iter().flatten().all(|&piece| few(piece))
        && !kings_face(board)
        && !in_check(board, board.turn.other())
}

/// Whether the start is sound, all moves are legal, and a position occurs three times with no
/// capture between.
pub fn is_cycle(case: &Case) -> bool {
    if !is_sound(&case.start) {
        return false;
    }
    let mut board = case.start.clone();
    let mut since_capture = vec![board.clone()];
    let mut thrice = false;
    for &mv in &case.moves {
        let is_own = board.at(mv.0).is_some_and(|(color, _)| color == board.turn);
        if !is_own || !is_legal(&board, mv) {
            return false;
        }
        if board.at(mv.1).is_some() {
            since_capture.clear();
        }
        board = board.after(mv);
        since_capture.push(board.clone());
        thrice |= since_capture.iter().filter(|&b| b == &board).count() >= 3;
    }
    thrice
}
