//! Cycles in which a side threatens mate, or gives check, with every move: chance alone hardly
//! finds them.
//!
//! The besieged king has few defenders and many attackers around him. A move that threatens mate, a
//! reply that parries it and both taken back are a loop. Each of the two boards between must be a
//! threat or a check too. Loops of other shapes come from a short search for moves that lead back.
//! Here too the referee's judgement only chooses cases; it does not decide the right verdict.

use super::super::board::{Board, Color, Kind, Move};
use super::super::moves::{in_check, is_legal, leaves_king_safe, legal_moves_of, pseudo_moves};
use super::super::wikibook::{self, Class, mating_pieces};
use super::loops::leads_back;
use super::random::{entered_late, place_near};
use super::{Case, SplitMix64, find_loop, is_sound};

/// The attackers, weighted by their use.
const ATTACKERS: [Kind; 9] = [
    Kind::Chariot,
    Kind::Chariot,
    Kind::Chariot,
    Kind::Cannon,
    Kind::Cannon,
    Kind::Horse,
    Kind::Horse,
    Kind::Pawn,
    Kind::Pawn,
];
const DEFENDERS: [Kind; 7] =
    [Kind::Advisor, Kind::Advisor, Kind::Elephant, Kind::Chariot, Kind::Cannon, Kind::Horse, Kind::Pawn];

/// A sound board with one king besieged, the besieger to move, and no mate in one.
fn siege_position(rng: &mut SplitMix64) -> (Board, Color) {
    loop {
        let besieger = rng.pick(&Color::BOTH);
        let mut board = Board::empty(besieger);
        for color in Color::BOTH {
            place_near(rng, &mut board, (color, Kind::King), None);
        }
        let Some(king) = board.king(besieger.other()) else { continue };
        for _ in 0..2 + rng.below(3) {
            let attacker = (besieger, rng.pick(&ATTACKERS));
            let near = rng.one_in(2).then_some(king);
            place_near(rng, &mut board, attacker, near);
        }
        for _ in 0..rng.below(4) {
            let defender = (besieger.other(), rng.pick(&DEFENDERS));
            let near = rng.one_in(2).then_some(king);
            place_near(rng, &mut board, defender, near);
        }
        // A sally: the reply that parries a threat may itself be a check or a chase.
        if rng.one_in(2) {
            for _ in 0..=rng.below(2) {
                let near = board.king(besieger).filter(|_| !rng.one_in(3));
                let sallying = (besieger.other(), rng.pick(&ATTACKERS));
                place_near(rng, &mut board, sallying, near);
            }
        }
        if is_sound(&board) && mating_pieces(&board, besieger).is_empty() {
            return (board, besieger);
        }
    }
}

/// Whether the besieger, who has just moved on the first of these boards or has its pieces as if it
/// had, checks or could mate.
fn presses(board: &Board, besieger: Color) -> bool {
    in_check(board, besieger.other()) || !mating_pieces(board, besieger).is_empty()
}

/// Loops of four plies in which each of the besieger's moves checks or threatens mate; all there
/// are, up to a few.
fn there_and_back(rng: &mut SplitMix64, start: &Board, besieger: Color) -> Vec<Vec<Move>> {
    let quiet = |color: Color| {
        let mut moves = legal_moves_of(start, color);
        moves.retain(|&mv| start.at(mv.1).is_none());
        moves
    };
    let pressing = |color: Color| {
        let mut moves = quiet(color);
        moves.retain(|&mv| presses(&start.after(mv), besieger));
        moves
    };
    let replies = pressing(besieger.other());
    if replies.is_empty() {
        return Vec::new();
    }
    let mut loops = Vec::new();
    for first in pressing(besieger) {
        for &reply in &replies {
            let back = |(from, to): Move| (to, from);
            loops.push(vec![first, reply, back(first), back(reply)]);
        }
    }
    loops.sort_by_cached_key(|_| rng.next_u64());
    loops.truncate(12);
    loops.retain(|ring| {
        let mut board = start.clone();
        let legal = ring.iter().all(|&mv| {
            let fine = board.at(mv.1).is_none() && is_legal(&board, mv);
            board = board.after(mv);
            fine
        });
        legal && &board == start
    });
    loops
}

/// A loop of `plies` plies in which each of the besieger's moves checks or threatens mate and each
/// reply parries it. Mostly `None`.
fn find_siege(rng: &mut SplitMix64, start: &Board, besieger: Color, plies: usize) -> Option<Vec<Move>> {
    let mut path = Vec::new();
    extend(rng, (start, besieger), start, plies, &mut 24, &mut path).then_some(path)
}

fn extend(
    rng: &mut SplitMix64,
    (start, besieger): (&Board, Color),
    now: &Board,
    left: usize,
    nodes: &mut usize,
    path: &mut Vec<Move>,
) -> bool {
    if left == 0 {
        return now == start;
    }
    if *nodes == 0 {
        return false;
    }
    *nodes -= 1;
    let mut moves = pseudo_moves(now);
    moves.retain(|&mv| leads_back(start, now, mv, left));
    moves.sort_by_cached_key(|_| rng.next_u64());
    moves.truncate(12);
    for mv in moves {
        let next = now.after(mv);
        if leaves_king_safe(now, mv) && presses(&next, besieger) == (now.turn == besieger) {
            path.push(mv);
            if extend(rng, (start, besieger), &next, left - 1, nodes, path) {
                return true;
            }
            path.pop();
        }
    }
    false
}

/// A siege played twice, two of them in a row, or one and a loop of another kind.
pub fn siege_case(rng: &mut SplitMix64) -> Case {
    loop {
        let (start, besieger) = siege_position(rng);
        let mut found = there_and_back(rng, &start, besieger);
        if found.is_empty() {
            continue;
        }
        let plies = rng.pick(&[6, 8]);
        found.extend(find_siege(rng, &start, besieger, plies));
        let plies = rng.pick(&[4, 6, 6]);
        found.extend(find_loop(rng, &start, plies));
        // Threats before mere checks, two guilty sides before one.
        let interest = |ring: &Vec<Move>| {
            let finding = wikibook::judge_cycle(&start, ring);
            [finding.red.class, finding.black.class]
                .map(|class| match class {
                    Class::Allowed => 0,
                    Class::Chase => 4,
                    Class::MateThreat => 5,
                    Class::Check => 3,
                })
                .iter()
                .sum::<usize>()
        };
        let interests: Vec<usize> = found.iter().map(interest).collect();
        let most = interests.iter().copied().max().unwrap_or(0);
        let Some(first) = interests.iter().position(|&i| i == most && i > 0) else { continue };
        let second = if rng.one_in(2) { first } else { rng.below(found.len()) };
        let loops = [found[first].as_slice(), &found[second]].concat();
        return entered_late(rng, Case::new(start, loops.clone()), &loops);
    }
}
