//! Verdicts in words.

mod chinese;
mod english;

use super::{Class, CycleVerdict, Ending, Game};
use crate::{Bitboard, Color, PieceKind, Square};

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
        Explanation {
            english: english::sentence(self, ending),
            chinese: chinese::sentence(self, ending),
            offences: ending.cycle.as_ref().map_or_else(Vec::new, |cycle| self.offences(cycle)),
        }
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
            let king = moment.position.king(!side);
            offences.push(Offence {
                ply: cycle.from + 1 + moment.index,
                side,
                class: if moment.position.in_check() { Class::Check } else { class },
                by,
                victims: if class.is_against_king() { king.into() } else { chased },
            });
        });
        offences
    }

    /// The plies of this side's first and last moves in a cycle that the last move closed.
    fn turns(&self, cycle: &CycleVerdict, side: Color) -> (usize, usize) {
        if self.position().turn() == side { (cycle.from + 1, cycle.to - 1) } else { (cycle.from + 2, cycle.to) }
    }

    /// The kind of a victim. A cycle takes nothing, so its victims stand where it says.
    fn kind_at(&self, victim: Square) -> PieceKind {
        self.position().piece_at(victim).expect("a victim stands where the verdict says").kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fen, rules::RuleSet};

    fn explained(rules: RuleSet, fen: &str, moves: &str) -> Explanation {
        let mut game = Game::new(fen.parse::<Fen>().unwrap(), rules);
        for text in moves.split(' ').filter(|text| !text.is_empty()) {
            game.push(game.position().parse_move(text).unwrap()).unwrap();
        }
        game.explain(game.status().ending().expect("the game is over"))
    }

    fn check(rules: RuleSet, fen: &str, moves: &str, english: &str, chinese: &str) {
        let explanation = explained(rules, fen, moves);
        assert_eq!((explanation.english.as_str(), explanation.chinese.as_str()), (english, chinese));
    }

    #[test]
    fn each_reason_has_its_sentence() {
        check(
            RuleSet::Cxr,
            "3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w",
            "d0e1 c1c2 e1d0 c2c1 d0e1 c1c2 e1d0 c2c1",
            "Black loses by perpetual chase: each of Black's moves from ply 2 to ply 8 chases Red's chariot now on f1, \
             pinned by Black's horse, and each reply saves it; Red offended less: each of Red's moves from ply 1 to ply 7 \
             chases Black's horse now on g1, and each reply saves it.",
            "黑方自第2步至第8步每步均捉被己方马牵制的红车（f1），对方每步逃捉，是长捉；\
             红方自第1步至第7步每步均捉黑马（g1），对方每步逃捉，是长捉，违规较轻；黑方判负。",
        );
        check(
            RuleSet::Cxr,
            "9/3rkr3/2c1ca3/9/9/9/9/9/4A4/3KC4 w",
            "e1d2 e7d7 d2e1 d7e7 e1d2 e7d7 d2e1 d7e7",
            "Draw by repetition, both sides having offended alike: each of Red's moves from ply 1 to ply 7 gives check; \
             each of Black's moves from ply 2 to ply 8 gives check.",
            "红方自第1步至第7步每步均将军，是长将；黑方自第2步至第8步每步均将军，是长将；双方违规相当，判和。",
        );
        check(
            RuleSet::Cxr,
            "4k4/9/9/9/9/9/9/9/4A4/3K1A3 w",
            "",
            "Draw: no chariot, horse, cannon or pawn is left on the board.",
            "棋盘上已无车、马、炮、兵（卒），判和。",
        );
        check(
            RuleSet::Cxr,
            "3k5/9/9/9/9/9/9/9/4R4/4K4 w - - 119",
            "e1e2",
            "Draw by the natural limit: 120 counted plies without a capture.",
            "未吃子步数达到120步，符合自然限着，判和。",
        );
    }

    #[test]
    fn mates_are_explained() {
        let mate = explained(RuleSet::Cxr, "3k5/9/3P5/9/9/9/9/9/3R5/4K4 w", "d7d8");
        assert_eq!(mate.english, "Black is checkmated: its king on d9 is attacked from d8 and has no escape.");
        assert_eq!(mate.chinese, "黑将（d9）受d8处攻击而无法应将，黑方被将死，判负。");
        let stalemate = explained(RuleSet::Cxr, "3k5/9/9/9/9/9/9/9/R8/4K4 w", "a1a8");
        assert_eq!(stalemate.english, "Black is not in check but has no legal move: stalemate, and Black loses.");
        assert_eq!(stalemate.chinese, "黑方未被将军而无子可动，困毙判负。");
    }
}
