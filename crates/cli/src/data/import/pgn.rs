//! Games in PGN, read on all cores and streamed.

use std::{
    io::{self, Write},
    num::NonZeroUsize,
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use dataset::{pgn::LabelledGame, sfen::Entry};
use serde::Serialize;
use xiangqi::{
    notation::reader::{Agreement, ReadError, Transcript},
    rules::RuleSet,
    text::counted,
};

use super::{Line, Target};
use crate::games::{self, GamePlace, GameWork, SkippedCounts};

/// The counts of an import.
#[derive(Default, Serialize)]
pub(super) struct Sum {
    games: u64,
    positions: u64,
    /// Positions written with a score, and with a result.
    with_score: u64,
    with_result: u64,
    /// Games whose claimed result is not that of the rules.
    differ: u64,
    /// Positions left out: of openings, without score and result, after the end by the rules, and
    /// those that the written format cannot hold.
    opening: u64,
    unlabelled: u64,
    after_end: u64,
    incomplete: u64,
    #[serde(flatten)]
    skipped: SkippedCounts,
}

/// A game's positions in the written format.
struct Converted {
    bytes: Vec<u8>,
    sum: Sum,
}

/// Writes the positions of all games of all files.
pub(super) fn convert(
    paths: &[PathBuf],
    rules: Option<RuleSet>,
    to: Target,
    threads: NonZeroUsize,
    target: &mut (impl Write + Sync),
) -> Result<Sum> {
    let mut sum = Sum::default();
    games::process(paths, threads, &mut Conversion { rules, to, target }, &mut sum)?;
    Ok(sum)
}

struct Conversion<W> {
    rules: Option<RuleSet>,
    to: Target,
    target: W,
}

fn one(transcript: &Transcript, number: u64, rules: Option<RuleSet>, to: Target) -> Result<Converted, ReadError> {
    let game = LabelledGame::new(transcript, rules)?;
    let mut sum = Sum {
        games: 1,
        differ: u64::from(game.agreement == Agreement::Differs),
        opening: game.opening as u64,
        unlabelled: game.unlabelled as u64,
        after_end: game.after_end as u64,
        skipped: SkippedCounts {
            comments: game.comments as u64,
            variations: game.variations as u64,
            glyphs: game.glyphs as u64,
            others: game.others as u64,
        },
        ..Sum::default()
    };
    let mut bytes = Vec::new();
    for position in game.positions {
        let labels = (position.score, position.result);
        match (to, labels) {
            (Target::Jsonl, (score, result)) => {
                let line = Line {
                    game: Some(number),
                    fen: position.fen.to_string(),
                    mv: position.mv.to_string(),
                    score,
                    result,
                    ply: position.ply,
                    reason: game.reason,
                };
                line.write(&mut bytes).expect("memory takes every byte");
            }
            (Target::Sfen, (Some(score), Some(result))) => {
                let ply = position.ply.min(usize::from(u16::MAX)) as u16;
                let entry = Entry { fen: position.fen, mv: position.mv, score: score as i16, ply, result };
                bytes.extend_from_slice(&entry.to_bytes());
            }
            (Target::Sfen, _) => {
                sum.incomplete += 1;
                continue;
            }
        }
        sum.positions += 1;
        sum.with_score += u64::from(labels.0.is_some());
        sum.with_result += u64::from(labels.1.is_some());
    }
    Ok(Converted { bytes, sum })
}

impl<W: Write + Sync> GameWork for Conversion<&mut W> {
    type Done = Converted;
    type Sum = Sum;

    const INTERRUPTED: &'static str = "the rest was not read, and no file is written";

    fn work(&self, number: u64, transcript: &Transcript) -> Result<Converted, ReadError> {
        one(transcript, number, self.rules, self.to)
    }

    fn add(&mut self, sum: &mut Sum, place: &GamePlace<'_>, game: Result<Converted, ReadError>) -> Result<()> {
        let GamePlace { file, line, number } = place;
        let game = game.with_context(|| format!("{file}, line {line}, game {number}"))?;
        self.target.write_all(&game.bytes).context("--out")?;
        sum.add(&game.sum);
        Ok(())
    }

    fn progress(sum: &Sum) -> String {
        format!("{} games, {} positions", sum.games, sum.positions)
    }
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.positions += other.positions;
        self.with_score += other.with_score;
        self.with_result += other.with_result;
        self.differ += other.differ;
        self.opening += other.opening;
        self.unlabelled += other.unlabelled;
        self.after_end += other.after_end;
        self.incomplete += other.incomplete;
        self.skipped.add(other.skipped);
    }

    pub(super) fn print(&self, json: bool, mut out: &mut dyn Write) -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut out, self)?;
            return writeln!(out);
        }
        let Self { games, positions, with_score, with_result, differ, .. } = self;
        let games = counted(*games as usize, "game");
        writeln!(out, "{positions} positions of {games}: {with_score} with a score, {with_result} with a result")?;
        let Self { opening, unlabelled, after_end, incomplete, .. } = self;
        write!(out, "left out: {opening} of openings, {unlabelled} without score and result, ")?;
        writeln!(out, "{after_end} after the end, {incomplete} without one of the two")?;
        writeln!(out, "{}", self.skipped.line(" without a score"))?;
        if *differ > 0 {
            writeln!(out, "claims that differ from the rules' result, which is the label: {differ}")?;
        }
        Ok(())
    }
}
