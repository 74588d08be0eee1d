//! PGN: games as text, for people and for other programs.
//!
//! The seven tags of PGN come first. A value that is not known is written as PGN has it: `?`, or
//! `????.??.??` for a date. `White` repeats `Red`, so that programs for rating lists find both
//! players. These tags are written from the game itself: `Result`, `Game`, `Variant`, `SetUp`,
//! `FEN` (the start, always) and `Notation` (of the moves). All others keep their order.
//!
//! So a record is complete by the program-competition rulebook (chapter 2, section 6). It requires
//! the event, both engines, the time, the result, the starting FEN and the moves.
//!
//! A comment after a move holds the player's search figures, or any other text.
//!
//! Reading inverts writing. It uses the reader of all notations
//! ([`xiangqi::notation::reader`]), so it also accepts the files of other programs. Positions with
//! labels come from [`LabelledGame`].

mod encoding;
mod label;
mod read;
mod record;
mod score;
mod tags;
mod write;

pub use encoding::Utf8Lines;
pub use label::{LabelledGame, LabelledPosition};
pub use read::{PgnError, read};
pub use score::{Evaluation, evaluation};
pub use tags::{Terms, nets, time_controls};

use xiangqi::{Fen, Move, notation::Notation, rules::Outcome};

/// A game in PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnGame {
    /// The tags, without those that follow from the rest and those of the seven that are unknown.
    pub tags: Vec<(String, String)>,
    /// The position before the first move.
    pub start: Fen,
    /// The moves, each with the comment that follows it, empty if there is none.
    pub moves: Vec<(Move, String)>,
    /// The outcome; none if the game is not over.
    pub outcome: Option<Outcome>,
    /// The notation of the moves.
    pub notation: Notation,
}

impl PgnGame {
    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// Sets a tag: in its place if it is there, else behind the others.
    pub fn set_tag(&mut self, name: &str, value: String) {
        match self.tags.iter_mut().find(|(tag, _)| tag == name) {
            Some((_, old)) => *old = value,
            None => self.tags.push((name.to_owned(), value)),
        }
    }
}

/// The PGN result token of an outcome.
const fn sign(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::RedWins) => "1-0",
        Some(Outcome::BlackWins) => "0-1",
        Some(Outcome::Draw) => "1/2-1/2",
        None => "*",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xiangqi::rules::{Game, RuleSet};

    /// A game of `plies` random moves, with every kind of content.
    fn sample(seed: u64, plies: u32, notation: Notation) -> PgnGame {
        let walker = crate::opening::Walker::from_start(RuleSet::Cxr, plies);
        let Some((_, game)) = walker.first(seed, 0) else { unreachable!("a walk is found") };
        let comments = ["", "+0.31/12 0.104s 23456n", "book", "a \"quoted\" \\ ; comment (with) [marks] 1. 0-1 $3"];
        PgnGame {
            tags: vec![
                ("Event".to_owned(), "A \"match\" \\ 比赛".to_owned()),
                ("Red".to_owned(), "one".to_owned()),
                ("Black".to_owned(), String::new()),
            ],
            start: game.start().clone(),
            moves: game.moves().enumerate().map(|(index, mv)| (mv, comments[index % 4].to_owned())).collect(),
            outcome: [None, Some(Outcome::RedWins), Some(Outcome::BlackWins), Some(Outcome::Draw)][seed as usize % 4],
            notation,
        }
    }

    #[test]
    fn games_round_trip_in_every_notation() {
        let mut text = String::new();
        let mut games = Vec::new();
        for (seed, notation) in Notation::ALL.into_iter().cycle().take(40).enumerate() {
            let game = sample(seed as u64, 60, notation);
            text += &game.to_string();
            games.push(game);
        }
        assert_eq!(read(&text).unwrap(), games);
        assert!(text.lines().all(|line| line.chars().count() <= 200));
        assert_eq!(read("").unwrap(), []);
    }

    /// Characters that would end a comment or a tag are replaced, and nothing after them is lost.
    #[test]
    fn reserved_characters_are_replaced() {
        let mut game = sample(1, 3, Notation::Uci);
        game.moves[0].1 = "a } b {c}".to_owned();
        game.moves[1].1 = "two\nlines".to_owned();
        game.tags[1].1 = "one\n[White \"x\"]\r".to_owned();
        let text = game.to_string();
        game.moves[0].1 = "a ) b {c)".to_owned();
        game.moves[1].1 = "two lines".to_owned();
        game.tags[1].1 = "one [White \"x\"] ".to_owned();
        assert_eq!(read(&text).unwrap(), [game]);
    }

    #[test]
    fn black_may_begin() {
        let start: Fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 1 7".parse().unwrap();
        let mut game = Game::new(start.clone(), RuleSet::Cxr);
        for text in ["h9g7", "h0g2", "i9h9"] {
            let mv = game.position().parse_move(text).unwrap();
            game.push(mv).unwrap();
        }
        let moves = game.moves().map(|mv| (mv, String::new())).collect();
        let game = PgnGame { tags: vec![], start, moves, outcome: None, notation: Notation::Wxf };
        assert!(game.to_string().ends_with("\n\n7... H8+7 8. H2+3 R9=8 *\n\n"), "{game}");
        assert_eq!(read(&game.to_string()).unwrap(), [game]);
    }

    #[test]
    fn files_of_other_programs_are_read() {
        let text = "\u{feff}[Event \"x\"]\r\n[Result \"1-0\"]\r\n; a line for people\r\n% an escape\r\n\
                    1. 炮二平五 {好} 马8进7 $1 (1... 炮8平5 2. 马二进三 (2. 兵七进一)) 2.马二进三 { a\nb } 1-0\r\n\
                    [Event \"y\"] 1. h2e2 H9-G7 2. H2+3 i10h10 *";
        let games = read(text).unwrap();
        let moves = |game: &PgnGame| game.moves.iter().map(|(mv, _)| mv.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(games.iter().map(moves).collect::<Vec<_>>(), ["h2e2 h9g7 h0g2", "h2e2 h9g7 h0g2 i9h9"]);
        assert_eq!(games[0].moves[0].1, "好");
        assert_eq!(games[0].moves[2].1, "a b");
        assert_eq!((games[0].outcome, games[1].outcome), (Some(Outcome::RedWins), None));
        assert_eq!((games[0].tag("Event"), games[1].tag("Event")), (Some("x"), Some("y")));
    }

    #[test]
    fn errors_name_their_line() {
        let error = |text| read(text).unwrap_err().to_string();
        assert_eq!(
            error("\n[Event \"x]\n\n1. h2e2 *"),
            "line 2, column 1: `[Event \"x]` is not a tag as in `[Event \"x\"]`"
        );
        assert_eq!(error("[FEN \"9 w\"]\n1. h2e2 *"), "FEN board: 1 rank, not 10");
        assert_eq!(
            error("1. h2e2 *\n1. h2e2\nh9g5 *"),
            "line 3, column 1: move 2: `h9g5`: Black's horse on h9 does not go to g5"
        );
        assert_eq!(error("1. h2e2 {\n\n"), "line 1, column 9: the bracket of `{\\n\\n` is not closed");
        assert_eq!(error("1. h2e2 ( 1. b2e2"), "line 1, column 9: the bracket of `( 1. b2e2` is not closed");
        assert_eq!(error("1. h2e2 )"), "move 2: `)` is not a move in any known notation");
        assert_eq!(error("[Result \"1-0\"]\n0-1"), "line 2, column 1: the result `0-1` is not that of the tag, `1-0`");
    }
}
