//! Cycles from nothing: a sparse position with pieces in each other's way, and a search for moves
//! that lead back.
//!
//! Most loops of most positions are harmless, so several are tried and the referee's own levels
//! choose between them. That makes the interesting ones frequent; it does not decide the right
//! verdict.

use super::super::board::{Board, Color, Kind, Move, file, rank};
use super::super::moves::{horse_jumps, legal_moves};
use super::super::ring::judge_ring;
use super::{Case, SplitMix64, find_hunt, find_loop, is_sound, there_and_back};

/// The kinds of a random position, weighted by their use.
const KINDS: [Kind; 18] = [
    Kind::Chariot,
    Kind::Chariot,
    Kind::Chariot,
    Kind::Chariot,
    Kind::Cannon,
    Kind::Cannon,
    Kind::Cannon,
    Kind::Cannon,
    Kind::Horse,
    Kind::Horse,
    Kind::Horse,
    Kind::Horse,
    Kind::Advisor,
    Kind::Advisor,
    Kind::Elephant,
    Kind::Elephant,
    Kind::Pawn,
    Kind::Pawn,
];

/// Kings and one to eight more pieces, near each other, with a sound board.
pub fn random_position(rng: &mut SplitMix64) -> Board {
    loop {
        let mut board = Board::empty(rng.pick(&Color::BOTH));
        for color in Color::BOTH {
            place_near(rng, &mut board, (color, Kind::King), None);
        }
        if rng.one_in(3) {
            plant_pinned_chariot(rng, &mut board);
        }
        for _ in 0..=rng.below(8) {
            let piece = (rng.pick(&Color::BOTH), rng.pick(&KINDS));
            let men: Vec<u8> = (0..90).filter(|&p| board.at(p).is_some()).collect();
            let anchor = rng.pick(&men);
            let near = (!rng.one_in(3)).then_some(anchor);
            place_near(rng, &mut board, piece, near);
        }
        if is_sound(&board) {
            return board;
        }
    }
}

/// Puts the piece on a free point where it can stand, if there is one (near the anchor, if one is
/// given).
pub(super) fn place_near(rng: &mut SplitMix64, board: &mut Board, piece: (Color, Kind), anchor: Option<u8>) {
    let is_near = |p: u8| anchor.is_none_or(|a| (file(a) - file(p)).abs() <= 3 && (rank(a) - rank(p)).abs() <= 3);
    let fits = |&p: &u8| board.at(p).is_none() && Board::can_stand(piece, p) && is_near(p);
    let places: Vec<u8> = (0..90).filter(fits).collect();
    if !places.is_empty() {
        board.put(rng.pick(&places), Some(piece));
    }
}

/// Level 2 needs a chariot on the leg of a horse that looks at its king: too rare to wait for.
fn plant_pinned_chariot(rng: &mut SplitMix64, board: &mut Board) {
    let side = rng.pick(&Color::BOTH);
    let Some(king) = board.king(side.other()) else { return };
    let jumps: Vec<(u8, u8)> = (0..90)
        .filter(|&horse| board.at(horse).is_none())
        .flat_map(|horse| horse_jumps(horse).into_iter().map(move |jump| (horse, jump)))
        .filter(|&(_, (leg, to))| to == king && board.at(leg).is_none())
        .map(|(horse, (leg, _))| (horse, leg))
        .collect();
    let (horse, leg) = rng.pick(&jumps);
    board.put(horse, Some((side, Kind::Horse)));
    board.put(leg, Some((side.other(), Kind::Chariot)));
    // Line pieces to chase it along its rank or file, and an advisor to step between.
    let by_rank = rng.one_in(2);
    for _ in 0..2 {
        let kind = rng.pick(&[Kind::Chariot, Kind::Cannon]);
        let on_line = |&p: &u8| if by_rank { rank(p) == rank(leg) } else { file(p) == file(leg) };
        let line: Vec<u8> = (0..90).filter(on_line).filter(|&p| board.at(p).is_none()).collect();
        board.put(rng.pick(&line), Some((side, kind)));
    }
    place_near(rng, board, (side.other(), Kind::Advisor), Some(king));
}

/// A random position, perhaps after a few moves, and a loop played twice or two loops from one
/// position.
pub fn random_case(rng: &mut SplitMix64) -> Case {
    let any_will_do = rng.one_in(8);
    loop {
        let start = random_position(rng);
        let mut moves = Vec::new();
        let mut board = start.clone();
        for _ in 0..rng.pick(&[0, 0, 0, 1, 2, 3]) {
            let legal = legal_moves(&board);
            if legal.is_empty() {
                break;
            }
            let mv = rng.pick(&legal);
            board = board.after(mv);
            moves.push(mv);
        }
        if let Some(loops) = choose_loops(rng, &board, any_will_do) {
            moves.extend(&loops);
            return entered_late(rng, Case::new(start, moves), &loops);
        }
    }
}

/// Two loops in a row, equal or different. The rarest loops come first: a chase before mere checks,
/// two guilty sides before one.
fn choose_loops(rng: &mut SplitMix64, board: &Board, any_will_do: bool) -> Option<Vec<Move>> {
    let mut found = there_and_back(rng, board);
    let plies = rng.pick(&[6, 8]);
    found.extend(find_hunt(rng, board, plies));
    let plies = rng.pick(&[4, 6, 6, 8]);
    found.extend(find_loop(rng, board, plies));
    if any_will_do {
        let last = found.last()?;
        return Some([last.as_slice(), last].concat());
    }
    let interest = |ring: &Vec<Move>| {
        let (red, black) = judge_ring(board, ring);
        [0, 3, 9, 1][usize::from(red)] + [0, 3, 9, 1][usize::from(black)]
    };
    let interests: Vec<usize> = found.iter().map(interest).collect();
    let most = *interests.iter().max()?;
    let first = interests.iter().position(|&i| i == most && i > 0)?;
    let second = if rng.one_in(2) { first } else { rng.below(found.len()) };
    Some([found[first].as_slice(), &found[second]].concat())
}

/// Now and then repeats the loops and omits the first moves. The third occurrence then comes
/// elsewhere in the loops, and a seam lies within one.
pub(super) fn entered_late(rng: &mut SplitMix64, case: Case, loops: &[Move]) -> Case {
    if !rng.one_in(4) {
        return case;
    }
    let (skipped, rest) = case.moves.split_at(rng.below(case.moves.len() / 2));
    let start = skipped.iter().fold(case.start.clone(), |board, &mv| board.after(mv));
    Case { start, counter: case.counter, moves: [rest, loops].concat() }
}
