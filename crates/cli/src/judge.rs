//! `chuhe judge`: judges one game, or a file of cases.

mod answer;
mod batch;
mod case;
mod pgn;

use std::{
    io::{self, Read as _, Write},
    num::NonZeroUsize,
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use dataset::pgn::Utf8Lines;
use xiangqi::{
    notation::reader::{Replay, Transcript},
    rules::{RuleSet, Status},
};

pub use case::{Case, CaseError, Expected};

use crate::{Finding, interrupt, live_line::LiveLine, threads};
use answer::Answer;

/// The sentence after Ctrl-C.
const NOT_ALL_JUDGED: &str = "not all was judged; the same command begins again";

/// Judge a game by the rules: whether it continues, or how it ended and why
///
/// A game is judged at the first position in which the rules end it, or after its last move.
///
/// Moves are read in any notation: UCI, UCCI, ICCS, WXF and Chinese, with or without numbers,
/// results and comments. What is skipped is listed with its place.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["fen", "moves", "batch", "pgn"]))]
pub(crate) struct Arguments {
    /// The rulebook: cxr, wxf, axf, wikibook or simple [default: cxr; in PGN the tag `Rules`]
    #[arg(long)]
    rules: Option<RuleSet>,
    /// The position the game started from [default: the start of a game]
    ///
    /// A FEN, `startpos`, or an engine's command: `position fen … moves …`. Moves may follow.
    #[arg(long)]
    fen: Option<String>,
    /// The moves made since, as in `h2e2 h9g7` or `1. 炮二平五 马8进7`; `-` for standard input
    #[arg(long, allow_hyphen_values = true)]
    moves: Option<String>,
    /// File of cases to check, one JSON object a line; `-` for standard input
    ///
    /// A case is `{"name", "fen", "moves": […], "expected": "red_loses|black_loses|draw|none"}`,
    /// where `none` means that the game continues. Moves may also be one text. Each case that is
    /// judged otherwise is printed, and each whose text was not used as a whole, with what was
    /// skipped. The last line is `N passed, M failed`. Exit status 1 if some failed, 2 at the first
    /// line that is no case, or if there is none. The file may be compressed by gzip or zstd.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fen", "moves"])]
    batch: Option<PathBuf>,
    /// Files of games in PGN; `-` for standard input
    ///
    /// Prints for each game the result it claims and the result by the rules. A game that ended by
    /// resignation, on time or by adjudication is `undecided`. The last line is the sum. Exit
    /// status 1 if some results differ, 2 if some games could not be read. All games count for it,
    /// even if the output is closed early. The files may be compressed by gzip or zstd, and in
    /// UTF-8 or GBK.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["fen", "moves", "batch"])]
    pgn: Vec<PathBuf>,
    /// List only the games of PGN, and count the skipped parts of their texts
    #[arg(long, requires = "pgn")]
    brief: bool,
    /// Threads that judge a batch or PGN [default: all cores]
    #[arg(long, value_name = "T", conflicts_with_all = ["fen", "moves"], allow_negative_numbers = true, value_parser = threads::parse)]
    threads: Option<NonZeroUsize>,
    /// Print JSON: one object; for a batch one for each printed case, for PGN one for each game,
    /// and one with the totals
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut (impl Write + Sync)) -> Result<Finding> {
        interrupt::exit_with(NOT_ALL_JUDGED.to_owned());
        let threads = || self.threads.unwrap_or_else(threads::all);
        match &self.batch {
            _ if !self.pgn.is_empty() => pgn::run(&self.pgn, self.rules, threads(), [self.json, self.brief], out),
            Some(path) => batch::run(path, self.rules.unwrap_or_default(), threads(), self.json, out),
            None => self.judge_one(out),
        }
    }

    fn judge_one(&self, out: &mut impl Write) -> Result<Finding> {
        let fen = self.fen.as_deref().unwrap_or_default();
        let (source, moves) = match self.moves.as_deref() {
            Some("-") => {
                let mut text = String::new();
                let mut lines = Utf8Lines::new(io::stdin().lock());
                lines.read_to_string(&mut text).context("standard input")?;
                if lines.is_gbk() {
                    LiveLine::new().announce("standard input: read as GBK")?;
                }
                ("standard input", text)
            }
            moves => ("--moves", moves.unwrap_or_default().to_owned()),
        };
        let read = Transcript::read(fen, &moves);
        let played = read.and_then(|transcript| transcript.judge(self.rules).map(|judged| (transcript, judged.replay)));
        let (transcript, replay): (Transcript, Replay) = played.map_err(|error| {
            let source = if error.in_position || moves.is_empty() { "--fen" } else { source };
            anyhow::Error::from(error).context(source)
        })?;
        let answer = Answer::new(&transcript, &replay);
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
    let (_, replay) = case.play(rules)?;
    Ok((case, *replay.game.status()))
}
