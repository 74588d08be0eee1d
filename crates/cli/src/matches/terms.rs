//! The terms of a match, for its records and its answer. Without them a match could not be
//! repeated, and the end of a game not be explained.

use selfplay::{Adjudication, Book, Conditions, DrawRule, WinRule, pgn};
use serde::Serialize;

/// The settings of all games that do not follow from their moves.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Terms {
    seed: u64,
    /// The SHA-256 of the book's file.
    book: Option<String>,
    hash_mebibytes: u32,
    grace_milliseconds: u64,
    ply_cap: u32,
    /// As the flag has it: score and plies.
    adjudicate_win: Option<[u32; 2]>,
    /// As the flag has it: score, plies, and the first ply.
    adjudicate_draw: Option<[u32; 3]>,
    /// Both of these rules.
    #[serde(skip)]
    adjudication: Adjudication,
    /// The limits of A and B, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<[String; 2]>,
    /// Whether a draw is Black's win, and Black has two thirds of its limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    decider: bool,
}

impl Terms {
    pub(crate) fn new(arguments: &super::games::GameArguments, book: Option<&Book>) -> Self {
        let adjudication = arguments.thresholds.adjudication();
        Self {
            seed: arguments.seed,
            book: book.map(|book| book.hash().to_string()),
            hash_mebibytes: arguments.hash,
            grace_milliseconds: arguments.grace,
            ply_cap: arguments.thresholds.ply_cap,
            adjudicate_win: adjudication.win.map(|WinRule { score, plies }| [score.unsigned_abs(), plies]),
            adjudicate_draw: adjudication
                .draw
                .map(|DrawRule { score, plies, from_ply }| [score.unsigned_abs(), plies, from_ply]),
            adjudication,
            limits: None,
            decider: false,
        }
    }

    /// Adds what makes the sides differ.
    pub(crate) fn with_sides(self, conditions: &Conditions) -> Self {
        let [a, b] = conditions.time_controls;
        Self { limits: (a != b).then(|| [a, b].map(|limit| limit.to_string())), decider: conditions.decider, ..self }
    }

    /// Formats the terms as PGN tags.
    pub(crate) fn tags(&self) -> [(&'static str, String); 7] {
        let terms = pgn::Terms {
            seed: self.seed,
            book: self.book.clone(),
            hash_mebibytes: self.hash_mebibytes.into(),
            grace_milliseconds: Some(self.grace_milliseconds),
            ply_cap: self.ply_cap,
            adjudication: self.adjudication,
        };
        terms.tags()
    }
}
