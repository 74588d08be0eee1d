//! The older custom, as `docs/RULES.md` makes the Wikibook's few lines exact.
//!
//! Third occurrences, the natural limit and the rest are [`adjudicator::judge`]'s; the perpetually
//! chased pieces are [`examine_ring`]'s. Added here: threats of mate, and the comparison by numbers
//! instead of by levels.

use super::adjudicator::{self, Judgement, Outcome, Rules};
use super::board::{Board, Color, Move};
use super::moves::{in_check, leaves_king_safe, pseudo_moves_from, pseudo_moves_of};
use super::ring::{examine_ring, is_chase};

/// A side's conduct in a cycle. If several classes apply, the last of them: an attack on a piece
/// and the king at once is an attack on the king.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    Allowed,
    /// Each move hits the same piece.
    Chase,
    /// Each move gives check or threatens mate, and not all give check.
    MateThreat,
    /// Each move gives check.
    Check,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::Allowed, Class::Chase, Class::MateThreat, Class::Check];

    pub fn name(self) -> &'static str {
        match self {
            Class::Allowed => "allowed",
            Class::Chase => "chase",
            Class::MateThreat => "mate_threat",
            Class::Check => "check",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conduct {
    pub class: Class,
    /// The starting points of the pieces that took part in the offence; none if the side did not
    /// offend.
    pub offenders: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub red: Conduct,
    pub black: Conduct,
    pub loser: Option<Color>,
}

/// Plays the moves and judges at the first position at which the rules end the game. A third
/// occurrence also has the finding on both sides. The judgement's levels stay empty.
pub fn judge(start: &Board, limit_counter: u32, moves: &[Move]) -> (Judgement, Option<Finding>) {
    // Simple rules end the game at the same ply and do not judge the cycle.
    let judgement = adjudicator::judge(start, limit_counter, moves, Rules { limit: 120, simple: true });
    let Some((first, third)) = judgement.cycle else {
        return (judgement, None);
    };
    let from = moves[..first].iter().fold(start.clone(), |board, &mv| board.after(mv));
    let finding = judge_cycle(&from, &moves[first..third]);
    let lost_by = |outcome, conduct: &Conduct| {
        let reason = if conduct.class == Class::Chase { "perpetual_chase" } else { "perpetual_check" };
        Judgement { outcome, reason, ..judgement.clone() }
    };
    let judgement = match finding.loser {
        None => judgement,
        Some(Color::Red) => lost_by(Outcome::BlackWins, &finding.red),
        Some(Color::Black) => lost_by(Outcome::RedWins, &finding.black),
    };
    (judgement, Some(finding))
}

/// The conduct of both sides in a ring of legal moves without a capture, and the loser.
pub fn judge_cycle(start: &Board, moves: &[Move]) -> Finding {
    let ring = examine_ring(start, moves);
    let frames = frames(start, moves);
    let red = examine_side(&frames, Color::Red, &ring.red.victims);
    let black = examine_side(&frames, Color::Black, &ring.black.victims);
    let loser = match (red.class, black.class) {
        (Class::Allowed, Class::Allowed) => None,
        (_, Class::Allowed) => Some(Color::Red),
        (Class::Allowed, _) => Some(Color::Black),
        _ => match red.offenders.len().cmp(&black.offenders.len()) {
            std::cmp::Ordering::Greater => Some(Color::Red),
            std::cmp::Ordering::Less => Some(Color::Black),
            std::cmp::Ordering::Equal => None,
        },
    };
    Finding { red, black, loser }
}

/// A position of the ring, with the starting point of the piece on each point.
struct Frame {
    board: Board,
    names: Vec<Option<u8>>,
}

fn frames(start: &Board, moves: &[Move]) -> Vec<Frame> {
    let names = (0..90).map(|p| start.at(p).map(|_| p)).collect();
    let mut frames = vec![Frame { board: start.clone(), names }];
    for &(from, to) in moves {
        let last = &frames[frames.len() - 1];
        let board = last.board.after((from, to));
        let mut names = last.names.clone();
        names.swap(usize::from(from), usize::from(to));
        frames.push(Frame { board, names });
    }
    frames
}

fn examine_side(frames: &[Frame], side: Color, victims: &[u8]) -> Conduct {
    let mut only_checks = true;
    let mut only_checks_and_threats = true;
    let mut besiegers = Vec::new();
    let mut hunters = Vec::new();
    for i in 1..frames.len() {
        let Frame { board, names } = &frames[i];
        if board.turn == side {
            continue;
        }
        // After the last move the first follows.
        let reply = frames.get(i + 1).unwrap_or(&frames[1]);
        let mut guilty = checkers(board, side);
        if guilty.is_empty() {
            only_checks = false;
            if mating_pieces(&reply.board, side).is_empty() {
                guilty = mating_pieces(board, side);
            }
            only_checks_and_threats &= !guilty.is_empty();
        }
        besiegers.extend(guilty.into_iter().filter_map(|p| names[usize::from(p)]));
        hunters.extend(chasers(frames, i, side, victims).into_iter().filter_map(|p| names[usize::from(p)]));
    }
    let (class, mut offenders) = if only_checks {
        (Class::Check, besiegers)
    } else if only_checks_and_threats {
        (Class::MateThreat, besiegers)
    } else if !victims.is_empty() {
        (Class::Chase, hunters)
    } else {
        (Class::Allowed, Vec::new())
    };
    offenders.sort_unstable();
    offenders.dedup();
    Conduct { class, offenders }
}

/// The points of `side`'s pieces that attack the enemy king.
fn checkers(board: &Board, side: Color) -> Vec<u8> {
    let king = board.king(side.other());
    let takes_king = |&from: &u8| pseudo_moves_from(board, from).iter().any(|&(_, to)| Some(to) == king);
    board.pieces_of(side).into_iter().filter(takes_king).collect()
}

/// The points of the pieces with which `side`, were it to move now, could give checkmate.
pub fn mating_pieces(board: &Board, side: Color) -> Vec<u8> {
    let mut now = board.clone();
    now.turn = side;
    let mut mates = pseudo_moves_of(&now, side);
    mates.retain(|&mv| is_checkmate(&now.after(mv)) && leaves_king_safe(&now, mv));
    let mut points: Vec<u8> = mates.into_iter().map(|(from, _)| from).collect();
    points.dedup();
    points
}

fn is_checkmate(board: &Board) -> bool {
    in_check(board, board.turn) && !pseudo_moves_of(board, board.turn).into_iter().any(|mv| leaves_king_safe(board, mv))
}

/// The points of the pieces that chase one of the victims in frame `i`.
fn chasers(frames: &[Frame], i: usize, side: Color, victims: &[u8]) -> Vec<u8> {
    let Frame { board, names } = &frames[i];
    let is_victim = |p: u8| names[usize::from(p)].is_some_and(|name| victims.contains(&name));
    let mut captures = pseudo_moves_of(board, side);
    captures.retain(|&mv| is_victim(mv.1) && leaves_king_safe(board, mv) && is_chase(board, mv));
    captures.into_iter().map(|(from, _)| from).collect()
}
