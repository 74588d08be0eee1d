//! What each move of a cycle did: the facts behind a verdict, ply by ply.

use super::{CycleVerdict, Game, RuleSet, cycle::Moment};
use crate::{Bitboard, Color, Move, Piece, PieceKind, Position, Square, notation::simplified_name};

/// What a move of a cycle did, as the arbiter counts it: a check, or threats and chases. Unlike an
/// [`Offence`](super::Offence) it is told of every move, also of one that its side may repeat for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// After which ply.
    pub ply: usize,
    /// Whose move.
    pub side: Color,
    /// The move.
    pub mv: Move,
    /// The pieces that give check, if it is one. Then nothing else counts.
    pub checkers: Bitboard,
    /// The attacked king.
    pub king: Square,
    /// The pieces that threaten mate, where the rules ask for them.
    pub threats: Bitboard,
    /// Who chases whom.
    pub chases: Vec<Chase>,
}

/// A piece that attacks another as the rules call chasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chase {
    /// Who.
    pub by: Square,
    /// What it is.
    pub chaser: PieceKind,
    /// Whom; where it stands after the move.
    pub victim: Square,
    /// What that is.
    pub prey: PieceKind,
    /// Where the victim stands at the end of the cycle, by which it is known from move to move.
    pub ends_on: Square,
    /// Whether the reply saves the victim. If not, the chase does not count.
    pub saved: bool,
}

impl Game {
    /// What each move of a cycle did, which must be that of this game's ending. Nothing, where the rules do not ask.
    #[must_use]
    pub fn deeds(&self, cycle: &CycleVerdict) -> Vec<Deed> {
        let is_whole = cycle.from < cycle.to && cycle.to == self.len();
        if self.rules() == RuleSet::Simple
            || !is_whole
            || self.position_at(cycle.from).as_ref() != Some(self.position())
        {
            return Vec::new();
        }
        let ring = self.ring(cycle.from);
        let mut deeds = Vec::with_capacity(ring.length);
        let end = ring.walk(|mut moment| {
            let mut deed = self.deed(cycle, &mut moment);
            // By identity, until it is known where the cycle ends.
            let identities = moment.identities;
            for chase in &mut deed.chases {
                if let Some(identity) = identities.of(chase.victim.into()).into_iter().next() {
                    chase.ends_on = identity;
                }
            }
            deeds.push(deed);
        });
        for chase in deeds.iter_mut().flat_map(|deed| &mut deed.chases) {
            let ends_on = end.squares(chase.ends_on.into(), Bitboard::ALL);
            // A point that was left keeps the name of who left it: the piece is where one stands.
            let ends_on = (ends_on & self.position().occupied()).into_iter().next();
            chase.ends_on = ends_on.unwrap_or(chase.victim);
        }
        deeds
    }

    fn deed(&self, cycle: &CycleVerdict, moment: &mut Moment<'_>) -> Deed {
        let (side, ply) = (moment.mover, cycle.from + 1 + moment.index);
        let king = moment.position.king(!side);
        let mv = self.moves().nth(ply - 1).expect("a cycle's plies are the game's");
        let mut deed = Deed {
            ply,
            side,
            mv,
            checkers: moment.position.checkers(),
            king,
            threats: Bitboard::EMPTY,
            chases: Vec::new(),
        };
        if moment.position.in_check() {
            return deed;
        }
        if self.rules() == RuleSet::Wikibook {
            deed.threats = moment.threatening();
        }
        let saved = moment.chases(Bitboard::ALL);
        let position = &*moment.position;
        position.visit_chases(side, Bitboard::ALL, |by, victim| {
            let kind = |square| position.piece_at(square).map(Piece::kind);
            if let (Some(chaser), Some(prey)) = (kind(by), kind(victim)) {
                let saved = saved.contains(victim);
                deed.chases.push(Chase { by, chaser, victim, prey, ends_on: victim, saved });
            }
        });
        deed
    }
}

impl Deed {
    /// Whether it is nothing that could count against its side.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.checkers.is_empty() && self.threats.is_empty() && !self.chases.iter().any(|chase| chase.saved)
    }

    /// What it did, in English; `after` is the position after the move.
    #[must_use]
    pub fn english(&self, after: &Position) -> String {
        let named = |square: Square| format!("{} on {square}", kind_at(after, square).map_or("piece", PieceKind::name));
        let (own, other) = (self.side.name(), (!self.side).name());
        let mut parts = Vec::new();
        if self.checkers.any() {
            let by: Vec<_> = self.checkers.into_iter().map(named).collect();
            parts.push(format!("{own}'s {} {} check", by.join(" and "), if by.len() > 1 { "give" } else { "gives" }));
        }
        if self.threats.any() {
            let by: Vec<_> = self.threats.into_iter().map(named).collect();
            parts.push(format!(
                "{own}'s {} {} mate",
                by.join(" and "),
                if by.len() > 1 { "threaten" } else { "threatens" }
            ));
        }
        for chase in &self.chases {
            let Chase { by, chaser, victim, prey, saved, .. } = chase;
            let vain = if *saved { "" } else { ", which the reply does not save" };
            parts.push(format!("{own}'s {} on {by} chases {other}'s {} on {victim}{vain}", chaser.name(), prey.name()));
        }
        if parts.is_empty() {
            return "nothing is checked, threatened or chased".to_owned();
        }
        parts.join("; ")
    }

    /// What it did, in Chinese; `after` is the position after the move.
    #[must_use]
    pub fn chinese(&self, after: &Position) -> String {
        let name = |side, kind| simplified_name(Piece::new(side, kind));
        let named = |square: Square| {
            let piece = kind_at(after, square).map_or('子', |kind| name(self.side, kind));
            format!("{piece}（{square}）")
        };
        let side_name = |side| if side == Color::Red { "红" } else { "黑" };
        let (own, other) = (side_name(self.side), side_name(!self.side));
        let listed = |squares: Bitboard| squares.into_iter().map(named).collect::<Vec<_>>().join("、");
        let mut parts = Vec::new();
        if self.checkers.any() {
            parts.push(format!("{own}{}将军", listed(self.checkers)));
        }
        if self.threats.any() {
            parts.push(format!("{own}{}要杀", listed(self.threats)));
        }
        for chase in &self.chases {
            let Chase { by, chaser, victim, prey, saved, .. } = chase;
            let (chaser, prey) = (name(self.side, *chaser), name(!self.side, *prey));
            let vain = if *saved { "" } else { "，对方应着未解捉" };
            parts.push(format!("{own}{chaser}（{by}）捉{other}{prey}（{victim}）{vain}"));
        }
        if parts.is_empty() {
            return "不将、不杀、不捉".to_owned();
        }
        parts.join("；")
    }
}

fn kind_at(position: &Position, square: Square) -> Option<PieceKind> {
    position.piece_at(square).map(Piece::kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Fen,
        rules::{Class, Status},
    };

    fn told(rules: RuleSet, fen: &str, moves: &str) -> (Vec<Deed>, Vec<(String, String)>, CycleVerdict) {
        let mut game = Game::new(fen.parse::<Fen>().unwrap(), rules);
        for text in moves.split(' ') {
            game.push(game.position().parse_move(text).unwrap()).unwrap();
        }
        let Status::Over(ending) = *game.status() else { panic!("the game goes on") };
        let cycle = ending.cycle.expect("a cycle ended it");
        let deeds = game.deeds(&cycle);
        let words = deeds.iter().map(|deed| {
            let after = game.position_at(deed.ply).unwrap();
            (deed.english(&after), deed.chinese(&after))
        });
        (deeds.clone(), words.collect(), cycle)
    }

    #[test]
    fn a_perpetual_chase_names_chaser_and_prey_on_each_ply() {
        let (deeds, words, cycle) =
            told(RuleSet::Cxr, "3a1kb2/4a4/4r3b/7c1/9/9/9/8R/7CC/3K5 w", "i2h2 h6i6 h2i2 i6h6 i2h2 h6i6 h2i2 i6h6");
        assert_eq!(cycle.conduct(Color::Red).class, Class::Chase);
        assert_eq!(deeds.iter().map(|deed| deed.ply).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
        assert_eq!(words[0].0, "Red's chariot on h2 chases Black's cannon on h6");
        assert_eq!(words[0].1, "红车（h2）捉黑炮（h6）");
        assert_eq!(words[1].0, "nothing is checked, threatened or chased");
        assert_eq!(words[2].1, "红车（i2）捉黑炮（i6）");
        assert!(deeds.iter().all(|deed| deed.is_idle() == (deed.side == Color::Black)));
        // The victim is the same piece all round, wherever it stands.
        let ends: Vec<_> = deeds.iter().flat_map(|deed| &deed.chases).map(|chase| chase.ends_on.to_string()).collect();
        assert_eq!(ends, ["h6", "h6", "h6", "h6"]);
    }

    #[test]
    fn a_perpetual_check_names_who_checks() {
        let (deeds, words, _) =
            told(RuleSet::Cxr, "5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w", "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9");
        assert_eq!(words[0], ("Red's chariot on f0 gives check".to_owned(), "红车（f0）将军".to_owned()));
        assert!(deeds.iter().all(|deed| deed.chases.is_empty() || deed.side == Color::Black));
    }

    /// Neither side offends, and what they do in between is told all the same.
    #[test]
    fn an_allowed_repetition_tells_what_there_was() {
        let (deeds, words, cycle) =
            told(RuleSet::Cxr, "3ak1b2/4a4/4b3r/4C4/5R3/9/9/9/9/4KA3 w", "f5g5 e9f9 g5f5 f9e9 f5g5 e9f9 g5f5 f9e9");
        assert_eq!(cycle.loser, None);
        assert_eq!(words.len(), 8);
        for deed in &deeds {
            assert!(deed.checkers.is_empty() || deed.chases.is_empty());
        }
        assert!(deeds.iter().any(Deed::is_idle));
    }

    #[test]
    fn rules_that_ask_nothing_are_told_nothing() {
        let (deeds, ..) =
            told(RuleSet::Simple, "5k3/9/9/9/9/9/9/9/4R4/3K5 w", "e1f1 f9e9 f1e1 e9f9 e1f1 f9e9 f1e1 e9f9");
        assert!(deeds.is_empty());
        let game = Game::new(Fen::start(), RuleSet::Cxr);
        let cycle = CycleVerdict { from: 0, to: 4, conduct: Default::default(), offenders: None, loser: None };
        assert!(game.deeds(&cycle).is_empty());
    }

    /// A side's class is what its deeds have in common.
    #[test]
    fn deeds_agree_with_the_classes() {
        for line in include_str!("../../tests/data/cxr_examples.jsonl").lines() {
            let field = |name: &str| {
                let from = line.find(&format!("\"{name}\": ")).unwrap() + name.len() + 4;
                &line[from..]
            };
            let fen = field("fen").trim_start_matches('"').split('"').next().unwrap();
            let moves = field("moves").trim_start_matches('[').split(']').next().unwrap();
            let mut game = Game::new(fen.parse::<Fen>().unwrap(), RuleSet::Cxr);
            // Some examples give one loop; it is gone round until the arbiter says something.
            let moves: Vec<_> = moves.split(", ").map(|text| text.trim_matches('"')).collect();
            for text in moves.iter().cycle().take(60) {
                if game.status().ending().is_none() {
                    let Ok(mv) = game.position().parse_move(text) else { break };
                    game.push(mv).unwrap();
                }
            }
            let Some(cycle) = game.status().ending().and_then(|ending| ending.cycle) else { continue };
            let deeds = game.deeds(&cycle);
            for side in Color::ALL {
                let own: Vec<_> = deeds.iter().filter(|deed| deed.side == side).collect();
                let checks = own.iter().all(|deed| deed.checkers.any());
                let common = own.iter().fold(Bitboard::ALL, |common, deed| {
                    common & deed.chases.iter().filter(|chase| chase.saved).map(|chase| chase.ends_on).collect()
                });
                let conduct = cycle.conduct(side);
                assert_eq!(checks, conduct.class == Class::Check, "{line}");
                if !checks {
                    assert_eq!(common, conduct.victims, "{side:?}: {line}");
                }
            }
        }
    }
}
