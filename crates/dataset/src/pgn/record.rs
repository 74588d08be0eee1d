//! Games of shards as PGN.

use xiangqi::{Color, notation::Notation};

use super::{PgnGame, Terms, nets, time_controls};
use crate::{
    digest::Digest,
    entrant::Entrant,
    header::{Header, Opponent},
    overrides::Overrides,
    record::{Record, Score, ScoredMove},
    settings::GameSettings,
};

impl PgnGame {
    /// The game of a record. It has no date, because shards hold none. A comment is `opening`, or
    /// the score in pawns for the side that moves: nothing else is recorded.
    #[must_use]
    pub fn of_record(header: &Header, number: u64, record: &Record, notation: Notation) -> Self {
        let sides = Color::ALL.map(|side| Side::of(header, number, side));
        let event = match (header.clock, header.opponent) {
            (Some(_), _) => "timed match (unprovable)",
            (None, Some(_)) => "match",
            (None, None) => "self-play",
        };
        let [red, black] =
            sides.map(|side| side.net.map_or("plain".to_owned(), |net| net.to_string()[..12].to_owned()));
        let plies = record.opening.moves.len() + record.moves.len();
        let mut tags = vec![
            ("Event", event.to_owned()),
            ("Round", number.to_string()),
            ("Red", red),
            ("Black", black),
            ("Rules", header.rules.name().to_owned()),
        ];
        let limit = |side: Side<'_>| header.clock.map_or_else(|| side.nodes(), |clock| clock.time.to_string());
        tags.extend(time_controls(sides.map(limit)));
        tags.extend([("Termination", record.reason.name().to_owned()), ("PlyCount", plies.to_string())]);
        tags.extend(terms(header).tags());
        tags.push(("GameSeed", header.seed_of(number).to_string()));
        tags.extend(nets(sides.map(|side| side.net.map(|net| net.to_string()))));
        tags.push(("BenchSignature", header.bench_signature.to_string()));
        for (name, side) in ["RedParameters", "BlackParameters"].into_iter().zip(sides) {
            if !side.parameters.is_empty() {
                tags.push((name, side.parameters.to_string()));
            }
        }
        let opening = record.opening.moves.iter().map(|mv| (*mv, "opening".to_owned()));
        let moves = record.moves.iter().map(|ScoredMove { mv, score }| (*mv, score.map_or_else(String::new, pawns)));
        Self {
            tags: tags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            start: record.opening.start.clone(),
            moves: opening.chain(moves).collect(),
            outcome: Some(record.outcome),
            notation,
        }
    }
}

fn terms(header: &Header) -> Terms {
    Terms {
        seed: header.seed,
        book: header.openings.book.map(|book| book.to_string()),
        hash_mebibytes: header.settings.hash_mebibytes as u64,
        grace_milliseconds: header.clock.map(|clock| clock.grace_milliseconds.into()),
        ply_cap: header.settings.ply_cap,
        adjudication: header.settings.adjudication,
    }
}

/// A player: its net, node limits and parameters.
#[derive(Clone, Copy)]
struct Side<'a> {
    net: Option<Digest>,
    soft_nodes: Option<u64>,
    hard_nodes: u64,
    parameters: &'a Overrides,
}

impl<'a> Side<'a> {
    fn of(header: &'a Header, number: u64, side: Color) -> Self {
        match header.opponent {
            Some(Opponent { net, soft_nodes, hard_nodes }) if Entrant::playing(side, number % 2 == 1) == Entrant::B => {
                Self { net, soft_nodes, hard_nodes, parameters: &header.opponent_parameters }
            }
            _ => {
                let GameSettings { soft_nodes, hard_nodes, .. } = header.settings;
                Self { net: header.net, soft_nodes, hard_nodes, parameters: &header.parameters }
            }
        }
    }

    fn nodes(self) -> String {
        match self.soft_nodes {
            None => format!("{} nodes a move", self.hard_nodes),
            Some(soft) => format!("{soft} to {} nodes a move", self.hard_nodes),
        }
    }
}

/// A score in pawns, with its sign.
fn pawns(score: Score) -> String {
    let sign = if score < 0 { '-' } else { '+' };
    format!("{sign}{}.{:02}", score.abs() / 100, score.abs() % 100)
}
