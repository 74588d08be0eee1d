//! The games of a match as PGN.

use selfplay::{
    Conditions, PlayedGame,
    pgn::{self, Comment, PgnGame},
};
use xiangqi::{notation::Notation, rules::RuleSet};

use super::terms::Terms;
use crate::date;

/// The name of a game: its pair and its number in the pair, both from 1.
pub(crate) fn round(pair: u64, second: bool) -> String {
    format!("{}.{}", pair + 1, 1 + u8::from(second))
}

/// Writes games as PGN.
pub(crate) struct PgnWriter {
    names: [String; 2],
    /// The hashes of the nets of A and B.
    nets: [Option<String>; 2],
    rules: RuleSet,
    conditions: Conditions,
    terms: Terms,
    event: String,
    notation: Notation,
    /// The tag `Round` before the pair: a tournament's round.
    prefix: String,
}

impl PgnWriter {
    pub(crate) fn new(
        names: &[String; 2],
        rules: RuleSet,
        conditions: Conditions,
        terms: &Terms,
        event: &str,
        notation: Notation,
    ) -> Self {
        Self {
            names: names.clone(),
            nets: [None, None],
            rules,
            conditions,
            terms: terms.clone(),
            event: event.to_owned(),
            notation,
            prefix: String::new(),
        }
    }

    /// Sets the hashes of the nets of A and B, where they have one.
    pub(crate) fn with_nets(self, nets: [Option<String>; 2]) -> Self {
        Self { nets, ..self }
    }

    /// Sets the round of a tournament, which stands before the pair.
    pub(crate) fn in_round(self, round: usize) -> Self {
        Self { prefix: format!("{}.", round + 1), ..self }
    }

    /// Formats a game of a pair, with the current date.
    pub(crate) fn write(&self, pair: u64, second: bool, played: &PlayedGame) -> String {
        let sides: [usize; 2] = if second { [1, 0] } else { [0, 1] };
        let [red, black] = sides.map(|side| self.names[side].as_str());
        let (date, time) = date::now();
        let round = format!("{}{}", self.prefix, round(pair, second));
        let reason = match &played.ending {
            selfplay::Ending::Played(..) => played.ending.reason().to_owned(),
            selfplay::Ending::DrawWinsBlack(reason) => format!("{}, a draw is Black's win", reason.name()),
            selfplay::Ending::Fault(side, fault) => format!("{} by {}: {}", fault.kind, side.name(), fault.detail),
        };
        let plies = played.game.len().to_string();
        let tags = [
            ("Event", self.event.as_str()),
            ("Date", &date),
            ("Round", &round),
            ("Red", red),
            ("Black", black),
            ("UTCTime", &time),
            ("Rules", self.rules.name()),
            ("Termination", &reason),
            ("PlyCount", &plies),
        ];
        let limits = pgn::time_controls(self.conditions.by_color(second).map(|limit| limit.to_string()));
        let nets = pgn::nets(sides.map(|side| self.nets[side].clone()));
        let mut moves: Vec<_> = played.game.moves().map(|mv| (mv, String::new())).collect();
        let (opening, rest) = moves.split_at_mut(played.opening_plies);
        for (_, comment) in opening {
            "opening".clone_into(comment);
        }
        for ((_, comment), played) in rest.iter_mut().zip(&played.moves) {
            *comment = Comment(played.note).to_string();
        }
        let game = PgnGame {
            tags: tags
                .map(|(name, value)| (name, value.to_owned()))
                .into_iter()
                .chain(limits)
                .chain(self.terms.tags())
                .chain(nets)
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            start: played.game.start().clone(),
            moves,
            outcome: Some(played.ending.outcome()),
            notation: self.notation,
        };
        game.to_string()
    }
}
