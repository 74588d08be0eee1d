//! The tags: their order, and those that matches and shards have in common.

use crate::adjudication::{Adjudication, DrawRule, WinRule};

/// The tags that are written from the game itself.
const OWN_TAGS: [&str; 6] = ["Result", "Game", "Variant", "SetUp", "FEN", "Notation"];

/// The tags before `Result`, each with its value where it is unknown.
const ROSTER: [(&str, &str); 6] =
    [("Event", "?"), ("Site", "?"), ("Date", "????.??.??"), ("Round", "?"), ("Red", "?"), ("Black", "?")];

/// All tags as they are written.
pub(super) fn written<'a>(
    tags: &'a [(String, String)],
    result: &'a str,
    fen: &'a str,
    notation: &'a str,
) -> Vec<(&'a str, &'a str)> {
    let tag = |name: &str| tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str());
    let mut all = Vec::new();
    for (name, unknown) in ROSTER {
        let value = tag(name).unwrap_or(unknown);
        all.push((name, value));
        if name == "Red" {
            all.push(("White", value));
        }
    }
    all.push(("Result", result));
    let rest = tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.extend(rest.filter(|(name, _)| !ROSTER.iter().any(|(tag, _)| tag == name)));
    all.extend([
        ("Game", "Chinese Chess"),
        ("Variant", "xiangqi"),
        ("SetUp", "1"),
        ("FEN", fen),
        ("Notation", notation),
    ]);
    all
}

/// Inverts [`written`]: drops the tags that follow from the game, and unknown ones of the seven.
/// The `White` of other programs is our `Red`.
pub(super) fn kept(mut tags: Vec<(String, String)>) -> Vec<(String, String)> {
    let has_red = tags.iter().any(|(name, _)| name == "Red");
    tags.retain(|(name, value)| {
        let follows = OWN_TAGS.contains(&name.as_str()) || has_red && name == "White";
        !follows && !ROSTER.contains(&(name.as_str(), value.as_str()))
    });
    for (name, _) in &mut tags {
        if name == "White" {
            "Red".clone_into(name);
        }
    }
    tags
}

/// The settings of a run that do not follow from the moves of its games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The seed of the run, as the commands take it.
    pub seed: u64,
    /// The SHA-256 of the opening book's file.
    pub book: Option<String>,
    /// The size of the transposition table, in mebibytes.
    pub hash_mebibytes: u64,
    /// The time by which a player may exceed its limit; none without a clock.
    pub grace_milliseconds: Option<u64>,
    /// The ply after which a game is drawn.
    pub ply_cap: u32,
    /// The adjudication rules.
    pub adjudication: Adjudication,
}

impl Terms {
    /// Formats the terms; a missing value is `-`, as in PGN.
    #[must_use]
    pub fn tags(&self) -> [(&'static str, String); 7] {
        let Adjudication { win, draw } = self.adjudication;
        let win = win.map(|WinRule { score, plies }| format!("{score},{plies}"));
        let draw = draw.map(|DrawRule { score, plies, from_ply }| format!("{score},{plies},{from_ply}"));
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        [
            ("Seed", self.seed.to_string()),
            ("Book", or_none(self.book.clone())),
            ("HashMebibytes", self.hash_mebibytes.to_string()),
            ("GraceMilliseconds", or_none(self.grace_milliseconds.map(|grace| grace.to_string()))),
            ("PlyCap", self.ply_cap.to_string()),
            ("AdjudicateWin", or_none(win)),
            ("AdjudicateDraw", or_none(draw)),
        ]
    }
}

/// The limits of Red and Black. PGN has no tag for two: they are added, and the common one is
/// unknown.
#[must_use]
pub fn time_controls([red, black]: [String; 2]) -> Vec<(&'static str, String)> {
    if red == black {
        return vec![("TimeControl", red)];
    }
    vec![("TimeControl", "?".to_owned()), ("RedTimeControl", red), ("BlackTimeControl", black)]
}

/// The hashes of the nets of Red and Black; `-` for a player without one.
#[must_use]
pub fn nets(nets: [Option<String>; 2]) -> [(&'static str, String); 2] {
    let [red, black] = nets.map(|net| net.unwrap_or_else(|| "-".to_owned()));
    [("RedNet", red), ("BlackNet", black)]
}
