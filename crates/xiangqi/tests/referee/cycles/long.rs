//! Long rings (many loops from one position, and loops that are long in themselves), and long games
//! for the natural limit.

use super::super::board::{Board, Color, Kind, Move};
use super::super::moves::{in_check, leaves_king_safe, legal_moves, pseudo_moves_from};
use super::super::ring::judge_ring;
use super::hunts::is_chased;
use super::random::place_near;
use super::{Case, SplitMix64, find_hunt, find_loop, is_sound, random_position, there_and_back};

/// The upper bound on a ring's plies before the natural limit ends the game, if it counts every
/// ply.
pub const MAX_RING_PLIES: usize = 120;

/// A ring of one to thirty loops from this position, of at most [`MAX_RING_PLIES`] plies in all,
/// and the number of different loops.
///
/// Mostly they are loops with the conduct of `first`, so that not every ring is harmless, and often
/// all but one: the last or any.
pub fn many_loops(rng: &mut SplitMix64, start: &Board, first: &[Move]) -> Option<(Vec<Move>, usize)> {
    let mut found = vec![first.to_vec()];
    found.extend(there_and_back(rng, start));
    for plies in [4, 6, 6, 8] {
        found.extend(find_loop(rng, start, plies));
        found.extend(find_hunt(rng, start, plies));
    }
    let levels = judge_ring(start, first);
    let (alike, other): (Vec<usize>, Vec<usize>) =
        (0..found.len()).partition(|&index| judge_ring(start, &found[index]) == levels);
    let from = if rng.one_in(4) { [alike.as_slice(), &other].concat() } else { alike };
    let mut loops: Vec<usize> = (0..=rng.below(30)).map(|_| rng.pick(&from)).collect();
    let plies = |loops: &[usize]| loops.iter().map(|&index| found[index].len()).sum::<usize>();
    while plies(&loops) > MAX_RING_PLIES {
        loops.pop();
    }
    if !other.is_empty() && !loops.is_empty() && rng.one_in(2) {
        let at = if rng.one_in(2) { loops.len() - 1 } else { rng.below(loops.len()) };
        loops[at] = rng.pick(&other);
    }
    while plies(&loops) > MAX_RING_PLIES {
        loops.remove(0);
    }
    let ring = loops.iter().flat_map(|&index| &found[index]).copied().collect();
    loops.sort_unstable();
    loops.dedup();
    (!loops.is_empty()).then_some((ring, loops.len()))
}

/// The hunter's offence on every move of a long loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offence {
    Nothing,
    Check,
    Chase,
}

/// The state of a long loop, in which one man of each side moves, and no other.
#[derive(Clone)]
struct LoopState {
    board: Board,
    hunter: u8,
    prey: u8,
}

/// A long loop without a repeated position, played twice, or once and then a short one. The third
/// occurrence comes after up to [`MAX_RING_PLIES`] plies. Often `None`.
pub fn long_case(rng: &mut SplitMix64) -> Option<Case> {
    let offence = rng.pick(&[Offence::Nothing, Offence::Check, Offence::Chase, Offence::Chase]);
    let (start, attacker) = hunting_ground(rng, offence)?;
    let (start, once) = long_loop(rng, start, attacker, offence)?;
    let again = if rng.one_in(4) { find_loop(rng, &start, 6) } else { None };
    let again = again.unwrap_or_else(|| once.clone());
    Some(Case::new(start, [once, again].concat()))
}

/// Kings, a hunter about to move, its prey (for checks the king), and perhaps some more men.
fn hunting_ground(rng: &mut SplitMix64, offence: Offence) -> Option<(LoopState, Color)> {
    let attacker = rng.pick(&Color::BOTH);
    let mut board = Board::empty(attacker);
    for color in Color::BOTH {
        place_near(rng, &mut board, (color, Kind::King), None);
    }
    let man = |rng: &mut SplitMix64| rng.pick(&[Kind::Chariot, Kind::Chariot, Kind::Cannon, Kind::Horse]);
    let pieces = [(attacker, man(rng)), (attacker.other(), man(rng))];
    let [hunter, prey] = pieces.map(|piece| {
        place_near(rng, &mut board, piece, None);
        (0..90).find(|&p| board.at(p) == Some(piece))
    });
    for _ in 0..rng.below(3) {
        let piece = (rng.pick(&Color::BOTH), rng.pick(&[Kind::Advisor, Kind::Elephant, Kind::Pawn]));
        place_near(rng, &mut board, piece, None);
    }
    let prey = if offence == Offence::Check { board.king(attacker.other()) } else { prey };
    let state = LoopState { hunter: hunter?, prey: prey?, board };
    is_sound(&state.board).then_some((state, attacker))
}

/// A random walk until a position recurs; the moves since its first visit are a loop.
fn long_loop(rng: &mut SplitMix64, start: LoopState, attacker: Color, offence: Offence) -> Option<(Board, Vec<Move>)> {
    let least = rng.below(MAX_RING_PLIES / 2);
    let mut visited = vec![start.board.clone()];
    let mut path = Vec::new();
    let mut now = start;
    for _ in 0..MAX_RING_PLIES {
        let mut steps = steps(&now, attacker, offence);
        if steps.is_empty() {
            return None;
        }
        let (mv, next) = steps.swap_remove(rng.below(steps.len()));
        // A short way back is not taken.
        let again = visited.iter().position(|board| board == &next.board);
        if let Some(first) = again
            && (path.len() - first < least || path.len() - first >= MAX_RING_PLIES / 2)
        {
            continue;
        }
        path.push(mv);
        if let Some(first) = again {
            return Some((next.board, path.split_off(first)));
        }
        visited.push(next.board.clone());
        now = next;
    }
    None
}

/// The quiet moves of hunter or prey that continue the offence, or save from it.
fn steps(state: &LoopState, attacker: Color, offence: Offence) -> Vec<(Move, LoopState)> {
    let LoopState { board, hunter, prey } = state;
    let attacks = board.turn == attacker;
    let mut moves = pseudo_moves_from(board, if attacks { *hunter } else { *prey });
    moves.retain(|&mv| board.at(mv.1).is_none() && leaves_king_safe(board, mv));
    let step = |mv: Move| {
        let next = board.after(mv);
        let (hunter, prey) = if attacks { (mv.1, *prey) } else { (*hunter, mv.1) };
        let checks = in_check(&next, next.turn);
        let fits = match offence {
            Offence::Nothing => true,
            Offence::Check => checks == attacks,
            Offence::Chase => !checks && is_chased(&next, attacker, prey) == attacks,
        };
        fits.then_some((mv, LoopState { board: next, hunter, prey }))
    };
    moves.into_iter().filter_map(step).collect()
}

/// A long game: random moves, many of them checks, few captures, with the natural limit's counter
/// not far from the limit. Repetitions are possible but not sought.
pub fn long_game(rng: &mut SplitMix64) -> Case {
    let start = random_position(rng);
    let counter = rng.below(125) as u32;
    let mut case = Case { start, counter, moves: Vec::new() };
    let mut board = case.start.clone();
    let mut last: [Option<Move>; 2] = [None; 2];
    // More than the limit requires, since checks past the tenth are not counted.
    for _ in 0..220 - counter.min(100) {
        let legal = legal_moves(&board);
        let quiet: Vec<Move> = legal.iter().copied().filter(|&mv| board.at(mv.1).is_none()).collect();
        let checks: Vec<Move> =
            quiet.iter().copied().filter(|&mv| in_check(&board.after(mv), board.turn.other())).collect();
        // Not straight back: that would soon be a repetition.
        let back = last[board.turn as usize].map(|(from, to)| (to, from));
        let onward = |moves: Vec<Move>| -> Vec<Move> { moves.into_iter().filter(|&mv| Some(mv) != back).collect() };
        let (checks, quiet) = (onward(checks), onward(quiet));
        let moves = if !checks.is_empty() && !rng.one_in(4) {
            checks
        } else if !quiet.is_empty() && !rng.one_in(60) {
            quiet
        } else {
            legal
        };
        if moves.is_empty() {
            break;
        }
        let mv = rng.pick(&moves);
        last[board.turn as usize] = Some(mv);
        board = board.after(mv);
        case.moves.push(mv);
    }
    case
}
