//! Replay of one game.

use xiangqi::rules::{Game, Outcome, Status};

use super::{Fault, FaultKind};
use crate::{
    Header,
    opening::{MAX_ATTEMPTS, Walker},
    record::{MAX_SCORE, Opening, Reason, Record},
};

/// Replays a game.
///
/// # Errors
///
/// The first violation.
pub fn verify_game(header: &Header, number: u64, record: &Record) -> Result<(), Fault> {
    let fault = |ply, kind| Err(Fault { game: number, ply, kind });
    let opening = &record.opening;
    let walker = Walker { start: opening.start.clone(), rules: header.rules, plies: header.openings.plies };
    let walked = walker.walk_unjudged(header.seed_of(number), opening.attempt);
    let same_walk = walked.is_ok_and(|walked| walked.moves == opening.moves);
    if !same_walk || opening.seed != header.seed_of(number) || opening.rules != header.rules {
        return fault(None, FaultKind::Opening);
    }
    if !may_be_kept(header, &walker, opening) {
        return fault(None, FaultKind::Attempt { attempt: opening.attempt });
    }
    let mut game = Game::new(opening.start.clone(), header.rules);
    for &mv in &opening.moves {
        game.push_legal(mv);
    }
    for (index, scored) in record.moves.iter().enumerate() {
        let ply = game.len();
        if let Some((outcome, reason)) = decided(header, record, &game, index) {
            return fault(Some(ply), FaultKind::ContinuesAfterEnd { outcome, reason });
        }
        if let Some(score) = scored.score.filter(|score| score.abs() > MAX_SCORE) {
            return fault(Some(ply + 1), FaultKind::Score { score });
        }
        if game.push(scored.mv).is_err() {
            return fault(Some(ply + 1), FaultKind::IllegalMove);
        }
    }
    let (recorded_outcome, recorded_reason) = (record.outcome, record.reason);
    let ply = Some(game.len());
    match decided(header, record, &game, record.moves.len()) {
        Some((outcome, reason)) if (outcome, reason) == (recorded_outcome, recorded_reason) => Ok(()),
        Some((outcome, reason)) => fault(ply, FaultKind::Label { recorded_outcome, recorded_reason, outcome, reason }),
        None if recorded_reason == Reason::TimeLoss && header.clock.is_some() => {
            // The lateness of the move is the player's claim; the side that moves is not.
            let (outcome, reason) = (Outcome::loss_of(game.position().turn()), Reason::TimeLoss);
            if outcome == recorded_outcome {
                return Ok(());
            }
            fault(ply, FaultKind::Label { recorded_outcome, recorded_reason, outcome, reason })
        }
        None => fault(ply, FaultKind::Stops { recorded_outcome, recorded_reason }),
    }
}

/// Whether a player may have accepted this attempt, as far as that is known without its engine.
/// Without a filter, the first walk that is an opening is accepted; without random plies, all walks
/// are equal.
fn may_be_kept(header: &Header, walker: &Walker, opening: &Opening) -> bool {
    let judged = header.openings.filter.is_some() && header.openings.plies > 0;
    opening.attempt < MAX_ATTEMPTS
        && (judged || (0..opening.attempt).all(|attempt| walker.walk_unjudged(opening.seed, attempt).is_err()))
}

/// The end of the game after this many moves, if any, in the order in which players check.
#[inline]
fn decided(header: &Header, record: &Record, game: &Game, moves: usize) -> Option<(Outcome, Reason)> {
    if let Status::Over(ending) = game.status() {
        return Some((ending.outcome, Reason::Rules(ending.reason)));
    }
    let adjudication = &header.settings.adjudication;
    if adjudication.win.is_some() || adjudication.draw.is_some() {
        let scores = record.moves[..moves].iter().map(|scored| scored.score);
        let verdict = adjudication.verdict(scores, record.opening.moves.len(), !game.position().turn());
        if verdict.is_some() {
            return verdict;
        }
    }
    (game.len() >= header.settings.ply_cap as usize).then_some((Outcome::Draw, Reason::PlyCap))
}
