//! Verdicts in words.

use super::{Class, Conduct, CycleVerdict, Ending, Game, Outcome, Reason};
use crate::{Bitboard, Color, PieceKind, Position, Square};

/// Why a game ended: one sentence in two languages, and move by move what the sentence says in sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The sentence in English.
    pub english: String,
    /// The sentence in Chinese.
    pub chinese: String,
    /// What was done on each move of the cycle by a side that did the same on all of its moves; in the order of plies.
    pub offences: Vec<Offence>,
}

/// A move that did what its side did throughout a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offence {
    /// After which ply.
    pub ply: usize,
    /// Whose move.
    pub side: Color,
    /// What the move did: give check, threaten mate, or chase.
    pub class: Class,
    /// The pieces that check, that would give mate, or that chase; where they stand after the move.
    pub by: Bitboard,
    /// The chased pieces, or the attacked king; where they stand after the move.
    pub victims: Bitboard,
}

impl Game {
    /// Explains an ending of this game, as [`Game::status`] gave it.
    #[must_use]
    pub fn explain(&self, ending: &Ending) -> Explanation {
        let (english, chinese) = match (ending.reason, &ending.cycle, ending.outcome.loser()) {
            (Reason::Checkmate, _, Some(loser)) => checkmate(self.position(), loser),
            (Reason::Stalemate, _, Some(loser)) => (
                format!("{} is not in check but has no legal move, and loses by stalemate.", english_side(loser)),
                format!("{}未被将军而无子可动，困毙判负。", chinese_side(loser)),
            ),
            (_, Some(cycle), Some(loser)) => self.lost_cycle(cycle, loser),
            (_, Some(cycle), None) => self.drawn_cycle(cycle),
            (Reason::BareDefenders, ..) => (
                "Draw: no chariot, horse, cannon or pawn is left on the board.".to_owned(),
                "棋盘上已无车、马、炮、兵（卒），判和。".to_owned(),
            ),
            _ => {
                let counted = self.limit_counter().counted();
                (
                    format!("Draw by the natural limit: {counted} counted plies without a capture."),
                    format!("未吃子步数达到{counted}步，符合自然限着，判和。"),
                )
            }
        };
        let offences = ending.cycle.as_ref().map_or_else(Vec::new, |cycle| self.offences(cycle));
        Explanation { english, chinese, offences }
    }

    fn lost_cycle(&self, cycle: &CycleVerdict, loser: Color) -> (String, String) {
        let winner = !loser;
        let (own, other) = (cycle.conduct(loser), cycle.conduct(winner));
        let mut english = format!(
            "{} loses by {}: {}",
            english_side(loser),
            if own.class.is_against_king() { "perpetual check" } else { "perpetual chase" },
            self.english_conduct(cycle, loser)
        );
        let mut chinese = format!("{}，{}判负。", self.chinese_conduct(cycle, loser), chinese_side(loser));
        if own.class == Class::MateThreat {
            english = english.replacen("perpetual check", "perpetual threat of mate", 1);
        }
        if other.class == Class::Allowed {
            english.push('.');
        } else {
            english.push_str(&format!(
                "; {} offended less: {}.",
                english_side(winner),
                self.english_conduct(cycle, winner)
            ));
            chinese =
                format!("{}；{}，违规较轻。", chinese.trim_end_matches('。'), self.chinese_conduct(cycle, winner));
        }
        (english, chinese)
    }

    fn drawn_cycle(&self, cycle: &CycleVerdict) -> (String, String) {
        let (from, to) = (cycle.from, cycle.to);
        let [red, black] = &cycle.conduct;
        if red.class == Class::Allowed && black.class == Class::Allowed {
            return (
                format!(
                    "Draw by repetition: the position after ply {from} stands again after ply {to}, and neither side broke a rule in between."
                ),
                format!("第{from}步后的局面在第{to}步后重复出现，双方均是允许循环，判和。"),
            );
        }
        (
            format!(
                "Draw by repetition, since both sides offended alike: {}; {}.",
                self.english_conduct(cycle, Color::Red),
                self.english_conduct(cycle, Color::Black)
            ),
            format!(
                "{}，{}，双方违规相当，判和。",
                self.chinese_conduct(cycle, Color::Red),
                self.chinese_conduct(cycle, Color::Black)
            ),
        )
    }

    /// The plies at which this side moved first and last in the cycle, and how often it did.
    fn turns(&self, cycle: &CycleVerdict, side: Color) -> (usize, usize, usize) {
        let starts = self.position().turn() == side;
        let (first, last) = if starts { (cycle.from + 1, cycle.to - 1) } else { (cycle.from + 2, cycle.to) };
        (first, last, (last - first) / 2 + 1)
    }

    fn english_conduct(&self, cycle: &CycleVerdict, side: Color) -> String {
        let (first, last, times) = self.turns(cycle, side);
        let Conduct { class, victims } = *cycle.conduct(side);
        let moves = format!("each of {}'s {times} moves from ply {first} to ply {last}", english_side(side));
        match class {
            Class::Allowed => format!("{} did nothing forbidden", english_side(side)),
            Class::Check => format!("{moves} gives check"),
            Class::MateThreat => format!("{moves} gives check or threatens mate"),
            Class::Chase | Class::ChasePinnedChariot => {
                let names: Vec<_> = victims
                    .into_iter()
                    .map(|square| format!("the {} now on {square}", self.kind_at(square).name()))
                    .collect();
                let pinned = if class == Class::ChasePinnedChariot {
                    format!(" (a chariot among them pinned by {}'s horse)", english_side(side))
                } else {
                    String::new()
                };
                format!("{moves} chases {}'s {}{pinned} and each reply saves it", english_side(!side), listed(&names))
                    .replace("'s the ", "'s ")
            }
        }
    }

    fn chinese_conduct(&self, cycle: &CycleVerdict, side: Color) -> String {
        let (first, last, _) = self.turns(cycle, side);
        let Conduct { class, victims } = *cycle.conduct(side);
        let moves = format!("{}自第{first}步至第{last}步", chinese_side(side));
        match class {
            Class::Allowed => format!("{}是允许循环", chinese_side(side)),
            Class::Check => format!("{moves}每步均将军，是长将"),
            Class::MateThreat => format!("{moves}每步均将军或要杀，是长杀"),
            Class::Chase | Class::ChasePinnedChariot => {
                let names: Vec<_> = victims
                    .into_iter()
                    .map(|square| format!("{}（{square}）", chinese_kind(!side, self.kind_at(square))))
                    .collect();
                let pinned = if class == Class::ChasePinnedChariot { "被己方马牵制的" } else { "" };
                format!("{moves}每步均捉{pinned}{}{}且对方每步逃捉，是长捉", chinese_side(!side), names.join("、"))
            }
        }
    }

    fn kind_at(&self, square: Square) -> PieceKind {
        // A cycle takes nothing, so its victims stand where it says.
        self.position().piece_at(square).map_or(PieceKind::Pawn, |piece| piece.kind())
    }

    fn offences(&self, cycle: &CycleVerdict) -> Vec<Offence> {
        let ring = self.ring(cycle.from);
        let mut offences = Vec::new();
        ring.walk(|mut moment| {
            let side = moment.mover;
            let class = cycle.conduct(side).class;
            if class == Class::Allowed {
                return;
            }
            let chased = moment.victims(&ring, &cycle.conduct);
            let by = moment.offenders(class, chased);
            let checks = moment.position.in_check();
            offences.push(Offence {
                ply: cycle.from + 1 + moment.index,
                side,
                class: if checks { Class::Check } else { class },
                by,
                victims: if class.is_against_king() { moment.position.king(!side).into() } else { chased },
            });
        });
        offences
    }
}

fn checkmate(position: &Position, loser: Color) -> (String, String) {
    let checkers: Vec<_> = position.checkers().into_iter().map(|square| square.to_string()).collect();
    let king = position.king(loser);
    (
        format!(
            "{} is checkmated: its king on {king} is attacked from {} and has no escape.",
            english_side(loser),
            listed(&checkers)
        ),
        format!(
            "{}被将死：{}（{king}）受{}处攻击，无法应将，判负。",
            chinese_side(loser),
            chinese_kind(loser, PieceKind::King),
            checkers.join("、")
        ),
    )
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

const fn english_side(side: Color) -> &'static str {
    match side {
        Color::Red => "Red",
        Color::Black => "Black",
    }
}

const fn chinese_side(side: Color) -> &'static str {
    match side {
        Color::Red => "红方",
        Color::Black => "黑方",
    }
}

/// The name of a piece in simplified characters, as its side writes it.
const fn chinese_kind(side: Color, kind: PieceKind) -> &'static str {
    match (side, kind) {
        (_, PieceKind::Chariot) => "车",
        (_, PieceKind::Horse) => "马",
        (_, PieceKind::Cannon) => "炮",
        (Color::Red, PieceKind::Pawn) => "兵",
        (Color::Black, PieceKind::Pawn) => "卒",
        (Color::Red, PieceKind::Advisor) => "仕",
        (Color::Black, PieceKind::Advisor) => "士",
        (Color::Red, PieceKind::Elephant) => "相",
        (Color::Black, PieceKind::Elephant) => "象",
        (Color::Red, PieceKind::King) => "帅",
        (Color::Black, PieceKind::King) => "将",
    }
}

/// Who won, in words of its own for those who print results.
impl Outcome {
    /// The result as game records write it: `1-0`, `0-1` or `1/2-1/2`.
    #[must_use]
    pub const fn record(self) -> &'static str {
        match self {
            Self::RedWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }
}
