//! Verdicts in English.

use super::{
    super::{Reason, RuleSet},
    Class, CycleVerdict, Ending, Game, Offence, checks_too,
};
use crate::{Bitboard, Color, text::counted};

pub(super) fn sentence(game: &Game, ending: &Ending, offences: &[Offence]) -> String {
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
        (_, Some(cycle), Some(loser)) => lost(game, cycle, offences, loser),
        (_, Some(cycle), None) => drawn(game, cycle, offences),
        (Reason::BareDefenders, ..) => "Draw: no chariot, horse, cannon or pawn is left on the board.".to_owned(),
        _ => {
            let counted = game.limit_counter().counted();
            format!("Draw by the natural limit: {counted} counted plies without a capture.")
        }
    }
}

/// The sentence for the ending of another game.
pub(super) fn sentence_elsewhere(ending: &Ending) -> String {
    let end = match ending.outcome.loser() {
        Some(loser) => format!("{} loses", loser.name()),
        None => "Draw".to_owned(),
    };
    let reason = match ending.reason {
        Reason::Checkmate => "checkmate",
        Reason::Stalemate => "stalemate",
        Reason::PerpetualCheck => "perpetual check",
        Reason::PerpetualChase => "perpetual chase",
        Reason::Repetition => "repetition",
        Reason::MoveLimit => "the natural limit",
        Reason::BareDefenders => "bare defenders",
    };
    format!("{end} by {reason}.")
}

fn lost(game: &Game, cycle: &CycleVerdict, offences: &[Offence], loser: Color) -> String {
    let offence = match cycle.conduct(loser).class {
        Class::Check => "check",
        Class::MateThreat if checks_too(offences, loser) => "checks and threats of mate",
        Class::MateThreat => "threat of mate",
        _ => "chase",
    };
    let winner = !loser;
    let [guilty, other] = [loser, winner].map(|side| conduct(game, cycle, offences, side));
    let loser_name = loser.name();
    if let Some(offenders) = cycle.offenders {
        let more = counted(offenders[loser.index()].count() as usize, "piece");
        let fewer = offenders[winner.index()].count();
        return format!("{loser_name} loses by perpetual {offence}, with {more} against {fewer}: {guilty}; {other}.");
    }
    let less = match cycle.conduct(winner).class {
        Class::Allowed => String::new(),
        _ => format!("; {} offended less: {other}", winner.name()),
    };
    format!("{loser_name} loses by perpetual {offence}: {guilty}{less}.")
}

fn drawn(game: &Game, cycle: &CycleVerdict, offences: &[Offence]) -> String {
    if game.rules() == RuleSet::Simple {
        let (from, to) = (cycle.from, cycle.to);
        return format!(
            "Draw by repetition: the position after ply {from} stands for the third time after ply {to}; these rules do \
             not ask what was done in between."
        );
    }
    if cycle.conduct.iter().all(|conduct| conduct.class == Class::Allowed) {
        let (from, to) = (cycle.from, cycle.to);
        return format!(
            "Draw by repetition: the position after ply {from} stands for the third time after ply {to}, and neither \
             side did anything forbidden on all of its moves."
        );
    }
    let [red, black] = Color::ALL.map(|side| conduct(game, cycle, offences, side));
    let alike = match cycle.offenders {
        Some([offenders, _]) => format!("with {} each", counted(offenders.count() as usize, "piece")),
        None => "alike".to_owned(),
    };
    format!("Draw by repetition, both sides having offended {alike}: {red}; {black}.")
}

fn conduct(game: &Game, cycle: &CycleVerdict, offences: &[Offence], side: Color) -> String {
    let (first, last) = game.turns(cycle, side);
    let moves = format!("each of {}'s moves from ply {first} to ply {last}", side.name());
    let conduct = cycle.conduct(side);
    let victims = listed(conduct.victims, |square| format!("{} now on {square}", game.kind_at(square).name()));
    let prey = (!side).name();
    match conduct.class {
        Class::Allowed => format!("{} did nothing forbidden", side.name()),
        Class::Check => format!("{moves} gives check"),
        Class::MateThreat if checks_too(offences, side) => format!("{moves} gives check or threatens mate"),
        Class::MateThreat => format!("{moves} threatens mate"),
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
