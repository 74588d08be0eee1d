//! An analysed game: moves, scores, end and explanation. Pages show it, and programs get it as
//! JSON.

use dataset::{Digest, Entrant, Header, Reason, Record, Score};
use serde_json::{Value, json};
use xiangqi::{
    Color, Position, Square,
    notation::Notation,
    rules::{Class, Ending, Explanation, Game, Outcome, PlyFacts},
};

/// An analysed game.
pub struct Story {
    /// The game at its end.
    pub game: Game,
    /// Number of opening moves.
    pub opening: usize,
    /// The scores of the moves, seen from Red.
    pub scores: Vec<Option<Score>>,
    /// The end, if the game is over.
    pub end: Option<End>,
}

/// The end of a game.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct End {
    pub outcome: Outcome,
    pub reason: Reason,
    /// The verdict of the rules, if that was it.
    pub ending: Option<Ending>,
    /// The explanation in two languages.
    pub explanation: Explanation,
    /// The facts of each move of the cycle.
    pub cycle_moves: Vec<CycleMove>,
}

/// A move of a cycle, explained.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct CycleMove {
    pub facts: PlyFacts,
    pub english: String,
    pub chinese: String,
}

impl Story {
    /// The story of a game, ended by the rules or ongoing.
    #[must_use]
    pub fn of(game: Game) -> Self {
        let end = game.status().ending().map(|ending| End::by_rules(&game, *ending));
        Self { opening: 0, scores: vec![None; game.len()], game, end }
    }

    /// The story of a stored game; none if its moves are not legal.
    #[must_use]
    pub fn of_record(record: &Record) -> Option<Self> {
        let opening = &record.opening;
        let mut game = Game::new(opening.start.clone(), opening.rules);
        let mut scores = vec![None; opening.moves.len()];
        for &mv in &opening.moves {
            game.push(mv).ok()?;
        }
        for scored in &record.moves {
            let from_red = if game.position().turn() == Color::Red { 1 } else { -1 };
            scores.push(scored.score.map(|score| score * from_red));
            game.push(scored.mv).ok()?;
        }
        let end = match game.status().ending() {
            Some(ending) => End::by_rules(&game, *ending),
            None => End::elsewhere(record.outcome, record.reason),
        };
        Some(Self { opening: opening.moves.len(), scores, game, end: Some(end) })
    }

    /// The moves in a notation.
    #[must_use]
    pub fn texts(&self, notation: Notation) -> Vec<String> {
        let mut position = self.game.start().position.clone();
        let written = self.game.moves().map(|mv| {
            let text = position.format_move(mv, notation);
            let _ = position.make(mv);
            text
        });
        written.collect()
    }

    /// The position after `ply` moves, or the last.
    #[must_use]
    pub fn position(&self, ply: usize) -> Position {
        self.game.position_at(ply).unwrap_or_else(|| self.game.position().clone())
    }

    /// The moves of the cycle.
    #[must_use]
    pub fn cycle_moves(&self) -> &[CycleMove] {
        self.end.as_ref().map_or(&[], |end| &end.cycle_moves)
    }

    /// The plies of the cycle that ended the game: after the first, up to the last.
    #[must_use]
    pub fn cycle(&self) -> Option<(usize, usize)> {
        let cycle = self.end.as_ref()?.ending?.cycle?;
        Some((cycle.from, cycle.to))
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let moves: Vec<_> = self.game.moves().map(|mv| mv.to_string()).collect();
        let mut value = json!({
            "rules": self.game.rules().name(),
            "start": self.game.start().to_string(),
            "opening_plies": self.opening,
            "moves": moves,
            "scores": self.scores,
            "outcome": "ongoing",
        });
        let Some(end) = &self.end else { return value };
        value["outcome"] = json!(end.outcome.name());
        value["reason"] = json!(end.reason.name());
        value["explanation"] = json!({ "en": end.explanation.english, "zh": end.explanation.chinese });
        if let Some(cycle) = end.ending.and_then(|ending| ending.cycle) {
            value["cycle"] = json!([cycle.from, cycle.to]);
            for side in Color::ALL {
                let conduct = cycle.conduct(side);
                let victims: Vec<_> = conduct.victims.into_iter().map(|square| square.to_string()).collect();
                value[side_name(side)] = json!({ "class": conduct.class.name(), "victims": victims });
            }
            value["deeds"] = end.cycle_moves.iter().map(CycleMove::json).collect();
        }
        value
    }

    /// The side that made a move; plies count from 1.
    #[must_use]
    pub fn mover(&self, ply: usize) -> Color {
        let first = self.game.start().position.turn();
        if ply % 2 == 1 { first } else { !first }
    }
}

impl End {
    fn by_rules(game: &Game, ending: Ending) -> Self {
        let facts = ending.cycle.as_ref().map_or_else(Vec::new, |cycle| game.ply_facts(cycle));
        let explain = |facts: PlyFacts| {
            let after = game.position_at(facts.ply).unwrap_or_else(|| game.position().clone());
            let (english, chinese) = (facts.english(&after), facts.chinese(&after));
            CycleMove { facts, english, chinese }
        };
        Self {
            outcome: ending.outcome,
            reason: Reason::Rules(ending.reason),
            explanation: game.explain(&ending),
            ending: Some(ending),
            cycle_moves: facts.into_iter().map(explain).collect(),
        }
    }

    /// An end outside of the rules: adjudication, ply cap, time.
    fn elsewhere(outcome: Outcome, reason: Reason) -> Self {
        let (english, chinese) = match (reason, outcome.loser()) {
            (Reason::AdjudicatedWin, Some(loser)) => {
                let (winner, chinese) = if loser == Color::Red { ("Black", "黑") } else { ("Red", "红") };
                (
                    format!("{winner} wins by adjudication: both sides had long scored the game as won for {winner}."),
                    format!("双方评分长时间均认为{chinese}方胜定，裁定{chinese}方胜。"),
                )
            }
            (Reason::AdjudicatedDraw, _) => (
                "Draw by adjudication: both sides had long scored the game as even.".to_owned(),
                "双方评分长时间均接近均势，裁定和棋。".to_owned(),
            ),
            (Reason::PlyCap, _) => (
                "The game grew too long and was broken off; its draw says nothing about the position.".to_owned(),
                "对局过长而终止；按和棋记录，但不作为局面的结论。".to_owned(),
            ),
            (Reason::TimeLoss, Some(loser)) => {
                let (english, chinese) = if loser == Color::Red { ("Red", "红") } else { ("Black", "黑") };
                (format!("{english} lost on time: its move came late."), format!("{chinese}方超时，判负。"))
            }
            // The record claims a verdict that the rules do not give: no such game is accepted.
            _ => ("The rules do not say that this game is over.".to_owned(), "按规则此局并未结束。".to_owned()),
        };
        let explanation = Explanation { english, chinese, offences: Vec::new() };
        Self { outcome, reason, ending: None, explanation, cycle_moves: Vec::new() }
    }

    /// The class of a side's moves in the cycle.
    #[must_use]
    pub fn class(&self, side: Color) -> Option<Class> {
        Some(self.ending?.cycle?.conduct(side).class)
    }
}

impl CycleMove {
    fn json(&self) -> Value {
        let facts = &self.facts;
        let squares = |squares: xiangqi::Bitboard| -> Vec<String> {
            squares.into_iter().map(|square: Square| square.to_string()).collect()
        };
        let chases: Vec<_> = facts
            .chases
            .iter()
            .map(|chase| {
                json!({ "by": chase.by.to_string(), "victim": chase.victim.to_string(),
                        "ends_on": chase.ends_on.to_string(), "saved": chase.saved })
            })
            .collect();
        json!({ "ply": facts.ply, "side": side_name(facts.side), "move": facts.mv.to_string(),
                "checkers": squares(facts.checkers), "threats": squares(facts.threats), "chases": chases,
                "explanation": { "en": self.english, "zh": self.chinese } })
    }
}

/// A score as people read it: `+0.31`.
#[must_use]
pub fn pawns(score: Score) -> String {
    let sign = if score < 0 { '-' } else { '+' };
    format!("{sign}{}.{:02}", score.abs() / 100, score.abs() % 100)
}

/// A side's name in JSON.
#[must_use]
pub const fn side_name(side: Color) -> &'static str {
    match side {
        Color::Red => "red",
        Color::Black => "black",
    }
}

/// The net of a side in a game; none for the plain evaluation.
#[must_use]
pub fn net_of(header: &Header, number: u64, side: Color) -> Option<Digest> {
    match header.opponent {
        Some(opponent) if Entrant::playing(side, number % 2 == 1) == Entrant::B => opponent.net,
        _ => header.net,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::{Opening, ScoredMove};
    use xiangqi::{Fen, rules::RuleSet};

    fn played(fen: &str, moves: &str) -> Story {
        let mut game = Game::new(fen.parse::<Fen>().unwrap(), RuleSet::Cxr);
        for text in moves.split(' ') {
            game.push(game.position().parse_move(text).unwrap()).unwrap();
        }
        Story::of(game)
    }

    #[test]
    fn a_perpetual_chase_is_explained_ply_by_ply() {
        let story = played("3a1kb2/4a4/4r3b/7c1/9/9/9/8R/7CC/3K5 w", "i2h2 h6i6 h2i2 i6h6 i2h2 h6i6 h2i2 i6h6");
        let json = story.json();
        assert_eq!((&json["outcome"], &json["reason"]), (&json!("black_wins"), &json!("perpetual_chase")));
        assert_eq!(json["cycle"], json!([0, 8]));
        assert_eq!(json["red"], json!({ "class": "chase", "victims": ["h6"] }));
        assert_eq!(json["black"], json!({ "class": "allowed", "victims": [] }));
        assert_eq!(json["deeds"].as_array().unwrap().len(), 8);
        assert_eq!(json["deeds"][0]["chases"], json!([{ "by": "h2", "victim": "h6", "ends_on": "h6", "saved": true }]));
        assert_eq!(json["deeds"][0]["explanation"]["zh"], "红车（h2）捉黑炮（h6）");
        assert_eq!(story.texts(Notation::ChineseSimplified)[0], "车一平二");
        assert_eq!(story.cycle(), Some((0, 8)));
    }

    #[test]
    fn an_ongoing_game_has_no_end() {
        let story = played(&Fen::start().to_string(), "h2e2 h9g7");
        assert_eq!(story.json()["outcome"], "ongoing");
        assert!(story.end.is_none() && story.cycle_moves().is_empty());
        assert_eq!((story.mover(1), story.mover(2)), (Color::Red, Color::Black));
    }

    #[test]
    fn scores_are_seen_from_red() {
        let moves = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let played = moves(&["h0g2", "i9h9"]);
        let scored = |(index, mv)| ScoredMove { mv, score: [Some(31), None][index] };
        let record = Record {
            opening: Opening {
                rules: RuleSet::Cxr,
                start: Fen::start(),
                seed: 1,
                attempt: 0,
                moves: moves(&["h2e2", "h9g7", "b0c2"]),
            },
            moves: vec![
                ScoredMove { mv: "i9h9".parse().unwrap(), score: Some(20) },
                scored((0, played[0])),
                scored((1, "h9h8".parse().unwrap())),
            ],
            outcome: Outcome::Draw,
            reason: Reason::PlyCap,
        };
        let story = Story::of_record(&record).unwrap();
        assert_eq!(story.scores, [None, None, None, Some(-20), Some(31), None]);
        assert_eq!(story.json()["reason"], "ply_cap");
        let record = Record { moves: vec![scored((0, "a0a9".parse().unwrap()))], ..record };
        assert!(Story::of_record(&record).is_none(), "that move is not legal");
    }
}
