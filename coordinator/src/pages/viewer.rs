//! What shows a game: board, steps, moves, scores, verdict. The pages of a game and of the judge have it in common.

use std::ops::RangeInclusive;

use xiangqi::{
    Color,
    notation::Notation,
    rules::{Class, Outcome},
};

use super::{
    board::{self, Board},
    graph::Graph,
    words::{Boards, Language, fill, state},
};
use crate::games::story::{Story, Told, pawns};

/// Games of no more plies are shown whole.
const LONG: usize = 200;
/// Of longer ones so many plies are shown at once, for a page is to stay small.
const PART: usize = 150;

/// The plies that are shown together with this one.
fn part_of(ply: usize, last: usize) -> (usize, usize) {
    if last <= LONG {
        return (0, last);
    }
    let before = ply.saturating_sub(1) / PART * PART;
    (if before == 0 { 0 } else { before + 1 }, (before + PART).min(last))
}

/// How it is to be seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) language: Language,
    /// After so many moves; after the last, if none is given.
    pub(super) ply: Option<usize>,
    pub(super) notation: Notation,
    pub(super) flipped: bool,
}

/// What shows a game.
pub(super) struct Viewer {
    /// The picture.
    pub(super) board: String,
    /// The position before the first move, and all moves in UCI: what a script needs to step.
    pub(super) start: String,
    pub(super) line: String,
    pub(super) ply: usize,
    pub(super) last: usize,
    /// The plies whose moves and marks are here: of a long game a part.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) flipped: bool,
    /// The move that was made last, in words.
    pub(super) said: String,
    pub(super) rows: Vec<Row>,
    pub(super) graph: Option<String>,
    pub(super) verdict: Option<Verdict>,
    /// How many moves are the opening's.
    pub(super) opening: usize,
    /// Whether steps are buttons of the form `line`; else they are links.
    pub(super) is_form: bool,
    /// What links have behind the ply.
    pub(super) suffix: String,
}

/// A move of each side.
pub(super) struct Row {
    pub(super) number: u32,
    pub(super) moves: [Option<Shown>; 2],
}

/// A move in the list.
pub(super) struct Shown {
    pub(super) ply: usize,
    pub(super) text: String,
    pub(super) score: String,
    pub(super) is_opening: bool,
    pub(super) is_now: bool,
    pub(super) in_cycle: bool,
}

/// How it ended.
pub(super) struct Verdict {
    pub(super) outcome: &'static str,
    /// The outcome's word for the style sheet.
    pub(super) class: &'static str,
    pub(super) reason: String,
    pub(super) sentence: String,
    /// The same in the other language.
    pub(super) other: String,
    pub(super) other_tag: &'static str,
    pub(super) cycle: Option<Cycle>,
}

/// The cycle that ended it.
pub(super) struct Cycle {
    pub(super) help: String,
    pub(super) deeds: Vec<Line>,
    pub(super) classes: [(&'static str, &'static str, bool); 2],
}

/// What a move of the cycle did.
pub(super) struct Line {
    pub(super) ply: usize,
    pub(super) side: &'static str,
    pub(super) side_class: &'static str,
    pub(super) text: String,
    pub(super) deed: String,
    /// For the style sheet: `check`, `chase`, `threat`, `idle`.
    pub(super) kind: &'static str,
    pub(super) is_now: bool,
}

impl Viewer {
    pub(super) fn new(story: &Story, view: &View) -> Self {
        let words = &view.language.words().boards;
        let chinese = view.language == Language::Chinese;
        let last = story.game.len();
        let ply = view.ply.unwrap_or(last).min(last);
        let texts = story.texts(view.notation);
        let position = story.position(ply);
        let deeds: Vec<_> = story.deeds().iter().map(|told| told.deed.clone()).collect();
        let (from, to) = part_of(ply, last);
        let mut marks = board::marks_of_game(&story.game, &deeds);
        marks.retain(|(ply, _)| (from..=to).contains(ply));
        let said = said(words, story, &texts, ply);
        let last_move = ply.checked_sub(1).and_then(|index| story.game.moves().nth(index));
        let board = Board {
            position: &position,
            flipped: view.flipped,
            last_move,
            marks: &marks,
            ply,
            title: &said,
            description: &board::in_words(&position, chinese),
        };
        let cycle = story.cycle();
        let graph = Graph { scores: &story.scores, ply, cycle, title: words.scores };
        let line: Vec<_> = story.game.moves().map(|mv| mv.to_string()).collect();
        let start = story.game.start().to_string();
        Self {
            board: board.to_string(),
            start: start.split(' ').take(2).collect::<Vec<_>>().join(" "),
            line: line.join(" "),
            ply,
            last,
            from,
            to,
            flipped: view.flipped,
            rows: rows(story, &texts, ply, from..=to),
            graph: graph.has_any().then(|| graph.to_string()),
            verdict: verdict(story, view.language, &texts, ply),
            said,
            opening: story.opening,
            is_form: false,
            suffix: String::new(),
        }
    }

    /// One move back.
    pub(super) const fn back(&self) -> usize {
        self.ply.saturating_sub(1)
    }

    /// One move on.
    pub(super) fn on(&self) -> usize {
        (self.ply + 1).min(self.last)
    }

    /// The last ply of the part before, if there is one.
    pub(super) fn earlier(&self) -> Option<usize> {
        self.from.checked_sub(1)
    }

    /// The first ply of the part behind, if there is one.
    pub(super) fn later(&self) -> Option<usize> {
        (self.to < self.last).then_some(self.to + 1)
    }
}

fn said(words: &Boards, story: &Story, texts: &[String], ply: usize) -> String {
    let Some(index) = ply.checked_sub(1) else { return words.beginning.to_owned() };
    let score =
        story.scores.get(index).copied().flatten().map_or_else(String::new, |score| format!(" {}", shown_score(score)));
    format!("{ply} · {}{score}", texts.get(index).map_or("", String::as_str))
}

const fn side_name(words: &Boards, side: Color) -> &'static str {
    match side {
        Color::Red => words.red,
        Color::Black => words.black,
    }
}

/// The moves that lead to these plies.
fn rows(story: &Story, texts: &[String], now: usize, plies: RangeInclusive<usize>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut number = story.game.start().move_number;
    let (from, to) = story.cycle().unwrap_or((usize::MAX, 0));
    for (index, text) in texts.iter().enumerate() {
        let ply = index + 1;
        let side = story.mover(ply);
        if side == Color::Black {
            number += 1;
        }
        if !plies.contains(&ply) {
            continue;
        }
        let shown = Shown {
            ply,
            text: text.clone(),
            score: story.scores[index].map_or_else(String::new, shown_score),
            is_opening: index < story.opening,
            is_now: ply == now,
            in_cycle: ply > from && ply <= to,
        };
        if side == Color::Red || rows.is_empty() {
            rows.push(Row { number: number - u32::from(side == Color::Black), moves: [None, None] });
        }
        if let Some(row) = rows.last_mut() {
            row.moves[side.index()] = Some(shown);
        }
    }
    rows
}

fn verdict(story: &Story, language: Language, texts: &[String], now: usize) -> Option<Verdict> {
    let words = &language.words().boards;
    let end = story.end.as_ref()?;
    let (outcome, class) = match end.outcome {
        Outcome::RedWins => (words.red_wins, "red"),
        Outcome::BlackWins => (words.black_wins, "black"),
        Outcome::Draw => (words.draw, "draw"),
    };
    let (sentence, other) = match language {
        Language::English => (&end.explanation.english, &end.explanation.chinese),
        Language::Chinese => (&end.explanation.chinese, &end.explanation.english),
    };
    let cycle = story.cycle().filter(|_| !end.deeds.is_empty()).map(|(from, _)| {
        let classes = Color::ALL.map(|side| {
            let class = end.class(side).unwrap_or_default();
            (side_name(words, side), class_name(words, class), end.outcome.loser() == Some(side))
        });
        let line = |told: &Told| {
            let deed = &told.deed;
            Line {
                ply: deed.ply,
                side: side_name(words, deed.side),
                side_class: if deed.side == Color::Red { "red" } else { "black" },
                text: texts.get(deed.ply - 1).cloned().unwrap_or_default(),
                deed: match language {
                    Language::English => told.english.clone(),
                    Language::Chinese => told.chinese.clone(),
                },
                kind: match () {
                    () if deed.is_idle() => "idle",
                    () if deed.checkers.any() => "check",
                    () if deed.threats.any() => "threat",
                    () => "chase",
                },
                is_now: deed.ply == now,
            }
        };
        Cycle { help: fill(words.cycle_help, from), deeds: end.deeds.iter().map(line).collect(), classes }
    });
    Some(Verdict {
        outcome,
        class,
        reason: state(language, end.reason.name()),
        sentence: sentence.clone(),
        other: other.clone(),
        other_tag: language.other().tag(),
        cycle,
    })
}

const fn class_name(words: &Boards, class: Class) -> &'static str {
    match class {
        Class::Allowed => words.class_allowed,
        Class::Chase => words.class_chase,
        Class::ChasePinnedChariot => words.class_chase_pinned_chariot,
        Class::MateThreat => words.class_mate_threat,
        Class::Check => words.class_check,
    }
}

/// A score with a minus that is one.
pub(super) fn shown_score(score: dataset::Score) -> String {
    pawns(score).replace('-', "−")
}

/// The notation of a name, or the usual one of the language.
pub(super) fn notation_of(name: Option<&str>, language: Language) -> Notation {
    match (name, language) {
        (Some("uci"), _) | (None, Language::English) => Notation::Uci,
        (Some("wxf"), _) => Notation::Wxf,
        (Some("chinese"), _) | (None, Language::Chinese) => Notation::ChineseSimplified,
        (Some(_), language) => notation_of(None, language),
    }
}

/// The name of a notation in addresses.
pub(super) const fn notation_name(notation: Notation) -> &'static str {
    match notation {
        Notation::Wxf => "wxf",
        Notation::ChineseSimplified | Notation::ChineseTraditional => "chinese",
        _ => "uci",
    }
}

#[cfg(test)]
mod tests {
    use super::part_of;

    #[test]
    fn every_ply_of_a_long_game_is_in_one_part() {
        assert_eq!(part_of(7, 200), (0, 200), "a game that is not long is shown whole");
        for last in [201, 300, 301, 1_500] {
            let mut next = 0;
            while next <= last {
                let (from, to) = part_of(next, last);
                assert_eq!(from, next, "parts follow each other");
                assert!(to <= last && (from..=to).all(|ply| part_of(ply, last) == (from, to)));
                next = to + 1;
            }
        }
    }
}
