//! Judges any pasted position or list of moves under the rules.
//!
//! Input: FENs and engine logs (`position fen … moves …`), moves in any notation, with or without
//! numbers, and PGN. Of PGN, tags, moves and comments are read. Errors name the place.

mod examples;
mod words;

pub use examples::{EXAMPLES, Example};

use serde::Deserialize;
use xiangqi::{
    Fen, FenError,
    notation::{NotationError, parse_any},
    rules::{Game, RuleSet},
};

use super::story::Story;

/// Longest text of a position, in bytes.
pub const MAX_FEN_BYTES: usize = 300;
/// Longest text of moves, in bytes.
pub const MAX_TEXT_BYTES: usize = 64_000;
/// Largest number of judged moves.
pub const MAX_MOVES: usize = 1_500;

/// Query parameters of a judgement.
#[derive(Deserialize)]
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
}

/// Reasons against judging.
#[derive(Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say what each is")]
pub enum Wrong {
    Rules(String),
    LongFen(usize),
    Fen(FenError),
    LongMoves(usize),
    ManyMoves,
    Move { number: usize, error: NotationError },
    OpenComment,
}

/// Judges moves from a position, by default the starting position.
pub fn judge(fen: &str, moves: &str, rules: &str) -> Result<Judged, Wrong> {
    let rules = match rules.trim() {
        "" => RuleSet::default(),
        name => name.parse().map_err(|_| Wrong::Rules(name.chars().take(32).collect()))?,
    };
    if fen.len() > MAX_FEN_BYTES + MAX_TEXT_BYTES {
        return Err(Wrong::LongFen(fen.len()));
    }
    if moves.len() > MAX_TEXT_BYTES {
        return Err(Wrong::LongMoves(moves.len()));
    }
    // Either box takes both kinds of input: engine commands and PGN.
    let (first, second) = (without_asides(fen)?, without_asides(moves)?);
    let (written, more) = split_log(&first.moves);
    let (position, moves) = if has_position(&second.moves) { split_log(&second.moves) } else { ("", &*second.moves) };
    let (fen, more) = match first.fen {
        // Moves follow the tags.
        Some(fen) => (fen, first.moves.as_str()),
        None if is_numbered(written) => ("", first.moves.as_str()),
        None => (written, more),
    };
    let fen =
        [fen, position, second.fen.unwrap_or_default()].into_iter().find(|fen| !fen.is_empty()).unwrap_or_default();
    if fen.len() > MAX_FEN_BYTES {
        return Err(Wrong::LongFen(fen.len()));
    }
    let start = if fen.is_empty() || fen == "startpos" { Fen::start() } else { fen.parse().map_err(Wrong::Fen)? };
    let mut game = Game::new(start, rules);
    let texts: Vec<_> = tokens(more).chain(tokens(moves)).collect();
    if texts.len() > MAX_MOVES {
        return Err(Wrong::ManyMoves);
    }
    for (index, text) in texts.iter().enumerate() {
        if game.status().ending().is_some() {
            return Ok(Judged { story: Story::of(game), surplus: texts.len() - index });
        }
        let mv = parse_any(game.position(), text).map_err(|error| Wrong::Move { number: index + 1, error })?;
        game.push_legal(mv);
    }
    Ok(Judged { story: Story::of(game), surplus: 0 })
}

/// Splits at the word `moves`, without the words of the UCI `position` command.
fn split_log(text: &str) -> (&str, &str) {
    let text = text.trim();
    let text = text.strip_prefix("position").map_or(text, str::trim_start);
    let text = text.strip_prefix("fen ").map_or(text, str::trim_start);
    match text.split_once("moves") {
        Some((fen, moves)) => (fen.trim(), moves.trim()),
        None => (text, ""),
    }
}

/// Whether a text begins with a UCI position; moves may follow.
fn has_position(text: &str) -> bool {
    let text = text.trim_start();
    ["position", "fen ", "startpos"].iter().any(|word| text.starts_with(word))
}

/// Whether the text begins with a move number.
fn is_numbered(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let rest = word.trim_start_matches(is_digit);
    rest.len() < word.len() && rest.starts_with(POINTS)
}

/// Moves, and the position from the tags.
struct Bare<'a> {
    moves: String,
    fen: Option<&'a str>,
}

/// Strips tags and comments.
fn without_asides(text: &str) -> Result<Bare<'_>, Wrong> {
    let mut bare = Bare { moves: String::with_capacity(text.len()), fen: None };
    let mut rest = text;
    while let Some(place) = rest.find(['[', '{', ';']) {
        bare.moves.push_str(&rest[..place]);
        let (aside, close) = (
            &rest[place..],
            match rest.as_bytes()[place] {
                b'[' => ']',
                b'{' => '}',
                _ => '\n',
            },
        );
        let end = match aside.find(close) {
            Some(end) => end + 1,
            None if close == '\n' => aside.len(),
            None => return Err(Wrong::OpenComment),
        };
        if let Some(value) = aside[..end].strip_prefix("[FEN \"") {
            bare.fen = Some(value.trim_end_matches(['"', ']']).trim());
        }
        bare.moves.push(' ');
        rest = &aside[end..];
    }
    bare.moves.push_str(rest);
    Ok(bare)
}

/// Characters between a move's number and the move.
const POINTS: [char; 4] = ['.', '．', '…', '、'];

/// Whether a letter is a digit, also a full-width one of Chinese texts.
fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || ('０'..='９').contains(&letter)
}

/// Strips a move's number, if there is one.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(is_digit);
    if rest.len() < word.len() && (rest.is_empty() || rest.starts_with(POINTS)) {
        rest.trim_start_matches(POINTS)
    } else {
        word.trim_start_matches(['.', '…'])
    }
}

/// Iterates over the moves of a text, without numbers and results.
fn tokens(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | '，' | '、' | '；' | '|'));
    words.filter_map(|word| {
        let is_result = matches!(word, "1-0" | "0-1" | "1/2-1/2" | "*") || word.starts_with('$');
        Some(without_number(word)).filter(|word| !word.is_empty() && !is_result).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(fen: &str, moves: &str) -> String {
        let judged = judge(fen, moves, "").unwrap();
        judged.story.end.map_or("ongoing".to_owned(), |end| end.reason.to_string())
    }

    #[test]
    fn moves_are_read_as_people_paste_them() {
        for moves in [
            "h2e2 h9g7 h0g2",
            "1. C2=5 H8+7 2. H2+3",
            "1.炮二平五 马8进7 2.马二进三 *",
            "炮二平五，马8进7、马二进三",
            "[Event \"x\"]\n1. h2e2 {a comment} h9g7 $1\n2. h0g2 ; to the end of the line\n1-0",
            "１．炮二平五 马8进7 2… 马二进三",
            "１、炮二平五 马８进７ ２、马二进三",
            "position startpos moves h2e2 h9g7 h0g2",
            "startpos moves h2e2 h9g7 h0g2",
        ] {
            let judged = judge("", moves, "cxr").unwrap_or_else(|wrong| panic!("{moves}: {wrong:?}"));
            let moves: Vec<_> = judged.story.game.moves().map(|mv| mv.to_string()).collect();
            assert_eq!(moves, ["h2e2", "h9g7", "h0g2"]);
        }
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
        // The moves after the end are skipped.
        assert_eq!(judge(fen, &format!("{moves} zzz a0a1"), "").unwrap().surplus, 2);
    }

    #[test]
    fn errors_are_named() {
        let wrong = |fen: &str, moves: &str, rules: &str| judge(fen, moves, rules).err().unwrap();
        assert_eq!(wrong("", "", "chess"), Wrong::Rules("chess".to_owned()));
        assert!(matches!(wrong("9/9 w", "", ""), Wrong::Fen(FenError::RankCount { count: 2 })));
        assert!(matches!(wrong("", "h2e2 h2e2", ""), Wrong::Move { number: 2, .. }));
        assert!(matches!(wrong("", "{h2e2", ""), Wrong::OpenComment));
        assert!(matches!(wrong(&"9".repeat(400), "", ""), Wrong::LongFen(400)));
        assert!(matches!(wrong("", &"a0a1 ".repeat(20_000), ""), Wrong::LongMoves(100_000)));
        assert!(matches!(wrong("", &"a ".repeat(2_000), ""), Wrong::ManyMoves));
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
                Ok(judged) => drop(judged.story.json()),
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
