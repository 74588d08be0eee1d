//! Labels under another rulebook.

use std::{collections::BTreeMap, io::Write};

use anyhow::Result;
use dataset::{Reason, Record};
use serde::Serialize;
use xiangqi::rules::{Game, RuleSet, Status};

/// Counts of games whose label differs, by the reason for which they ended.
#[derive(Serialize)]
pub(super) struct OtherRules {
    rules: &'static str,
    #[serde(skip)]
    rule_set: RuleSet,
    /// Games with another outcome.
    games: u64,
    /// The positions of these games.
    positions: u64,
    /// The same, by the recorded reason.
    by_reason: BTreeMap<&'static str, Count>,
    /// Games that would have ended earlier or for another reason, with the same outcome.
    same_outcome: u64,
}

#[derive(Default, Serialize)]
struct Count {
    games: u64,
    positions: u64,
}

impl OtherRules {
    pub(super) fn new(rules: RuleSet) -> Self {
        let by_reason = BTreeMap::new();
        Self { rules: rules.name(), rule_set: rules, games: 0, positions: 0, by_reason, same_outcome: 0 }
    }

    /// Replays a game until these rules end it. A game that they do not end has no label under
    /// them.
    pub(super) fn add(&mut self, record: &Record) {
        let mut game = Game::new(record.opening.start.clone(), self.rule_set);
        let moves = record.opening.moves.iter().copied().chain(record.moves.iter().map(|scored| scored.mv));
        for mv in moves {
            if game.status() != &Status::Ongoing {
                break;
            }
            game.push_legal(mv);
        }
        // Adjudication by scores does not depend on the rulebook.
        if !matches!(record.reason, Reason::Rules(_)) && game.status() == &Status::Ongoing {
            return;
        }
        let (outcome, reason) =
            game.status().ending().map_or((None, None), |ending| (Some(ending.outcome), Some(ending.reason)));
        if outcome != Some(record.outcome) {
            let positions = record.moves.len() as u64;
            let count = self.by_reason.entry(record.reason.name()).or_default();
            count.games += 1;
            count.positions += positions;
            self.games += 1;
            self.positions += positions;
        } else if reason.map(Reason::Rules) != Some(record.reason) {
            self.same_outcome += 1;
        }
    }

    pub(super) fn print(&self, out: &mut impl Write) -> Result<()> {
        for (reason, Count { games, positions }) in &self.by_reason {
            writeln!(out, "under {} another label: {reason} {games} games, {positions} positions", self.rules)?;
        }
        writeln!(out, "under {} another label: {} games, {} positions", self.rules, self.games, self.positions)?;
        Ok(())
    }
}
