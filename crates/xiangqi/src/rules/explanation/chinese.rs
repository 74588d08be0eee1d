//! Verdicts in Chinese, in the words of the competition rulebook.

use super::{
    super::{Reason, RuleSet},
    Class, CycleVerdict, Ending, Game, Offence, checks_too,
};
use crate::{Color, Piece, PieceKind, notation::simplified_name};

pub(super) fn sentence(game: &Game, ending: &Ending, offences: &[Offence]) -> String {
    match (ending.reason, &ending.cycle, ending.outcome.loser()) {
        (Reason::Checkmate, _, Some(loser)) => {
            let side = name(loser);
            let king = game.position().king(loser);
            let king_name = simplified_name(Piece::new(loser, PieceKind::King));
            let from: Vec<_> = game.position().checkers().into_iter().map(|square| square.to_string()).collect();
            format!("{side}{king_name}（{king}）受{}处攻击而无法应将，{side}方被将死，判负。", from.join("、"))
        }
        (Reason::Stalemate, _, Some(loser)) => format!("{}方未被将军而无子可动，困毙判负。", name(loser)),
        (_, Some(cycle), Some(loser)) => lost(game, cycle, offences, loser),
        (_, Some(cycle), None) => drawn(game, cycle, offences),
        (Reason::BareDefenders, ..) => "棋盘上已无车、马、炮、兵（卒），判和。".to_owned(),
        _ => format!("未吃子步数达到{}步，符合自然限着，判和。", game.limit_counter().counted()),
    }
}

/// The sentence for the ending of another game.
pub(super) fn sentence_elsewhere(ending: &Ending) -> String {
    let reason = match ending.reason {
        Reason::Checkmate => "被将死",
        Reason::Stalemate => "困毙",
        Reason::PerpetualCheck => "长将",
        Reason::PerpetualChase => "长捉",
        Reason::Repetition => "循环重复",
        Reason::MoveLimit => "自然限着",
        Reason::BareDefenders => "双方均无进攻子力",
    };
    match ending.outcome.loser() {
        Some(loser) => format!("{}方{reason}，判负。", name(loser)),
        None => format!("{reason}，判和。"),
    }
}

fn lost(game: &Game, cycle: &CycleVerdict, offences: &[Offence], loser: Color) -> String {
    let winner = !loser;
    let [guilty, other] = [loser, winner].map(|side| conduct(game, cycle, offences, side));
    let loser_name = name(loser);
    if let Some(offenders) = cycle.offenders {
        let [more, fewer] = [loser, winner].map(|side| offenders[side.index()].count());
        return format!(
            "{guilty}；{other}；{loser_name}方违规{more}子，{}方违规{fewer}子，{loser_name}方判负。",
            name(winner)
        );
    }
    let less = match cycle.conduct(winner).class {
        Class::Allowed => String::new(),
        _ => format!("；{other}，违规较轻"),
    };
    format!("{guilty}{less}；{loser_name}方判负。")
}

fn drawn(game: &Game, cycle: &CycleVerdict, offences: &[Offence]) -> String {
    if game.rules() == RuleSet::Simple {
        let (from, to) = (cycle.from, cycle.to);
        return format!("第{from}步后的局面在第{to}步后第三次出现，此规则不问其间着法，判和。");
    }
    if cycle.conduct.iter().all(|conduct| conduct.class == Class::Allowed) {
        let (from, to) = (cycle.from, cycle.to);
        return format!("第{from}步后的局面在第{to}步后第三次出现，双方均是允许循环，判和。");
    }
    let [red, black] = Color::ALL.map(|side| conduct(game, cycle, offences, side));
    let alike = match cycle.offenders {
        Some([offenders, _]) => format!("双方违规各{}子", offenders.count()),
        None => "双方违规相当".to_owned(),
    };
    format!("{red}；{black}；{alike}，判和。")
}

fn conduct(game: &Game, cycle: &CycleVerdict, offences: &[Offence], side: Color) -> String {
    let (first, last) = game.turns(cycle, side);
    let moves = format!("{}方自第{first}步至第{last}步", name(side));
    let conduct = cycle.conduct(side);
    let prey: Vec<_> = conduct
        .victims
        .into_iter()
        .map(|square| {
            format!("{}{}（{square}）", name(!side), simplified_name(Piece::new(!side, game.kind_at(square))))
        })
        .collect();
    let prey = prey.join("、");
    match conduct.class {
        Class::Allowed => format!("{}方是允许循环", name(side)),
        Class::Check => format!("{moves}每步均将军，是长将"),
        Class::MateThreat if checks_too(offences, side) => format!("{moves}每步均将军或要杀，是一将一要杀"),
        Class::MateThreat => format!("{moves}每步均要杀，是长杀"),
        Class::Chase => format!("{moves}每步均捉{prey}，对方每步逃捉，是长捉"),
        Class::ChasePinnedChariot if conduct.victims.count() > 1 => {
            format!("{moves}每步均捉{prey}（其中有车被己方马牵制），对方每步逃捉，是长捉")
        }
        Class::ChasePinnedChariot => format!("{moves}每步均捉被己方马牵制的{prey}，对方每步逃捉，是长捉"),
    }
}

const fn name(side: Color) -> &'static str {
    match side {
        Color::Red => "红",
        Color::Black => "黑",
    }
}
