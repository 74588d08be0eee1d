//! Ply facts: the checks, threats and chases behind a verdict, ply by ply.

use super::{CycleVerdict, Game, RuleSet, cycle::RingPly};
use crate::{Bitboard, Color, Move, Piece, PieceKind, Position, Square, notation::simplified_name};

/// The facts about one move of a cycle: a check, or threats and chases.
///
/// Unlike an [`Offence`](super::Offence) they are given for every move, offending or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlyFacts {
    /// The ply after the move, from 1.
    pub ply: usize,
    /// The side that moved.
    pub side: Color,
    /// The move that led to this ply.
    pub mv: Move,
    /// The checking pieces. If there are any, threats and chases are not recorded.
    pub checkers: Bitboard,
    /// The attacked king.
    pub king: Square,
    /// The pieces that threaten mate, under rule sets that forbid it.
    pub threats: Bitboard,
    /// The chases.
    pub chases: Vec<Chase>,
}

/// An attack that counts as a chase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chase {
    /// The point of the chasing piece.
    pub by: Square,
    /// The kind of the chasing piece.
    pub chaser_kind: PieceKind,
    /// The point of the chased piece after the move.
    pub victim: Square,
    /// The kind of the chased piece.
    pub victim_kind: PieceKind,
    /// The victim's point at the end of the cycle, which identifies it from move to move.
    pub ends_on: Square,
    /// Whether the reply saves the victim; otherwise the chase does not count.
    pub saved: bool,
}

impl Game {
    /// Returns the facts of each move of a cycle, which must be that of this game's ending. Empty
    /// for rule sets that do not judge cycles.
    #[must_use]
    pub fn ply_facts(&self, cycle: &CycleVerdict) -> Vec<PlyFacts> {
        let is_whole = cycle.from < cycle.to && cycle.to == self.len();
        if self.rules() == RuleSet::Simple
            || !is_whole
            || self.position_at(cycle.from).as_ref() != Some(self.position())
        {
            return Vec::new();
        }
        let ring = self.ring(cycle.from);
        let mut plies = Vec::with_capacity(ring.length);
        let end = ring.walk(|mut ring_ply| {
            let mut facts = self.facts_of_ply(cycle, &mut ring_ply);
            // The identity, replaced below by the point at the end of the cycle.
            let identities = ring_ply.identities;
            for chase in &mut facts.chases {
                if let Some(identity) = identities.of(chase.victim.into()).into_iter().next() {
                    chase.ends_on = identity;
                }
            }
            plies.push(facts);
        });
        for chase in plies.iter_mut().flat_map(|facts| &mut facts.chases) {
            let ends_on = end.squares(chase.ends_on.into(), Bitboard::ALL);
            // A point that was left keeps its last identity: only occupied points count.
            let ends_on = (ends_on & self.position().occupied()).into_iter().next();
            chase.ends_on = ends_on.unwrap_or(chase.victim);
        }
        plies
    }

    fn facts_of_ply(&self, cycle: &CycleVerdict, ring_ply: &mut RingPly<'_>) -> PlyFacts {
        let (side, ply) = (ring_ply.mover, cycle.from + 1 + ring_ply.index);
        let king = ring_ply.position.king(!side);
        let mv = self.moves().nth(ply - 1).expect("a cycle's plies are the game's");
        let mut facts = PlyFacts {
            ply,
            side,
            mv,
            checkers: ring_ply.position.checkers(),
            king,
            threats: Bitboard::EMPTY,
            chases: Vec::new(),
        };
        if ring_ply.position.in_check() {
            return facts;
        }
        if self.rules() == RuleSet::Wikibook {
            facts.threats = ring_ply.threatening();
        }
        let saved = ring_ply.chases(Bitboard::ALL);
        let position = &*ring_ply.position;
        position.visit_chases(side, Bitboard::ALL, |by, victim| {
            let kind = |square| position.piece_at(square).map(Piece::kind);
            if let (Some(chaser_kind), Some(victim_kind)) = (kind(by), kind(victim)) {
                let saved = saved.contains(victim);
                facts.chases.push(Chase { by, chaser_kind, victim, victim_kind, ends_on: victim, saved });
            }
        });
        facts
    }
}

impl PlyFacts {
    /// Whether the move has nothing that could count against its side.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.checkers.is_empty() && self.threats.is_empty() && !self.chases.iter().any(|chase| chase.saved)
    }

    /// Describes the move in English; `after` is the position after it.
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
            let Chase { by, chaser_kind, victim, victim_kind, saved, .. } = chase;
            let vain = if *saved { "" } else { ", which the reply does not save" };
            parts.push(format!(
                "{own}'s {} on {by} chases {other}'s {} on {victim}{vain}",
                chaser_kind.name(),
                victim_kind.name()
            ));
        }
        if parts.is_empty() {
            return "nothing is checked, threatened or chased".to_owned();
        }
        parts.join("; ")
    }

    /// Describes the move in Chinese; `after` is the position after it.
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
            let Chase { by, chaser_kind, victim, victim_kind, saved, .. } = chase;
            let (chaser, prey) = (name(self.side, *chaser_kind), name(!self.side, *victim_kind));
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

    fn facts_of(rules: RuleSet, fen: &str, moves: &str) -> (Vec<PlyFacts>, Vec<(String, String)>, CycleVerdict) {
        let mut game = Game::new(fen.parse::<Fen>().unwrap(), rules);
        for text in moves.split(' ') {
            game.push(game.position().parse_move(text).unwrap()).unwrap();
        }
        let Status::Over(ending) = *game.status() else { panic!("the game is ongoing") };
        let cycle = ending.cycle.expect("a cycle ended it");
        let plies = game.ply_facts(&cycle);
        let words = plies.iter().map(|facts| {
            let after = game.position_at(facts.ply).unwrap();
            (facts.english(&after), facts.chinese(&after))
        });
        (plies.clone(), words.collect(), cycle)
    }

    #[test]
    fn a_perpetual_chase_names_chaser_and_prey_on_each_ply() {
        let (plies, words, cycle) =
            facts_of(RuleSet::Cxr, "3a1kb2/4a4/4r3b/7c1/9/9/9/8R/7CC/3K5 w", "i2h2 h6i6 h2i2 i6h6 i2h2 h6i6 h2i2 i6h6");
        assert_eq!(cycle.conduct(Color::Red).class, Class::Chase);
        assert_eq!(plies.iter().map(|facts| facts.ply).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
        assert_eq!(words[0].0, "Red's chariot on h2 chases Black's cannon on h6");
        assert_eq!(words[0].1, "红车（h2）捉黑炮（h6）");
        assert_eq!(words[1].0, "nothing is checked, threatened or chased");
        assert_eq!(words[2].1, "红车（i2）捉黑炮（i6）");
        assert!(plies.iter().all(|facts| facts.is_idle() == (facts.side == Color::Black)));
        // The victim is the same piece all round the ring.
        let ends: Vec<_> =
            plies.iter().flat_map(|facts| &facts.chases).map(|chase| chase.ends_on.to_string()).collect();
        assert_eq!(ends, ["h6", "h6", "h6", "h6"]);
    }

    #[test]
    fn a_perpetual_check_names_the_checking_piece() {
        let (plies, words, _) =
            facts_of(RuleSet::Cxr, "5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w", "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9");
        assert_eq!(words[0], ("Red's chariot on f0 gives check".to_owned(), "红车（f0）将军".to_owned()));
        assert!(plies.iter().all(|facts| facts.chases.is_empty() || facts.side == Color::Black));
    }

    /// Neither side offends; the facts are reported anyway.
    #[test]
    fn an_allowed_repetition_reports_its_facts() {
        let (plies, words, cycle) =
            facts_of(RuleSet::Cxr, "3ak1b2/4a4/4b3r/4C4/5R3/9/9/9/9/4KA3 w", "f5g5 e9f9 g5f5 f9e9 f5g5 e9f9 g5f5 f9e9");
        assert_eq!(cycle.loser, None);
        assert_eq!(words.len(), 8);
        for facts in &plies {
            assert!(facts.checkers.is_empty() || facts.chases.is_empty());
        }
        assert!(plies.iter().any(PlyFacts::is_idle));
    }

    #[test]
    fn simple_rules_yield_no_facts() {
        let (plies, ..) =
            facts_of(RuleSet::Simple, "5k3/9/9/9/9/9/9/9/4R4/3K5 w", "e1f1 f9e9 f1e1 e9f9 e1f1 f9e9 f1e1 e9f9");
        assert!(plies.is_empty());
        let game = Game::new(Fen::start(), RuleSet::Cxr);
        let cycle = CycleVerdict { from: 0, to: 4, conduct: Default::default(), offenders: None, loser: None };
        assert!(game.ply_facts(&cycle).is_empty());
    }

    /// A side's class follows from the facts common to its moves.
    #[test]
    fn ply_facts_agree_with_the_classes() {
        for line in include_str!("../../tests/data/cxr_examples.jsonl").lines() {
            let field = |name: &str| {
                let from = line.find(&format!("\"{name}\": ")).unwrap() + name.len() + 4;
                &line[from..]
            };
            let fen = field("fen").trim_start_matches('"').split('"').next().unwrap();
            let moves = field("moves").trim_start_matches('[').split(']').next().unwrap();
            let mut game = Game::new(fen.parse::<Fen>().unwrap(), RuleSet::Cxr);
            // Some examples give one loop; it is repeated until the game is over.
            let moves: Vec<_> = moves.split(", ").map(|text| text.trim_matches('"')).collect();
            for text in moves.iter().cycle().take(60) {
                if game.status().ending().is_none() {
                    let Ok(mv) = game.position().parse_move(text) else { break };
                    game.push(mv).unwrap();
                }
            }
            let Some(cycle) = game.status().ending().and_then(|ending| ending.cycle) else { continue };
            let plies = game.ply_facts(&cycle);
            for side in Color::ALL {
                let own: Vec<_> = plies.iter().filter(|facts| facts.side == side).collect();
                let checks = own.iter().all(|facts| facts.checkers.any());
                let common = own.iter().fold(Bitboard::ALL, |common, facts| {
                    common & facts.chases.iter().filter(|chase| chase.saved).map(|chase| chase.ends_on).collect()
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
