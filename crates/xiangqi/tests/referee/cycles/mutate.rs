//! Cycles from known ones: the same moves on a slightly different board.
//!
//! A rulebook's example is on the edge of its rule; with one piece more or less the verdict may
//! tip. Levels that chance hardly finds (the pinned chariot) survive here.

use super::super::board::{Board, Color, Kind};
use super::random::place_near;
use super::{Case, SplitMix64, find_loop, is_cycle, mirror_case, swap_colours_case};

const KINDS: [Kind; 6] = [Kind::Chariot, Kind::Cannon, Kind::Horse, Kind::Advisor, Kind::Elephant, Kind::Pawn];

/// A case of `known`, changed by one to three pieces, perhaps mirrored and with colours exchanged.
/// Its moves are still legal and still reach a third occurrence. `known` must hold such cases.
pub fn mutated_case(rng: &mut SplitMix64, known: &[Case]) -> Case {
    loop {
        let base = &known[rng.below(known.len())];
        let mut case = base.clone();
        for _ in 0..=rng.below(3) {
            change_piece(rng, &mut case.start);
        }
        if case == *base || !is_cycle(&case) {
            continue;
        }
        if rng.one_in(5) {
            case = with_other_loop(rng, case);
        }
        if rng.one_in(2) {
            case = mirror_case(&case);
        }
        if rng.one_in(2) {
            case = swap_colours_case(&case);
        }
        return case;
    }
}

/// Moves, adds, removes or transforms a piece. The result may be unsound.
fn change_piece(rng: &mut SplitMix64, board: &mut Board) {
    let men: Vec<u8> = (0..90).filter(|&p| board.at(p).is_some()).collect();
    let at = rng.pick(&men);
    let Some(piece) = board.at(at) else { return };
    match rng.below(5) {
        0 => {
            board.put(at, None);
            place_near(rng, board, piece, Some(at));
        }
        1 | 2 => {
            let new = (rng.pick(&Color::BOTH), rng.pick(&KINDS));
            let near = rng.one_in(2).then_some(at);
            place_near(rng, board, new, near);
        }
        3 => board.put(at, None),
        _ if piece.1 != Kind::King => board.put(at, Some((piece.0, rng.pick(&KINDS)))),
        _ => {}
    }
}

/// Replaces the second loop, if the case is one loop played twice.
fn with_other_loop(rng: &mut SplitMix64, case: Case) -> Case {
    let half = case.moves.len() / 2;
    let once = &case.moves[..half];
    if once != &case.moves[half..] {
        return case;
    }
    let plies = rng.pick(&[4, 6]);
    let Some(other) = find_loop(rng, &case.start, plies) else {
        return case;
    };
    let mixed = Case { moves: [once, &other].concat(), ..case.clone() };
    if is_cycle(&mixed) { mixed } else { case }
}
