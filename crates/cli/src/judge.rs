//! `chuhe judge`: judges one game, or a file of cases.

mod answer;
mod batch;
mod case;

use std::{io::Write, num::NonZeroUsize, path::PathBuf};

use anyhow::Result;
use xiangqi::rules::{RuleSet, Status};

pub use case::{Case, CaseError, Expected};

use crate::{Finding, threads};
use answer::Answer;

/// Judge a game by the rules: whether it continues, or how it ended and why
///
/// A game is judged at the first position in which the rules end it, or after its last move.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["fen", "batch"]))]
pub(crate) struct Arguments {
    /// The rulebook: cxr, wxf, axf, wikibook or simple
    #[arg(long, default_value_t)]
    rules: RuleSet,
    /// The position the game started from
    #[arg(long)]
    fen: Option<String>,
    /// The moves made since, as in `h2e2 h9g7`
    #[arg(long, conflicts_with = "batch")]
    moves: Option<String>,
    /// File of cases to check, one JSON object a line; `-` for standard input
    ///
    /// A case is `{"name", "fen", "moves": […], "expected": "red_loses|black_loses|draw|none"}`,
    /// where `none` means that the game continues. Each case that is judged otherwise is printed;
    /// the last line is `N passed, M failed`. Exit status 1 if some failed, 2 at the first line
    /// that is no case, or if there is none.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Threads that judge a batch [default: all cores]
    #[arg(long, value_name = "T", conflicts_with = "fen", allow_negative_numbers = true, value_parser = threads::parse)]
    threads: Option<NonZeroUsize>,
    /// Print JSON: one object, or for a batch one for each failed case and one with the totals
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        match (&self.batch, &self.fen) {
            (Some(path), _) => {
                let threads = self.threads.unwrap_or_else(threads::all);
                batch::run(path, self.rules, threads, self.json, out)
            }
            (None, Some(fen)) => self.judge_one(fen, out),
            (None, None) => unreachable!("clap requires one of the two"),
        }
    }

    fn judge_one(&self, fen: &str, out: &mut impl Write) -> Result<Finding> {
        let moves = self.moves.as_deref().unwrap_or_default().split_ascii_whitespace();
        let played = case::play(fen, moves, self.rules).map_err(|error| match error {
            CaseError::Fen(error) => anyhow::Error::from(error).context("--fen"),
            other => anyhow::Error::from(other).context("--moves"),
        })?;
        let answer = Answer::new(&played);
        if self.json {
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            answer.print(out)?;
        }
        Ok(Finding::Holds)
    }
}

/// Judges a case. A fuzz target: any text gives a verdict or an error.
///
/// # Errors
///
/// If the text is no case, or the case holds no game.
pub fn judge_line(line: &str, rules: RuleSet) -> Result<(Case, Status), CaseError> {
    let case: Case = line.parse()?;
    let played = case.play(rules)?;
    Ok((case, *played.game.status()))
}
