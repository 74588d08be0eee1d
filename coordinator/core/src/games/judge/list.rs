//! A file of games in PGN, judged one by one.

use dataset::pgn::Utf8Lines;
use serde_json::{Value, json};
use xiangqi::{
    notation::reader::{Agreement, GameText, Games, Hint, Skipped, TokenKind},
    rules::RuleSet,
};

use super::{MAX_MOVES, Wrong, outcome_name, rule_set, skipped_json};

/// Longest file, in bytes. A request's body is a little longer.
pub(super) const MAX_LIST_BYTES: usize = 1_000_000;
/// Largest number of games.
pub(super) const MAX_GAMES: usize = 500;

/// A judged file.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct JudgedList {
    pub games: Vec<ListedGame>,
}

/// A game of a judged file.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct ListedGame {
    /// The line where it begins.
    pub line: usize,
    /// The names of Red and Black, empty if unknown.
    pub names: [String; 2],
    pub judged: Result<JudgedGame, Wrong>,
}

/// The judgement of a game.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct JudgedGame {
    pub rules: RuleSet,
    pub start: String,
    /// In UCI.
    pub moves: Vec<String>,
    pub claimed: Option<&'static str>,
    pub outcome: &'static str,
    pub reason: Option<&'static str>,
    pub surplus: usize,
    pub agreement: Agreement,
    /// All parts of the text that were not used.
    pub skipped: Vec<Skipped>,
    /// A suspicion about the text.
    pub hint: Option<Hint>,
    /// The tags of PGN, with their values.
    pub tags: Vec<(String, String)>,
}

/// The sum of a judged file.
#[derive(Default)]
#[allow(missing_docs, reason = "the names say what each is")]
pub struct Sum {
    pub games: usize,
    pub agree: usize,
    pub differ: usize,
    pub undecided: usize,
    pub refused: usize,
    /// Comments, variations, glyphs, and others.
    pub skipped: [usize; 4],
}

/// Judges all games of a file, by default each by the rules of its tag.
pub fn judge_games(text: &[u8], rules: &str) -> Result<JudgedList, Wrong> {
    let rules = rule_set(rules)?;
    if text.len() > MAX_LIST_BYTES {
        return Err(Wrong::TooLongFile(text.len()));
    }
    let mut games = Vec::new();
    for game in Games::new(Utf8Lines::new(text)) {
        // A limit on a game's length is beyond that of the file.
        let game = game.map_err(|_| Wrong::TooLongFile(text.len()))?;
        if games.len() == MAX_GAMES {
            return Err(Wrong::ManyGames);
        }
        games.push(ListedGame::new(&game, rules));
    }
    if games.is_empty() { Err(Wrong::NoGames) } else { Ok(JudgedList { games }) }
}

impl ListedGame {
    fn new(game: &GameText, rules: Option<RuleSet>) -> Self {
        let line = game.line;
        let transcript = match game.transcript() {
            Ok(transcript) => transcript,
            Err(error) => return Self { line, names: Default::default(), judged: Err(error.into()) },
        };
        let name = |tags: [&str; 2]| {
            let name = tags.into_iter().find_map(|tag| transcript.tag(tag)).unwrap_or_default();
            name.chars().take(40).collect::<String>()
        };
        let names = [name(["Red", "White"]), name(["Black", "Black"])];
        if transcript.moves.len() > MAX_MOVES {
            return Self { line, names, judged: Err(Wrong::ManyMoves) };
        }
        let judged = transcript.judge(rules).map(|judged| {
            let game = &judged.replay.game;
            let ending = game.status().ending();
            JudgedGame {
                rules: judged.rules,
                start: game.start().to_string(),
                moves: game.moves().map(|mv| mv.to_string()).collect(),
                claimed: judged.claimed.map(outcome_name),
                outcome: outcome_name(ending.map(|ending| ending.outcome)),
                reason: ending.map(|ending| ending.reason.name()),
                surplus: judged.replay.moves_after_end,
                agreement: judged.agreement,
                skipped: transcript.skipped.clone(),
                hint: transcript.hint(),
                tags: transcript.tags.clone(),
            }
        });
        Self { line, names, judged: judged.map_err(Wrong::from) }
    }

    fn json(&self) -> Value {
        let [red, black] = &self.names;
        let mut value = json!({ "line": self.line, "red": red, "black": black });
        let judged = match &self.judged {
            Ok(judged) => judged,
            Err(wrong) => {
                value["error"] = json!(wrong.sentence(false));
                return value;
            }
        };
        let fields = json!({
            "rules": judged.rules.name(), "start": judged.start, "moves": judged.moves, "claimed": judged.claimed,
            "outcome": judged.outcome, "reason": judged.reason, "ply": judged.moves.len(),
            "moves_after_the_end": judged.surplus, "agreement": agreement_name(judged.agreement),
            "skipped": skipped_json(&judged.skipped), "hint": judged.hint.as_ref().map(Hint::to_string),
        });
        if let (Value::Object(value), Value::Object(fields)) = (&mut value, fields) {
            value.extend(fields);
        }
        value
    }
}

/// The name of an agreement in JSON.
pub(super) const fn agreement_name(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Agrees => "agrees",
        Agreement::Differs => "differs",
        Agreement::Undecided => "undecided",
    }
}

impl JudgedList {
    /// The sum of all games.
    #[must_use]
    pub fn sum(&self) -> Sum {
        let mut sum = Sum { games: self.games.len(), ..Sum::default() };
        for game in &self.games {
            let Ok(judged) = &game.judged else {
                sum.refused += 1;
                continue;
            };
            match judged.agreement {
                Agreement::Agrees => sum.agree += 1,
                Agreement::Differs => sum.differ += 1,
                Agreement::Undecided => sum.undecided += 1,
            }
            for part in &judged.skipped {
                sum.skipped[match part.kind {
                    TokenKind::Comment => 0,
                    TokenKind::Variation => 1,
                    TokenKind::Glyph => 2,
                    _ => 3,
                }] += 1;
            }
        }
        sum
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let Sum { games, agree, differ, undecided, refused, skipped: [comments, variations, glyphs, others] } =
            self.sum();
        let listed: Value = self.games.iter().map(ListedGame::json).collect();
        json!({
            "games": listed,
            "sum": { "games": games, "agree": agree, "differ": differ, "undecided": undecided, "refused": refused,
                     "skipped_comments": comments, "skipped_variations": variations, "skipped_glyphs": glyphs,
                     "skipped_others": others },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_named() {
        let wrong = |text: &str| judge_games(text.as_bytes(), "").err().unwrap();
        assert_eq!(wrong(" \n"), Wrong::NoGames);
        assert_eq!(wrong(&"h2e2 *\n".repeat(MAX_GAMES + 1)), Wrong::ManyGames);
        assert_eq!(wrong(&" ".repeat(MAX_LIST_BYTES + 1)), Wrong::TooLongFile(MAX_LIST_BYTES + 1));
        assert_eq!(judge_games(b"h2e2 *", "chess").err(), Some(Wrong::Rules("chess".to_owned())));
        let most = judge_games("h2e2 *\n".repeat(MAX_GAMES).as_bytes(), "").ok().unwrap();
        assert_eq!((most.games.len(), most.sum().agree), (MAX_GAMES, MAX_GAMES));
        let long = format!("{} *\nh2e2 *", "h2e2 ".repeat(MAX_MOVES + 1));
        let list = judge_games(long.as_bytes(), "").ok().unwrap();
        assert!(matches!(list.games[0].judged, Err(Wrong::ManyMoves)));
        assert!(list.games[1].judged.is_ok());
    }

    #[test]
    fn games_are_judged_each_by_its_own_rules() {
        let fen = "[FEN \"5k3/9/9/9/9/9/9/9/2p6/3KR1Bc1 w\"]";
        let moves = "e0f0 f9e9 f0e0 e9f9 e0f0 f9e9 f0e0 e9f9";
        let text = format!(
            "{fen}\n[White \"a\"]\n[Black \"b\"]\n{moves} {{x}} 0-1\n\n{fen}\n[Rules \"simple\"]\n{moves} 1-0\n\nh2e2 h2e2 *\n"
        );
        let list = judge_games(text.as_bytes(), "").ok().unwrap();
        let value = list.json();
        assert_eq!(
            value["sum"],
            json!({ "games": 3, "agree": 1, "differ": 1, "undecided": 0, "refused": 1,
                    "skipped_comments": 1, "skipped_variations": 0, "skipped_glyphs": 0, "skipped_others": 0 })
        );
        let games = &value["games"];
        assert_eq!((&games[0]["red"], &games[0]["black"]), (&json!("a"), &json!("b")));
        assert_eq!((&games[0]["reason"], &games[0]["ply"]), (&json!("perpetual_check"), &json!(8)));
        assert_eq!(games[0]["skipped"][0]["line"], 4);
        assert_eq!((&games[1]["outcome"], &games[1]["claimed"]), (&json!("draw"), &json!("red_wins")));
        assert_eq!(
            (&games[2]["line"], &games[2]["error"]),
            (&json!(10), &json!("Line 10, column 6: move 2: `h2e2`: nothing of Black's stands on h2."))
        );
        assert_eq!(judge_games(text.as_bytes(), "cxr").ok().unwrap().sum().differ, 1);
        let hinted = judge_games("马8进7 马二进三 *\n".as_bytes(), "").ok().unwrap().json();
        assert!(hinted["games"][0]["hint"].as_str().unwrap().starts_with("all numerals are the other side's"));
        assert_eq!(games[0]["hint"], Value::Null);
    }
}
