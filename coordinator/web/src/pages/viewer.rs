//! The game viewer of the pages of games and of the judge: board, steps, moves, scores, verdict.

use std::ops::RangeInclusive;

use board::Board;
use coordinator_core::games::story::{CycleMove, Story, pawns};
use xiangqi::{
    Color,
    notation::Notation,
    rules::{Class, Outcome},
};

use super::{
    graph::Graph,
    words::{Boards, Language, fill, state},
};

/// Longest game, in plies, shown in one part.
const MAX_WHOLE_PLIES: usize = 200;
/// Plies per part of a longer game, to keep the page small.
const PART_PLIES: usize = 150;

/// The part that contains a ply.
fn part_of(ply: usize, last: usize) -> (usize, usize) {
    if last <= MAX_WHOLE_PLIES {
        return (0, last);
    }
    let before = ply.saturating_sub(1) / PART_PLIES * PART_PLIES;
    (if before == 0 { 0 } else { before + 1 }, (before + PART_PLIES).min(last))
}

/// View options.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) language: Language,
    /// The ply shown; the last by default.
    pub(super) ply: Option<usize>,
    pub(super) notation: Notation,
    pub(super) flipped: bool,
}

/// The viewer's content.
pub(super) struct Viewer {
    /// The board as SVG.
    pub(super) board: String,
    /// The starting position, and all moves in UCI: the input of the script.
    pub(super) start: String,
    pub(super) line: String,
    pub(super) rules: &'static str,
    pub(super) ply: usize,
    pub(super) last: usize,
    /// The plies of the current part.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) flipped: bool,
    /// The last move, in words.
    pub(super) caption: String,
    pub(super) rows: Vec<Row>,
    pub(super) graph: Option<String>,
    pub(super) verdict: Option<Verdict>,
    /// Number of opening moves.
    pub(super) opening: usize,
    /// Whether steps are buttons of the form `line`, otherwise links.
    pub(super) is_form: bool,
    /// Suffix of links after the ply.
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

/// The verdict on the game.
pub(super) struct Verdict {
    pub(super) outcome: &'static str,
    /// The outcome's CSS class.
    pub(super) class: &'static str,
    pub(super) reason: String,
    pub(super) sentence: String,
    /// The sentence in the other language.
    pub(super) other: String,
    pub(super) other_tag: &'static str,
    pub(super) cycle: Option<Cycle>,
}

/// The cycle that ended the game.
pub(super) struct Cycle {
    pub(super) help: String,
    pub(super) lines: Vec<Line>,
    pub(super) classes: [(&'static str, &'static str, bool); 2],
}

/// A move of the cycle, explained.
pub(super) struct Line {
    pub(super) ply: usize,
    pub(super) side: &'static str,
    pub(super) side_class: &'static str,
    pub(super) text: String,
    pub(super) facts: String,
    /// CSS class: `check`, `chase`, `threat`, `idle`.
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
        let cycle_moves: Vec<_> = story.cycle_moves().iter().map(|mv| mv.facts.clone()).collect();
        let (from, to) = part_of(ply, last);
        let mut marks = board::marks_of_game(&story.game, &cycle_moves);
        marks.retain(|(ply, _)| (from..=to).contains(ply));
        let caption = caption(words, story, &texts, ply);
        let last_move = ply.checked_sub(1).and_then(|index| story.game.moves().nth(index));
        let board = Board {
            position: &position,
            flipped: view.flipped,
            last_move,
            marks: &marks,
            ply,
            title: &caption,
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
            rules: story.game.rules().name(),
            ply,
            last,
            from,
            to,
            flipped: view.flipped,
            rows: rows(story, &texts, ply, from..=to),
            graph: graph.has_any().then(|| graph.to_string()),
            verdict: verdict(story, view.language, &texts, ply),
            caption,
            opening: story.opening,
            is_form: false,
            suffix: String::new(),
        }
    }

    /// The previous ply.
    pub(super) const fn back(&self) -> usize {
        self.ply.saturating_sub(1)
    }

    /// The next ply.
    pub(super) fn forward(&self) -> usize {
        (self.ply + 1).min(self.last)
    }

    /// The last ply of the previous part, if there is one.
    pub(super) fn earlier(&self) -> Option<usize> {
        self.from.checked_sub(1)
    }

    /// The first ply of the next part, if there is one.
    pub(super) fn later(&self) -> Option<usize> {
        (self.to < self.last).then_some(self.to + 1)
    }
}

fn caption(words: &Boards, story: &Story, texts: &[String], ply: usize) -> String {
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

/// The rows of moves for these plies.
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
    let cycle = story.cycle().filter(|_| !end.cycle_moves.is_empty()).map(|(from, _)| {
        let classes = Color::ALL.map(|side| {
            let class = end.class(side).unwrap_or_default();
            (side_name(words, side), class_name(words, class), end.outcome.loser() == Some(side))
        });
        let line = |mv: &CycleMove| {
            let facts = &mv.facts;
            Line {
                ply: facts.ply,
                side: side_name(words, facts.side),
                side_class: if facts.side == Color::Red { "red" } else { "black" },
                text: texts.get(facts.ply - 1).cloned().unwrap_or_default(),
                facts: match language {
                    Language::English => mv.english.clone(),
                    Language::Chinese => mv.chinese.clone(),
                },
                kind: match () {
                    () if facts.is_idle() => "idle",
                    () if facts.checkers.any() => "check",
                    () if facts.threats.any() => "threat",
                    () => "chase",
                },
                is_now: facts.ply == now,
            }
        };
        Cycle { help: fill(words.cycle_help, from), lines: end.cycle_moves.iter().map(line).collect(), classes }
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

/// A score with a true minus sign.
pub(super) fn shown_score(score: dataset::Score) -> String {
    pawns(score).replace('-', "−")
}

/// Parses a notation's name; by default the language's usual one.
pub(super) fn notation_of(name: Option<&str>, language: Language) -> Notation {
    match (name, language) {
        (Some("uci"), _) | (None, Language::English) => Notation::Uci,
        (Some("wxf"), _) => Notation::Wxf,
        (Some("chinese"), _) | (None, Language::Chinese) => Notation::ChineseSimplified,
        (Some(_), language) => notation_of(None, language),
    }
}

/// A notation's name in addresses.
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
        assert_eq!(part_of(7, 200), (0, 200), "a short game is shown whole");
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
