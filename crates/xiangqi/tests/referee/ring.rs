//! The levels of the two sides in a cycle.
//!
//! A *ring* is a start and moves that lead back to it. Every piece is named after its point at the
//! start of the ring, and the names travel with the pieces. Attacks are legal captures, found by
//! trying them on copies. Only the ring itself is examined.

use super::board::{Board, Color, Kind, Move, is_home};
use super::moves::{horse_jumps, in_check, is_legal, leaves_king_safe, pseudo_moves_of};

/// A position of a ring; `names[p]` is the starting point of the piece on `p`.
struct Frame {
    board: Board,
    names: [Option<u8>; 90],
}

/// One side's conduct in a ring.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SideFinding {
    /// 3 perpetual check, 2 chase of a chariot pinned by a horse, 1 chase, 0 allowed.
    pub level: u8,
    /// The starting points of the perpetually chased pieces.
    pub victims: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingFinding {
    pub red: SideFinding,
    pub black: SideFinding,
}

/// Red's and Black's level in one ring: legal moves without a capture that lead from `start` back
/// to it, in one loop or several.
pub fn judge_ring(start: &Board, moves: &[Move]) -> (u8, u8) {
    let finding = examine_ring(start, moves);
    (finding.red.level, finding.black.level)
}

/// As [`judge_ring`], with the chased pieces.
pub fn examine_ring(start: &Board, moves: &[Move]) -> RingFinding {
    let mut names = [None; 90];
    for p in 0..90 {
        names[usize::from(p)] = start.at(p).map(|_| p);
    }
    let mut frames = vec![Frame { board: start.clone(), names }];
    for &(from, to) in moves {
        let last = &frames[frames.len() - 1];
        assert!(last.board.at(to).is_none(), "a capture in a ring");
        let mut names = last.names;
        names[usize::from(to)] = names[usize::from(from)].take();
        frames.push(Frame { board: last.board.after((from, to)), names });
    }
    assert_eq!(&frames[frames.len() - 1].board, start, "the ring does not close");
    RingFinding { red: examine_side(&frames, Color::Red), black: examine_side(&frames, Color::Black) }
}

fn examine_side(frames: &[Frame], side: Color) -> SideFinding {
    // The positions after that side's moves.
    let reached: Vec<usize> = (1..frames.len()).filter(|&i| frames[i].board.turn != side).collect();
    if reached.iter().all(|&i| in_check(&frames[i].board, side.other())) {
        return SideFinding { level: 3, victims: Vec::new() };
    }
    let mut victims = hit(frames, reached[0], side);
    for &i in &reached[1..] {
        if !victims.is_empty() {
            let hits = hit(frames, i, side);
            victims.retain(|name| hits.contains(name));
        }
    }
    let pinned_throughout = |name: u8| {
        reached.iter().all(|&i| {
            let at = frames[i].names.iter().position(|&n| n == Some(name));
            at.is_some_and(|at| is_chariot_pinned_by_horse(&frames[i].board, at as u8, side))
        })
    };
    let level = match victims.as_slice() {
        [] => 0,
        some if some.iter().any(|&name| pinned_throughout(name)) => 2,
        _ => 1,
    };
    SideFinding { level, victims }
}

/// The names of the pieces that `side` chases in frame `i`, which its move led to, and that the
/// reply makes safe.
fn hit(frames: &[Frame], i: usize, side: Color) -> Vec<u8> {
    let after = &frames[i];
    if in_check(&after.board, side.other()) {
        return Vec::new();
    }
    // At the seam the last frame is the first over again. A piece then enters the reply under the
    // name that its point has in the first frame, though its own name may have changed since.
    let (before_reply, reply) = if i + 1 < frames.len() { (after, &frames[i + 1]) } else { (&frames[0], &frames[1]) };
    let still_chased: Vec<Option<u8>> =
        chased(&reply.board, side).iter().map(|&p| reply.names[usize::from(p)]).collect();
    chased(&after.board, side)
        .into_iter()
        .filter(|&p| !still_chased.contains(&before_reply.names[usize::from(p)]))
        .filter_map(|p| after.names[usize::from(p)])
        .collect()
}

/// The points of the pieces that `side` chases, were it to move now, in ascending order.
fn chased(board: &Board, side: Color) -> Vec<u8> {
    let mut captures = pseudo_moves_of(board, side);
    captures.retain(|&mv| board.at(mv.1).is_some() && leaves_king_safe(board, mv));
    captures.retain(|&mv| is_chase(board, mv));
    (0..90).filter(|&p| captures.iter().any(|&(_, to)| to == p)).collect()
}

/// Whether this legal move is a capture that counts as a chase.
pub fn is_chase(board: &Board, (from, to): Move) -> bool {
    let (Some((_, hunter)), Some((enemy, prey))) = (board.at(from), board.at(to)) else {
        return false;
    };
    if matches!(hunter, Kind::King | Kind::Pawn) || prey == Kind::King || (prey == Kind::Pawn && is_home(enemy, to)) {
        return false;
    }
    if matches!(hunter, Kind::Horse | Kind::Cannon) && prey == Kind::Chariot {
        return true;
    }
    let taken = board.after((from, to));
    if pseudo_moves_of(&taken, enemy).into_iter().any(|mv| mv.1 == to && leaves_king_safe(&taken, mv)) {
        return false;
    }
    !(hunter == prey && is_legal(board, (to, from)))
}

/// Whether the chariot on `at` stands on the leg between a horse of `side` and the other side's
/// king.
fn is_chariot_pinned_by_horse(board: &Board, at: u8, side: Color) -> bool {
    let Some(king) = board.king(side.other()) else {
        return false;
    };
    board.at(at) == Some((side.other(), Kind::Chariot))
        && (0..90)
            .filter(|&p| board.at(p) == Some((side, Kind::Horse)))
            .any(|horse| horse_jumps(horse).contains(&(at, king)))
}
