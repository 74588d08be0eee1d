//! A verdict for people and for programs.

use std::io::{self, Write};

use serde::Serialize;
use xiangqi::{
    Bitboard, Color, Square,
    notation::reader::{Hint, Replay, Skipped, Transcript},
    rules::{Class, CycleVerdict, Explanation, Outcome, Reason},
    text::counted,
};

/// The answer of `chuhe judge --json`.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// `ongoing`, or the outcome.
    outcome: &'static str,
    reason: Option<Reason>,
    /// The ply of the verdict.
    ply: usize,
    /// The number of moves given after the end.
    moves_after_end: usize,
    /// The plies after which the repeated position occurred first and last.
    cycle: Option<[usize; 2]>,
    red: Conduct,
    black: Conduct,
    explanation: Sentences,
    /// The result that the text claims: an outcome, or `ongoing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed: Option<&'static str>,
    /// The comments, variations and glyphs of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
    /// A suspicion about the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// One side's conduct in the cycle; `allowed` without a cycle.
#[derive(Debug, Serialize)]
struct Conduct {
    class: Class,
    /// The squares of the chased pieces at the end.
    victims: Vec<Square>,
    /// The squares of the offending pieces at the end, if their number decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    offenders: Option<Vec<Square>>,
    /// The class of each of its moves in the cycle, if all are alike.
    moves: Vec<Move>,
}

#[derive(Debug, Serialize)]
struct Move {
    ply: usize,
    class: Class,
    by: Vec<Square>,
    victims: Vec<Square>,
}

#[derive(Debug, Serialize)]
struct Sentences {
    en: String,
    zh: String,
}

fn squares(set: Bitboard) -> Vec<Square> {
    set.into_iter().collect()
}

impl Conduct {
    fn new(side: Color, cycle: Option<&CycleVerdict>, explanation: &Explanation) -> Self {
        let conduct = cycle.map(|cycle| *cycle.conduct(side)).unwrap_or_default();
        let moves = explanation.offences.iter().filter(|offence| offence.side == side).map(|offence| Move {
            ply: offence.ply,
            class: offence.class,
            by: squares(offence.by),
            victims: squares(offence.victims),
        });
        let offenders = cycle.and_then(|cycle| cycle.offenders).map(|offenders| squares(offenders[side.index()]));
        Self { class: conduct.class, victims: squares(conduct.victims), offenders, moves: moves.collect() }
    }
}

impl Answer {
    pub(super) fn new(transcript: &Transcript, replay: &Replay) -> Self {
        let game = &replay.game;
        let ending = game.status().ending();
        let cycle = ending.and_then(|ending| ending.cycle.as_ref());
        let explanation = ending.map_or_else(
            || Explanation {
                english: "The game continues.".to_owned(),
                chinese: "对局继续。".to_owned(),
                offences: Vec::new(),
            },
            |ending| game.explain(ending),
        );
        Self {
            outcome: ending.map_or("ongoing", |ending| Outcome::name(ending.outcome)),
            reason: ending.map(|ending| ending.reason),
            ply: game.len(),
            moves_after_end: replay.moves_after_end,
            cycle: cycle.map(|cycle| [cycle.from, cycle.to]),
            red: Conduct::new(Color::Red, cycle, &explanation),
            black: Conduct::new(Color::Black, cycle, &explanation),
            explanation: Sentences { en: explanation.english, zh: explanation.chinese },
            claimed: transcript.claimed().map(|result| result.map_or("ongoing", Outcome::name)),
            skipped: transcript.skipped.clone(),
            hint: transcript.hint().as_ref().map(Hint::to_string),
        }
    }

    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{} after {}", self.outcome, counted(self.ply, "ply"))?;
        if let Some(reason) = self.reason {
            write!(out, ": {reason}")?;
        }
        writeln!(out)?;
        if let Some([from, to]) = self.cycle {
            let (red, black) = (self.red.class.name(), self.black.class.name());
            writeln!(out, "cycle from ply {from} to ply {to}: red {red}, black {black}")?;
        }
        writeln!(out, "{}\n{}", self.explanation.en, self.explanation.zh)?;
        self.print_notes(out)
    }

    /// Prints what concerns the text, not the game.
    pub(super) fn print_notes(&self, out: &mut impl Write) -> io::Result<()> {
        if self.moves_after_end > 0 {
            writeln!(out, "moves given after the end: {}", self.moves_after_end)?;
        }
        if let Some(claimed) = self.claimed {
            writeln!(out, "the text claims: {claimed}")?;
        }
        for skipped in &self.skipped {
            writeln!(out, "skipped {skipped}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(out, "hint: {hint}")?;
        }
        Ok(())
    }
}
