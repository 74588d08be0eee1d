//! The search for a perpetual chase. One side attacks the same man with every move, the other saves
//! it with every reply, and the board recurs. Longer and less regular than the loops of
//! [`super::there_and_back`].

use super::super::board::{Board, Color, Kind, Move};
use super::super::moves::{in_check, leaves_king_safe, pseudo_moves, pseudo_moves_of};
use super::super::ring::is_chase;
use super::SplitMix64;
use super::loops::leads_back;

/// The state of a search: the board, the point of the chased man, the plies left.
struct HuntState {
    now: Board,
    victim: u8,
    left: usize,
}

/// A loop of `plies` plies from `start` in which a random side chases a random man. Mostly `None`.
pub fn find_hunt(rng: &mut SplitMix64, start: &Board, plies: usize) -> Option<Vec<Move>> {
    let chaser = rng.pick(&Color::BOTH);
    let victim = rng.pick(&start.pieces_of(chaser.other()));
    if start.at(victim) == Some((chaser.other(), Kind::King)) {
        return None;
    }
    let mut path = Vec::new();
    let place = HuntState { now: start.clone(), victim, left: plies };
    extend(rng, (start, chaser), &place, &mut 60, &mut path).then_some(path)
}

fn extend(
    rng: &mut SplitMix64,
    (start, chaser): (&Board, Color),
    place: &HuntState,
    nodes: &mut usize,
    path: &mut Vec<Move>,
) -> bool {
    let HuntState { now, victim, left } = place;
    if *left == 0 {
        return now == start;
    }
    if *nodes == 0 {
        return false;
    }
    *nodes -= 1;
    let mut moves = pseudo_moves(now);
    moves.retain(|&mv| leads_back(start, now, mv, *left));
    moves.sort_by_cached_key(|_| rng.next_u64());
    for mv in moves {
        let next = now.after(mv);
        let victim = if mv.0 == *victim { mv.1 } else { *victim };
        // The chaser's move must leave the man chased, and give no check; the reply must leave it
        // safe.
        let chases = now.turn == chaser;
        if is_chased(&next, chaser, victim) == chases
            && !(chases && in_check(&next, next.turn))
            && leaves_king_safe(now, mv)
        {
            path.push(mv);
            let place = HuntState { now: next, victim, left: left - 1 };
            if extend(rng, (start, chaser), &place, nodes, path) {
                return true;
            }
            path.pop();
        }
    }
    false
}

pub(super) fn is_chased(board: &Board, chaser: Color, victim: u8) -> bool {
    pseudo_moves_of(board, chaser)
        .into_iter()
        .any(|mv| mv.1 == victim && is_chase(board, mv) && leaves_king_safe(board, mv))
}
