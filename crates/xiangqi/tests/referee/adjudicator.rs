//! The arbiter: decides a game by the `cxr` procedure, from the record alone.
//!
//! The history is kept as full boards. Order at every position: mate and stalemate, repetition,
//! natural limit, bare defenders. [`super::ring`] judges the conduct of each side in a cycle.

use super::board::{Board, Color, Kind, Move};
use super::moves::{in_check, is_legal, legal_moves, move_text};
use super::ring::judge_ring;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Counted plies without a capture after which the game is drawn: 120 in `cxr`, 100 in `wxf`
    /// and `axf`.
    pub limit: u32,
    /// Every third occurrence is a draw, even by perpetual check or chase.
    pub simple: bool,
}

impl Rules {
    pub const CXR: Rules = Rules { limit: 120, simple: false };
    pub const WXF: Rules = Rules { limit: 100, simple: false };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Ongoing,
    RedWins,
    BlackWins,
    Draw,
}

impl Outcome {
    fn lost_by(loser: Color) -> Outcome {
        match loser {
            Color::Red => Outcome::BlackWins,
            Color::Black => Outcome::RedWins,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    pub outcome: Outcome,
    /// One of the closed list of reasons; empty while the game is ongoing.
    pub reason: &'static str,
    /// The number of moves after which the game was judged.
    pub ply: usize,
    /// The plies of the first and the third occurrence.
    pub cycle: Option<(usize, usize)>,
    /// Red's and Black's level in the cycle; none where levels do not matter.
    pub levels: Option<(u8, u8)>,
}

impl Judgement {
    fn plain(outcome: Outcome, reason: &'static str, ply: usize) -> Judgement {
        Judgement { outcome, reason, ply, cycle: None, levels: None }
    }
}

/// Plays the moves and judges at the first position, the start included, at which the rules end the
/// game.
///
/// Panics on an illegal move before that: a test needs no verdict on it.
pub fn judge(start: &Board, limit_counter: u32, moves: &[Move], rules: Rules) -> Judgement {
    let mut history = vec![start.clone()];
    let mut limit = NaturalLimit { counted: limit_counter, checks: [0, 0] };
    let mut after_capture = 0;
    for ply in 0..=moves.len() {
        let now = history[ply].clone();
        if let Some(judgement) = judge_position(&history, after_capture, moves, &limit, rules) {
            return judgement;
        }
        let Some(&mv) = moves.get(ply) else { break };
        assert!(
            is_legal(&now, mv) && now.at(mv.0).is_some_and(|(color, _)| color == now.turn),
            "{} is illegal in {now}",
            move_text(mv)
        );
        let next = now.after(mv);
        limit.count(&now, mv, &next);
        if now.at(mv.1).is_some() {
            after_capture = ply + 1;
        }
        history.push(next);
    }
    Judgement::plain(Outcome::Ongoing, "", moves.len())
}

/// Judges the last position of the history.
fn judge_position(
    history: &[Board],
    after_capture: usize,
    moves: &[Move],
    limit: &NaturalLimit,
    rules: Rules,
) -> Option<Judgement> {
    let ply = history.len() - 1;
    let now = &history[ply];
    if legal_moves(now).is_empty() {
        let reason = if in_check(now, now.turn) { "checkmate" } else { "stalemate" };
        return Some(Judgement::plain(Outcome::lost_by(now.turn), reason, ply));
    }
    let occurrences: Vec<usize> = (after_capture..=ply).filter(|&p| &history[p] == now).collect();
    if let &[first, _, third] = occurrences.as_slice() {
        return Some(judge_cycle(&history[first], moves, (first, third), rules));
    }
    if limit.counted >= rules.limit {
        return Some(Judgement::plain(Outcome::Draw, "move_limit", ply));
    }
    let harmless = |kind| matches!(kind, Kind::King | Kind::Advisor | Kind::Elephant);
    if now.points.iter().flatten().all(|&(_, kind)| harmless(kind)) {
        return Some(Judgement::plain(Outcome::Draw, "bare_defenders", ply));
    }
    None
}

fn judge_cycle(start: &Board, moves: &[Move], (first, third): (usize, usize), rules: Rules) -> Judgement {
    let draw = Judgement { cycle: Some((first, third)), ..Judgement::plain(Outcome::Draw, "repetition", third) };
    if rules.simple {
        return draw;
    }
    let (red, black) = judge_ring(start, &moves[first..third]);
    let (outcome, reason) = match red.cmp(&black) {
        std::cmp::Ordering::Equal => (Outcome::Draw, "repetition"),
        std::cmp::Ordering::Greater => (Outcome::BlackWins, loss_reason(red)),
        std::cmp::Ordering::Less => (Outcome::RedWins, loss_reason(black)),
    };
    Judgement { outcome, reason, levels: Some((red, black)), ..draw }
}

fn loss_reason(level: u8) -> &'static str {
    if level == 3 { "perpetual_check" } else { "perpetual_chase" }
}

/// The counter of the natural limit, and the checks given by Red and by Black since the last
/// capture.
struct NaturalLimit {
    counted: u32,
    checks: [u32; 2],
}

impl NaturalLimit {
    fn count(&mut self, before: &Board, (_, to): Move, after: &Board) {
        if before.at(to).is_some() {
            *self = NaturalLimit { counted: 0, checks: [0, 0] };
            return;
        }
        let (mover, other) = (before.turn, before.turn.other());
        let gives_check = in_check(after, other);
        if gives_check {
            self.checks[mover as usize] += 1;
        }
        let check_past_tenth = gives_check && self.checks[mover as usize] > 10;
        let answers_check_past_tenth = self.checks[other as usize] > 10 && in_check(before, mover);
        if !check_past_tenth && !answers_check_past_tenth {
            self.counted += 1;
        }
    }
}
