//! Verdicts in English.

use super::{super::Reason, Class, CycleVerdict, Ending, Game};
use crate::{Bitboard, Color};

pub(super) fn sentence(game: &Game, ending: &Ending) -> String {
    match (ending.reason, &ending.cycle, ending.outcome.loser()) {
        (Reason::Checkmate, _, Some(loser)) => {
            let loser_name = loser.name();
            let king = game.position().king(loser);
            let from = listed(game.position().checkers(), |square| square.to_string());
            format!("{loser_name} is checkmated: its king on {king} is attacked from {from} and has no escape.")
        }
        (Reason::Stalemate, _, Some(loser)) => {
            let loser = loser.name();
            format!("{loser} is not in check but has no legal move: stalemate, and {loser} loses.")
        }
        (_, Some(cycle), Some(loser)) => lost(game, cycle, loser),
        (_, Some(cycle), None) => drawn(game, cycle),
        (Reason::BareDefenders, ..) => "Draw: no chariot, horse, cannon or pawn is left on the board.".to_owned(),
        _ => {
            let counted = game.limit_counter().counted();
            format!("Draw by the natural limit: {counted} counted plies without a capture.")
        }
    }
}

fn lost(game: &Game, cycle: &CycleVerdict, loser: Color) -> String {
    let offence = match cycle.conduct(loser).class {
        Class::Check => "check",
        Class::MateThreat => "threat of mate",
        _ => "chase",
    };
    let winner = !loser;
    let less = match cycle.conduct(winner).class {
        Class::Allowed => String::new(),
        _ => format!("; {} offended less: {}", winner.name(), conduct(game, cycle, winner)),
    };
    format!("{} loses by perpetual {offence}: {}{less}.", loser.name(), conduct(game, cycle, loser))
}

fn drawn(game: &Game, cycle: &CycleVerdict) -> String {
    if cycle.conduct.iter().all(|conduct| conduct.class == Class::Allowed) {
        let (from, to) = (cycle.from, cycle.to);
        return format!(
            "Draw by repetition: the position after ply {from} stands for the third time after ply {to}, and neither \
             side did anything forbidden on all of its moves."
        );
    }
    let [red, black] = Color::ALL.map(|side| conduct(game, cycle, side));
    format!("Draw by repetition, both sides having offended alike: {red}; {black}.")
}

fn conduct(game: &Game, cycle: &CycleVerdict, side: Color) -> String {
    let (first, last) = game.turns(cycle, side);
    let moves = format!("each of {}'s moves from ply {first} to ply {last}", side.name());
    let conduct = cycle.conduct(side);
    let victims = listed(conduct.victims, |square| format!("{} now on {square}", game.kind_at(square).name()));
    let prey = (!side).name();
    match conduct.class {
        Class::Allowed => format!("{} did nothing forbidden", side.name()),
        Class::Check => format!("{moves} gives check"),
        Class::MateThreat => format!("{moves} gives check or threatens mate"),
        Class::Chase => format!("{moves} chases {prey}'s {victims}, and each reply saves it"),
        Class::ChasePinnedChariot => {
            let among = if conduct.victims.count() > 1 { "one of them a chariot " } else { "" };
            let own = side.name();
            format!("{moves} chases {prey}'s {victims}, {among}pinned by {own}'s horse, and each reply saves it")
        }
    }
}

fn listed(squares: Bitboard, name: impl Fn(crate::Square) -> String) -> String {
    let names: Vec<_> = squares.into_iter().map(name).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, most)) => format!("{} and {last}", most.join(", ")),
        None => String::new(),
    }
}
