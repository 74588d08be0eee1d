//! Verdicts in Chinese, in the words of the competition rulebook.

use super::{super::Reason, Class, CycleVerdict, Ending, Game};
use crate::{Color, Piece, PieceKind, notation::simplified_name};

pub(super) fn sentence(game: &Game, ending: &Ending) -> String {
    match (ending.reason, &ending.cycle, ending.outcome.loser()) {
        (Reason::Checkmate, _, Some(loser)) => {
            let side = name(loser);
            let king = game.position().king(loser);
            let king_name = simplified_name(Piece::new(loser, PieceKind::King));
            let from: Vec<_> = game.position().checkers().into_iter().map(|square| square.to_string()).collect();
            format!("{side}{king_name}（{king}）受{}处攻击而无法应将，{side}方被将死，判负。", from.join("、"))
        }
        (Reason::Stalemate, _, Some(loser)) => format!("{}方未被将军而无子可动，困毙判负。", name(loser)),
        (_, Some(cycle), Some(loser)) => {
            let less = match cycle.conduct(!loser).class {
                Class::Allowed => String::new(),
                _ => format!("；{}，违规较轻", conduct(game, cycle, !loser)),
            };
            format!("{}{less}；{}方判负。", conduct(game, cycle, loser), name(loser))
        }
        (_, Some(cycle), None) => drawn(game, cycle),
        (Reason::BareDefenders, ..) => "棋盘上已无车、马、炮、兵（卒），判和。".to_owned(),
        _ => format!("未吃子步数达到{}步，符合自然限着，判和。", game.limit_counter().counted()),
    }
}

fn drawn(game: &Game, cycle: &CycleVerdict) -> String {
    if cycle.conduct.iter().all(|conduct| conduct.class == Class::Allowed) {
        let (from, to) = (cycle.from, cycle.to);
        return format!("第{from}步后的局面在第{to}步后第三次出现，双方均是允许循环，判和。");
    }
    let [red, black] = Color::ALL.map(|side| conduct(game, cycle, side));
    format!("{red}；{black}；双方违规相当，判和。")
}

fn conduct(game: &Game, cycle: &CycleVerdict, side: Color) -> String {
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
        Class::MateThreat => format!("{moves}每步均将军或要杀，是长杀"),
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
