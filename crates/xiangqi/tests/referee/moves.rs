//! Piece movement and legality.
//!
//! A *pseudo-move* follows the piece's own rule and does not land on a friend. It is *legal* if,
//! made on a copy of the board, it leaves the mover's king safe. No pseudo-move can capture a safe
//! king, and it does not face the other. A pinned piece attacks a king too: the first capture of a
//! king wins.

use super::board::{Board, Color, Kind, Move, Piece, file, in_palace, is_home, point, rank};

const ORTHOGONAL: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

fn step(from: u8, (df, dr): (i32, i32)) -> Option<u8> {
    point(file(from) + df, rank(from) + dr)
}

/// The pseudo-moves of the piece on `from`, of either side.
pub fn pseudo_moves_from(board: &Board, from: u8) -> Vec<Move> {
    let Some((color, kind)) = board.at(from) else {
        return Vec::new();
    };
    let targets = match kind {
        Kind::King => palace_steps(color, from, &ORTHOGONAL),
        Kind::Advisor => palace_steps(color, from, &DIAGONAL),
        Kind::Elephant => elephant(board, color, from),
        Kind::Horse => horse(board, from),
        Kind::Chariot => chariot(board, from),
        Kind::Cannon => cannon(board, from),
        Kind::Pawn => pawn(color, from),
    };
    let friend = |to: u8| board.at(to).is_some_and(|(c, _)| c == color);
    targets.into_iter().filter(|&to| !friend(to)).map(|to| (from, to)).collect()
}

fn palace_steps(color: Color, from: u8, steps: &[(i32, i32)]) -> Vec<u8> {
    steps.iter().filter_map(|&s| step(from, s)).filter(|&to| in_palace(color, to)).collect()
}

fn elephant(board: &Board, color: Color, from: u8) -> Vec<u8> {
    let mut targets = Vec::new();
    for (df, dr) in DIAGONAL {
        if let (Some(eye), Some(to)) = (step(from, (df, dr)), step(from, (2 * df, 2 * dr)))
            && board.at(eye).is_none()
            && is_home(color, to)
        {
            targets.push(to);
        }
    }
    targets
}

/// The points a horse may jump to from `from`, each with the leg that must be empty for it.
pub fn horse_jumps(from: u8) -> Vec<(u8, u8)> {
    let mut jumps = Vec::new();
    for (df, dr) in ORTHOGONAL {
        let Some(leg) = step(from, (df, dr)) else { continue };
        // Straight once, then diagonally onwards: to either side of the same direction.
        for side in [-1, 1] {
            if let Some(to) = step(leg, (df + side * dr, dr + side * df)) {
                jumps.push((leg, to));
            }
        }
    }
    jumps
}

fn horse(board: &Board, from: u8) -> Vec<u8> {
    let free = |&(leg, _): &(u8, u8)| board.at(leg).is_none();
    horse_jumps(from).into_iter().filter(free).map(|(_, to)| to).collect()
}

/// The points from `from` in one direction to the edge of the board.
fn ray(from: u8, (df, dr): (i32, i32)) -> impl Iterator<Item = u8> {
    (1..10).map_while(move |n| step(from, (n * df, n * dr)))
}

fn chariot(board: &Board, from: u8) -> Vec<u8> {
    let mut targets = Vec::new();
    for direction in ORTHOGONAL {
        for to in ray(from, direction) {
            targets.push(to);
            if board.at(to).is_some() {
                break;
            }
        }
    }
    targets
}

fn cannon(board: &Board, from: u8) -> Vec<u8> {
    let mut targets = Vec::new();
    for direction in ORTHOGONAL {
        let mut screens = 0;
        for to in ray(from, direction) {
            match (board.at(to), screens) {
                (None, 0) => targets.push(to),
                (None, _) => {}
                (Some(_), 0) => screens = 1,
                (Some(_), _) => {
                    targets.push(to);
                    break;
                }
            }
        }
    }
    targets
}

fn pawn(color: Color, from: u8) -> Vec<u8> {
    let mut steps = vec![(0, color.forward())];
    if !is_home(color, from) {
        steps.extend([(-1, 0), (1, 0)]);
    }
    steps.into_iter().filter_map(|s| step(from, s)).collect()
}

/// All pseudo-moves of `color`, as if it were its turn.
pub fn pseudo_moves_of(board: &Board, color: Color) -> Vec<Move> {
    board.pieces_of(color).into_iter().flat_map(|from| pseudo_moves_from(board, from)).collect()
}

/// All pseudo-moves of the side to move.
pub fn pseudo_moves(board: &Board) -> Vec<Move> {
    pseudo_moves_of(board, board.turn)
}

/// Whether any pseudo-move of the other side captures `color`'s king.
pub fn in_check(board: &Board, color: Color) -> bool {
    let Some(king) = board.king(color) else {
        return false;
    };
    let takes_king = |&from: &u8| pseudo_moves_from(board, from).contains(&(from, king));
    board.pieces_of(color.other()).iter().any(takes_king)
}

/// Whether the kings stand on one file with nothing between them.
pub fn kings_face(board: &Board) -> bool {
    let (Some(red), Some(black)) = (board.king(Color::Red), board.king(Color::Black)) else {
        return false;
    };
    file(red) == file(black)
        && (rank(red) + 1..rank(black)).all(|r| point(file(red), r).is_none_or(|p| board.at(p).is_none()))
}

/// Whether this pseudo-move leaves the king of the piece that makes it safe.
pub fn leaves_king_safe(board: &Board, mv: Move) -> bool {
    let Some((color, _)) = board.at(mv.0) else {
        return false;
    };
    let next = board.after(mv);
    !in_check(&next, color) && !kings_face(&next)
}

/// Whether the piece on the first point, of either side, may go to the second.
pub fn is_legal(board: &Board, mv: Move) -> bool {
    pseudo_moves_from(board, mv.0).contains(&mv) && leaves_king_safe(board, mv)
}

/// The legal moves of `color`, as if it were its turn.
pub fn legal_moves_of(board: &Board, color: Color) -> Vec<Move> {
    let mut moves = pseudo_moves_of(board, color);
    moves.retain(|&mv| leaves_king_safe(board, mv));
    moves
}

pub fn legal_moves(board: &Board) -> Vec<Move> {
    legal_moves_of(board, board.turn)
}

/// The points of `by`'s pieces that could capture an enemy on `target` by a pseudo-move, whatever
/// its occupant now. On a point of `by`'s own these are its protectors.
pub fn attackers(board: &Board, target: u8, by: Color) -> Vec<u8> {
    let mut probe = board.clone();
    let dummy: Piece = (by.other(), Kind::Pawn);
    probe.put(target, Some(dummy));
    let mut points = probe.pieces_of(by);
    points.retain(|&from| pseudo_moves_from(&probe, from).contains(&(from, target)));
    points
}

pub fn perft(board: &Board, depth: u32) -> u64 {
    let moves = legal_moves(board);
    match depth {
        0 => 1,
        1 => moves.len() as u64,
        _ => moves.into_iter().map(|mv| perft(&board.after(mv), depth - 1)).sum(),
    }
}

fn point_text(at: u8) -> String {
    format!("{}{}", char::from(b'a' + file(at) as u8), rank(at))
}

pub fn move_text((from, to): Move) -> String {
    point_text(from) + &point_text(to)
}

pub fn parse_move(text: &str) -> Option<Move> {
    let &[from_file, from_rank, to_file, to_rank] = text.as_bytes() else {
        return None;
    };
    let read = |f: u8, r: u8| point(i32::from(f) - i32::from(b'a'), i32::from(r) - i32::from(b'0'));
    Some((read(from_file, from_rank)?, read(to_file, to_rank)?))
}

/// Moves separated by blanks.
pub fn parse_moves(text: &str) -> Option<Vec<Move>> {
    text.split_whitespace().map(parse_move).collect()
}
