//! Judges any pasted position, list of moves or file of games under the rules.
//!
//! [`xiangqi::notation::reader`] reads the input: FENs, engine commands, moves in any notation and
//! PGN. Errors name the place, and so do the parts that were skipped.

mod examples;
mod list;
mod words;

pub use examples::{EXAMPLES, Example};
pub use list::{JudgedGame, JudgedList, ListedGame, Sum, judge_games};
pub use words::{hint_sentence, skipped_sentence};

use serde::Deserialize;
use serde_json::{Value, json};
use xiangqi::{
    notation::reader::{Hint, ReadError, Skipped, Transcript},
    rules::{Outcome, RuleSet},
};

use super::story::Story;

/// Longest text of one game, in bytes: position or moves.
pub const MAX_TEXT_BYTES: usize = 64_000;
/// Largest number of judged moves.
pub const MAX_MOVES: usize = 1_500;

/// Query parameters of a judgement.
#[derive(Default, Deserialize)]
#[allow(missing_docs, reason = "the names say what each is")]
pub struct JudgeQuery {
    #[serde(default)]
    pub fen: String,
    #[serde(default)]
    pub moves: String,
    #[serde(default)]
    pub rules: String,
}

impl JudgeQuery {
    /// Judges the query.
    pub fn judge(&self) -> Result<Judged, Wrong> {
        judge(&self.fen, &self.moves, &self.rules)
    }
}

/// The judgement.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct Judged {
    pub story: Story,
    /// Number of moves after the game's end.
    pub surplus: usize,
    /// The result that the text claims: an outcome, or `ongoing`.
    pub claimed: Option<&'static str>,
    /// All parts of the text that were not used.
    pub skipped: Vec<Skipped>,
    pub hint: Option<Hint>,
    /// The tags of PGN, with their values.
    pub tags: Vec<(String, String)>,
}

impl Judged {
    /// Whether the text said more than a position and moves.
    #[must_use]
    pub fn has_notes(&self) -> bool {
        self.claimed.is_some() || !self.skipped.is_empty() || self.hint.is_some()
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let mut value = self.story.json();
        value["moves_after_the_end"] = json!(self.surplus);
        value["claimed"] = json!(self.claimed);
        value["skipped"] = skipped_json(&self.skipped);
        value["tags"] = self.tags.iter().map(|(name, value)| json!([name, value])).collect();
        value["hint"] = json!(self.hint.as_ref().map(Hint::to_string));
        value
    }
}

/// The name of an outcome in JSON.
fn outcome_name(outcome: Option<Outcome>) -> &'static str {
    outcome.map_or("ongoing", Outcome::name)
}

fn skipped_json(skipped: &[Skipped]) -> Value {
    let part = |part: &Skipped| {
        json!({ "kind": part.kind.name(), "line": part.place.line, "column": part.place.column,
                "text": xiangqi::text::shortened(&part.text) })
    };
    skipped.iter().map(part).collect()
}

/// Reasons against judging.
#[derive(Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say what each is")]
pub enum Wrong {
    Rules(String),
    TooLong(usize),
    ManyMoves,
    Read(ReadError),
    TooLongFile(usize),
    ManyGames,
    NoGames,
    TwoInputs,
}

impl From<ReadError> for Wrong {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

fn rule_set(name: &str) -> Result<Option<RuleSet>, Wrong> {
    match name.trim() {
        "" => Ok(None),
        name => name.parse().map(Some).map_err(|_| Wrong::Rules(name.chars().take(32).collect())),
    }
}

/// Judges moves from a position, by default the starting position. Either text may hold both. The
/// default rules are those of the text's tag.
pub fn judge(fen: &str, moves: &str, rules: &str) -> Result<Judged, Wrong> {
    let rules = rule_set(rules)?;
    if let Some(text) = [fen, moves].into_iter().find(|text| text.len() > MAX_TEXT_BYTES) {
        return Err(Wrong::TooLong(text.len()));
    }
    let transcript = Transcript::read(fen, moves)?;
    if transcript.moves.len() > MAX_MOVES {
        return Err(Wrong::ManyMoves);
    }
    let judged = transcript.judge(rules)?;
    Ok(Judged {
        story: Story::of(judged.replay.game),
        surplus: judged.replay.moves_after_end,
        claimed: judged.claimed.map(outcome_name),
        hint: transcript.hint(),
        skipped: transcript.skipped,
        tags: transcript.tags,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xiangqi::{FenError, notation::reader::ReadErrorKind};

    fn reason(fen: &str, moves: &str) -> String {
        let judged = judge(fen, moves, "").unwrap();
        judged.story.end.map_or("ongoing".to_owned(), |end| end.reason.to_string())
    }

    /// The forms of moves are tested with the reader.
    #[test]
    fn nothing_is_dropped() {
        let judged = judge("", "1. C2=5, H8+7; 2. H2+3 {solid} R9=8; 3. R1=2! 1-0", "").unwrap();
        let moves: Vec<_> = judged.story.game.moves().map(|mv| mv.to_string()).collect();
        assert_eq!(moves, ["h2e2", "h9g7", "h0g2", "i9h9", "i0h0"]);
        assert_eq!(judged.claimed, Some("red_wins"));
        let value = judged.json();
        assert_eq!(value["claimed"], "red_wins");
        assert_eq!(value["skipped"][0], json!({ "kind": "comment", "line": 1, "column": 24, "text": "{solid}" }));
        assert_eq!(value["skipped"][1]["kind"], "glyph");
        let black = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR b";
        assert!(judge(black, "炮二平五 马8进7", "").unwrap().hint.is_some());
    }

    #[test]
    fn positions_are_read_as_uci_writes_them() {
        let fen = "5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w";
        let moves = "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9";
        assert_eq!(reason(fen, moves), "perpetual_check");
        assert_eq!(reason(&format!("position fen {fen} moves {moves}"), ""), "perpetual_check");
        assert_eq!(reason("", &format!("[FEN \"{fen}\"]\n{moves}")), "perpetual_check");
        assert_eq!(reason("", &format!("position fen {fen} moves {moves}")), "perpetual_check");
        assert_eq!(reason("", &format!("fen {fen} moves {moves}")), "perpetual_check");
        assert_eq!(reason(&format!("[Event \"x\"]\n[FEN \"{fen}\"]\n1. {moves}"), ""), "perpetual_check");
        assert_eq!(judge("1. h2e2 h9g7 2. h0g2", "", "").unwrap().story.game.len(), 3);
        assert_eq!(reason("position startpos moves h2e2 h9g7", ""), "ongoing");
        assert_eq!(reason("startpos", ""), "ongoing");
        assert_eq!(judge(fen, &format!("{moves} b0a1 a0a1"), "").unwrap().surplus, 2);
    }

    #[test]
    fn errors_are_named() {
        let wrong = |fen: &str, moves: &str, rules: &str| judge(fen, moves, rules).err().unwrap();
        assert_eq!(wrong("", "", "chess"), Wrong::Rules("chess".to_owned()));
        let kind = |fen: &str, moves: &str| match wrong(fen, moves, "") {
            Wrong::Read(error) => error.kind,
            other => panic!("{other:?}"),
        };
        assert!(matches!(kind("9/9 w", ""), ReadErrorKind::Fen(FenError::RankCount { count: 2 })));
        assert!(matches!(kind("", "h2e2 h2e2"), ReadErrorKind::Move { number: 2, .. }));
        assert!(matches!(kind("", "{h2e2"), ReadErrorKind::Unclosed { .. }));
        assert_eq!(wrong(&"9".repeat(70_000), "", ""), Wrong::TooLong(70_000));
        assert_eq!(wrong("", &"a0a1 ".repeat(20_000), ""), Wrong::TooLong(100_000));
        assert_eq!(wrong("", &"a0a1 ".repeat(2_000), ""), Wrong::ManyMoves);
    }

    /// Any input yields a judgement or a short error. The test runner's timeout bounds the time.
    #[test]
    fn random_input_breaks_nothing() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let letters: Vec<char> =
            "rnbakcpRNBAKCP123456789/ wb-[]{};.\"，炮二平五马进退0abcdefghi\n\t\0\u{3000}é🀄".chars().collect();
        for _ in 0..3_000 {
            let [fen, moves] = [120, 400].map(|most| {
                let length = random(most);
                (0..length).map(|_| letters[random(letters.len())]).collect::<String>()
            });
            let rules = ["cxr", "wxf", "axf", "wikibook", "simple", "", "x"][random(7)];
            let fen = if random(2) == 0 { String::new() } else { fen };
            match judge(&fen, &moves, rules) {
                Ok(judged) => drop(judged.json()),
                Err(wrong) => assert!(
                    [false, true]
                        .map(|chinese| wrong.sentence(chinese))
                        .iter()
                        .all(|sentence| { sentence.chars().count() < 400 && !sentence.contains(['\n', '\0']) })
                ),
            }
        }
    }
}
