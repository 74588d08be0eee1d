//! The search for moves that lead back to their start.
//!
//! [`find_loop`] finds loops of any shape and prefers lively moves (checks, attacks, rescues), for
//! a loop of idle moves tests little. [`there_and_back`] finds the commonest offence, one piece
//! driving another to and fro.

use std::cmp::Reverse;

use super::super::board::{Board, Color, Kind, Move};
use super::super::moves::{in_check, is_legal, leaves_king_safe, pseudo_moves, pseudo_moves_of};
use super::SplitMix64;

/// A loop of `plies` plies: legal moves without a capture after which the board is `start` again.
/// `None` if a short search finds none.
pub fn find_loop(rng: &mut SplitMix64, start: &Board, plies: usize) -> Option<Vec<Move>> {
    let mut path = Vec::new();
    let mut nodes = 60;
    extend_loop(rng, start, start, plies, &mut nodes, &mut path).then_some(path)
}

fn extend_loop(
    rng: &mut SplitMix64,
    start: &Board,
    now: &Board,
    left: usize,
    nodes: &mut usize,
    path: &mut Vec<Move>,
) -> bool {
    if left == 0 {
        return now == start;
    }
    let mut moves = pseudo_moves(now);
    moves.retain(|&mv| leads_back(start, now, mv, left));
    moves.sort_by_cached_key(|_| rng.next_u64());
    moves.truncate(12);
    moves.sort_by_cached_key(|&mv| Reverse(rng.below(6) + liveliness(now, mv)));
    for mv in moves.into_iter().take(4) {
        if *nodes == 0 {
            return false;
        }
        *nodes -= 1;
        if leaves_king_safe(now, mv) {
            path.push(mv);
            if extend_loop(rng, start, &now.after(mv), left - 1, nodes, path) {
                return true;
            }
            path.pop();
        }
    }
    false
}

/// Whether `now` can still become `start` in `left` plies if the first of them is this move, and it
/// captures nothing.
pub(super) fn leads_back(start: &Board, now: &Board, mv: Move, left: usize) -> bool {
    // A move changes two points, so with `n` own moves to come at most `2 n` points may differ.
    let own_moves_after_this = (left - 1) / 2;
    now.at(mv.1).is_none() && differing(start, &now.after(mv), now.turn) <= 2 * own_moves_after_this
}

/// The number of points where `color`'s men differ.
fn differing(a: &Board, b: &Board, color: Color) -> usize {
    let own = |board: &Board, p: u8| board.at(p).filter(|&(c, _)| c == color);
    (0..90).filter(|&p| own(a, p) != own(b, p)).count()
}

/// The score of a move for its threats and rescues.
fn liveliness(now: &Board, mv: Move) -> usize {
    let next = now.after(mv);
    let rescued = attacked(now, now.turn).saturating_sub(attacked(&next, now.turn));
    let check = if in_check(&next, next.turn) { 3 } else { 0 };
    (check + attacked(&next, next.turn)).min(4) + 3 * rescued.min(1)
}

/// The number of `color`'s men, except the king, that the other side could capture by a
/// pseudo-move.
fn attacked(board: &Board, color: Color) -> usize {
    let king = board.king(color);
    targets(board, color).into_iter().filter(|&p| Some(p) != king).count()
}

/// The points of `color`'s men that the other side could capture by a pseudo-move.
fn targets(board: &Board, color: Color) -> Vec<u8> {
    let moves = pseudo_moves_of(board, color.other());
    board.pieces_of(color).into_iter().filter(|&p| moves.iter().any(|&(_, to)| to == p)).collect()
}

/// Loops of four plies: a move and a reply, and both taken back. The same man, or the king, is
/// attacked after both moves of the side to move. Some of them, in random order.
pub fn there_and_back(rng: &mut SplitMix64, start: &Board) -> Vec<Vec<Move>> {
    let defender = start.turn.other();
    // The attacked men after each first move, and after each reply if the first move is taken back.
    // The replying man has the name of the point it came from.
    let threats = |(from, to): Move, end: Board| {
        let name = move |p: u8| if p == to { from } else { p };
        let names: Vec<u8> = targets(&end, defender).into_iter().map(name).collect();
        ((from, to), names)
    };
    let quiet = |color: Color| pseudo_moves_of(start, color).into_iter().filter(|mv| start.at(mv.1).is_none());
    let firsts: Vec<_> = quiet(start.turn).map(|mv| threats(mv, start.after(mv))).collect();
    let replies: Vec<_> = quiet(defender).map(|mv| threats(mv, start.after(mv))).collect();
    let mut loops = Vec::new();
    for (first, after_first) in &firsts {
        for (reply, after_return) in &replies {
            if after_first.iter().any(|name| after_return.contains(name)) {
                let back = |(from, to): Move| (to, from);
                loops.push(vec![*first, *reply, back(*first), back(*reply)]);
            }
        }
    }
    loops.sort_by_cached_key(|_| rng.next_u64());
    loops.truncate(24);
    loops.retain(|ring| is_legal_loop(start, ring));
    loops
}

fn is_legal_loop(start: &Board, ring: &[Move]) -> bool {
    let mut board = start.clone();
    for &mv in ring {
        if board.at(mv.1).is_some() || !is_legal(&board, mv) {
            return false;
        }
        board = board.after(mv);
    }
    &board == start
}
