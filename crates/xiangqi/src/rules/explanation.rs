//! Verdicts in words.

mod chinese;
mod english;

use super::{Class, CycleVerdict, Ending, Game, Status};
use crate::{Bitboard, Color, PieceKind, Square};

/// The explanation of an ending: one sentence in two languages, and the offences move by move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The sentence in English.
    pub english: String,
    /// The sentence in Chinese.
    pub chinese: String,
    /// The moves of the offending sides in the cycle, in the order of plies.
    pub offences: Vec<Offence>,
}

/// A move of a side that did the same on all its moves of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offence {
    /// The ply after the move, from 1.
    pub ply: usize,
    /// The mover.
    pub side: Color,
    /// The offence: check, threat of mate, or chase.
    pub class: Class,
    /// The offending pieces, on their points after the move.
    pub by: Bitboard,
    /// The chased pieces, or the attacked king, on their points after the move.
    pub victims: Bitboard,
}

impl Game {
    /// Explains the ending of this game as given by [`Game::status`]. For the ending of another
    /// game only outcome and reason are stated.
    #[must_use]
    pub fn explain(&self, ending: &Ending) -> Explanation {
        if self.full_judgement() != Status::Over(*ending) {
            let (english, chinese) = (english::sentence_elsewhere(ending), chinese::sentence_elsewhere(ending));
            return Explanation { english, chinese, offences: Vec::new() };
        }
        let offences = ending.cycle.as_ref().map_or_else(Vec::new, |cycle| self.offences(cycle));
        let english = english::sentence(self, ending, &offences);
        let chinese = chinese::sentence(self, ending, &offences);
        Explanation { english, chinese, offences }
    }

    fn offences(&self, cycle: &CycleVerdict) -> Vec<Offence> {
        let ring = self.ring(cycle.from);
        let mut offences = Vec::new();
        ring.walk(|mut ring_ply| {
            let side = ring_ply.mover;
            let class = cycle.conduct(side).class;
            if class == Class::Allowed {
                return;
            }
            let chased = ring_ply.victims(&ring, &cycle.conduct);
            let by = ring_ply.offenders(class, chased);
            let king = ring_ply.position.king(!side);
            offences.push(Offence {
                ply: cycle.from + 1 + ring_ply.index,
                side,
                class: if ring_ply.position.in_check() { Class::Check } else { class },
                by,
                victims: if class.is_against_king() { king.into() } else { chased },
            });
        });
        offences
    }

    /// The plies of this side's first and last moves in a cycle closed by the last move.
    fn turns(&self, cycle: &CycleVerdict, side: Color) -> (usize, usize) {
        if self.position().turn() == side { (cycle.from + 1, cycle.to - 1) } else { (cycle.from + 2, cycle.to) }
    }

    /// The kind of a victim in this game's verdict. Cycles have no captures, so victims stay on the
    /// board.
    fn kind_at(&self, victim: Square) -> PieceKind {
        self.position().piece_at(victim).expect("a victim stands where the verdict says").kind()
    }
}

/// Whether some of the side's moves, which all check or threaten mate, gave check.
fn checks_too(offences: &[Offence], side: Color) -> bool {
    offences.iter().any(|offence| offence.side == side && offence.class == Class::Check)
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
    fn simple_rules_claim_nothing() {
        check(
            RuleSet::Simple,
            "5k3/9/9/9/9/9/9/9/4R4/3K5 w",
            "e1f1 f9e9 f1e1 e9f9 e1f1 f9e9 f1e1 e9f9",
            "Draw by repetition: the position after ply 0 stands for the third time after ply 8; these rules do not ask \
             what was done in between.",
            "第0步后的局面在第8步后第三次出现，此规则不问其间着法，判和。",
        );
    }

    #[test]
    fn the_older_custom_says_how_many_pieces_offended() {
        // Two pieces chase, one checks.
        check(
            RuleSet::Wikibook,
            "R2c1k3/9/2N6/9/9/9/3n5/4K4/9/9 b",
            "d3c1 e2e1 c1d3 e1e2 d3c1 e2e1 c1d3 e1e2",
            "Red loses by perpetual chase, with 2 pieces against 1: each of Red's moves from ply 2 to ply 8 chases \
             Black's cannon now on d9, and each reply saves it; each of Black's moves from ply 1 to ply 7 gives check.",
            "红方自第2步至第8步每步均捉黑炮（d9），对方每步逃捉，是长捉；黑方自第1步至第7步每步均将军，是长将；\
             红方违规2子，黑方违规1子，红方判负。",
        );
        // One piece checks, one chases.
        check(
            RuleSet::Wikibook,
            "3k5/2R6/9/9/9/9/9/9/6r2/4K1N2 w",
            "c8c9 d9d8 c9c8 d8d9 c8c9 d9d8 c9c8 d8d9",
            "Draw by repetition, both sides having offended with 1 piece each: each of Red's moves from ply 1 to ply 7 \
             gives check; each of Black's moves from ply 2 to ply 8 chases Red's horse now on g0, and each reply saves it.",
            "红方自第1步至第7步每步均将军，是长将；黑方自第2步至第8步每步均捉红马（g0），对方每步逃捉，是长捉；\
             双方违规各1子，判和。",
        );
        // One check, one threat, then threats alone.
        check(
            RuleSet::Wikibook,
            "2R6/4k4/2P6/9/9/9/9/9/9/5K3 w",
            "c9c8 e8e7 c8c9 e7e8 c9c8 e8e7 c8c9 e7e8",
            "Red loses by perpetual checks and threats of mate: each of Red's moves from ply 1 to ply 7 gives check or \
             threatens mate.",
            "红方自第1步至第7步每步均将军或要杀，是一将一要杀；红方判负。",
        );
        check(
            RuleSet::Wikibook,
            "4k4/R8/9/9/1r7/9/9/9/1R7/3K5 w",
            "b1h1 b5h5 h1b1 h5b5 b1h1 b5h5 h1b1 h5b5",
            "Red loses by perpetual threat of mate: each of Red's moves from ply 1 to ply 7 threatens mate.",
            "红方自第1步至第7步每步均要杀，是长杀；红方判负。",
        );
    }

    #[test]
    fn offences_name_the_plies_and_the_pieces() {
        let (fen, moves) = ("3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4 w", "d0e1 c1c2 e1d0 c2c1 d0e1 c1c2 e1d0 c2c1");
        let offences: Vec<_> = explained(RuleSet::Cxr, fen, moves)
            .offences
            .into_iter()
            .map(|offence| {
                let [by, victims] = [offence.by, offence.victims]
                    .map(|set| set.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" "));
                (offence.ply, offence.side, offence.class, by, victims)
            })
            .collect();
        let expected = (1..=8).map(|ply| match ply % 4 {
            1 | 3 => (ply, Color::Red, Class::Chase, "f1".to_owned(), "g1".to_owned()),
            2 => (ply, Color::Black, Class::ChasePinnedChariot, "b1".to_owned(), "f1".to_owned()),
            _ => (ply, Color::Black, Class::ChasePinnedChariot, "b1 c1".to_owned(), "f1".to_owned()),
        });
        assert_eq!(offences, expected.collect::<Vec<_>>());
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
