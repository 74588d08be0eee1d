//! Files of games in PGN, judged on all cores and streamed.

use std::{io::Write, num::NonZeroUsize, path::PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;
use xiangqi::{
    notation::reader::{Agreement, Hint, ReadError, Skipped, Transcript},
    rules::{Outcome, Reason, RuleSet},
    text::counted,
};

use super::NOT_ALL_JUDGED;
use crate::{
    Finding,
    games::{self, GamePlace, GameWork, SkippedCounts},
    output::is_broken_pipe,
};

/// A judged game.
#[derive(Serialize)]
struct Judged {
    rules: &'static str,
    claimed: Option<&'static str>,
    outcome: &'static str,
    reason: Option<Reason>,
    ply: usize,
    moves_after_end: usize,
    agreement: Agreement,
    /// All parts of its text that were not used, with their places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Default, Serialize)]
struct Sum {
    games: u64,
    agree: u64,
    differ: u64,
    undecided: u64,
    refused: u64,
    #[serde(flatten)]
    skipped: SkippedCounts,
}

/// Judges all games of all files. `rules` has precedence over a game's tag. `brief` leaves out the
/// skipped parts of each game.
pub(super) fn run(
    paths: &[PathBuf],
    rules: Option<RuleSet>,
    threads: NonZeroUsize,
    [json, brief]: [bool; 2],
    out: &mut (impl Write + Sync),
) -> Result<Finding> {
    let mut sum = Sum::default();
    let mut printer = Printer { rules, json, brief, out, is_closed: false };
    let read = games::process(paths, threads, &mut printer, &mut sum);
    if !printer.is_closed {
        sum.print(json, printer.out)?;
    }
    read?;
    sum.finding()
}

/// Judges games and prints the verdicts.
struct Printer<'a, W> {
    rules: Option<RuleSet>,
    json: bool,
    brief: bool,
    out: &'a mut W,
    /// Whether the output's reader is gone. The rest is judged for the exit status.
    is_closed: bool,
}

impl<W: Write + Sync> GameWork for Printer<'_, W> {
    type Done = Judged;
    type Sum = Sum;

    const INTERRUPTED: &'static str = NOT_ALL_JUDGED;

    fn work(&self, _: u64, transcript: &Transcript) -> Result<Judged, ReadError> {
        judge(transcript, self.rules)
    }

    fn add(&mut self, sum: &mut Sum, place: &GamePlace<'_>, mut judged: Result<Judged, ReadError>) -> Result<()> {
        sum.add(judged.as_ref().ok());
        if let (true, Ok(judged)) = (self.brief, &mut judged) {
            judged.skipped.clear();
        }
        if self.is_closed {
            return Ok(());
        }
        match print(place, &judged, self.json, self.out) {
            Err(error) if is_broken_pipe(&error) => {
                self.is_closed = true;
                Ok(())
            }
            printed => printed,
        }
    }

    fn progress(sum: &Sum) -> String {
        format!("{} games, {} differ, {} refused", sum.games, sum.differ, sum.refused)
    }
}

fn judge(transcript: &Transcript, rules: Option<RuleSet>) -> Result<Judged, ReadError> {
    let judged = transcript.judge(rules)?;
    let game = &judged.replay.game;
    let ending = game.status().ending();
    let name = |outcome: Option<Outcome>| outcome.map_or("ongoing", Outcome::name);
    Ok(Judged {
        rules: judged.rules.name(),
        claimed: judged.claimed.map(name),
        outcome: name(ending.map(|ending| ending.outcome)),
        reason: ending.map(|ending| ending.reason),
        ply: game.len(),
        moves_after_end: judged.replay.moves_after_end,
        agreement: judged.agreement,
        skipped: transcript.skipped.clone(),
        hint: transcript.hint().as_ref().map(Hint::to_string),
    })
}

fn print(place: &GamePlace<'_>, judged: &Result<Judged, ReadError>, json: bool, out: &mut impl Write) -> Result<()> {
    #[derive(Serialize)]
    struct Report<'a> {
        file: &'a str,
        game: u64,
        line: usize,
        #[serde(flatten)]
        judged: Option<&'a Judged>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    let &GamePlace { file, line, number: game } = place;
    if json {
        let error = judged.as_ref().err().map(ReadError::to_string);
        serde_json::to_writer(&mut *out, &Report { file, game, line, judged: judged.as_ref().ok(), error })?;
        writeln!(out)?;
        return Ok(());
    }
    write!(out, "{file}, line {line}, game {game}: ")?;
    match judged {
        Err(error) => writeln!(out, "refused: {error}")?,
        Ok(judged) => {
            let verb = match judged.agreement {
                Agreement::Agrees => "agrees",
                Agreement::Differs => "DIFFERS",
                Agreement::Undecided => "undecided",
            };
            let claimed = judged.claimed.unwrap_or("nothing");
            write!(out, "{verb}: claimed {claimed}, {} after {}", judged.outcome, counted(judged.ply, "ply"))?;
            if let Some(reason) = judged.reason {
                write!(out, ": {reason}")?;
            }
            if judged.moves_after_end > 0 {
                write!(out, "; moves after the end: {}", judged.moves_after_end)?;
            }
            writeln!(out)?;
            for skipped in &judged.skipped {
                writeln!(out, "  skipped {skipped}")?;
            }
            if let Some(hint) = &judged.hint {
                writeln!(out, "  hint: {hint}")?;
            }
        }
    }
    Ok(())
}

impl Sum {
    fn add(&mut self, judged: Option<&Judged>) {
        self.games += 1;
        let Some(judged) = judged else {
            self.refused += 1;
            return;
        };
        match judged.agreement {
            Agreement::Agrees => self.agree += 1,
            Agreement::Differs => self.differ += 1,
            Agreement::Undecided => self.undecided += 1,
        }
        self.skipped.add(SkippedCounts::of(&judged.skipped));
    }

    fn finding(&self) -> Result<Finding> {
        if self.refused > 0 {
            bail!("{} could not be read", counted(self.refused as usize, "game"));
        }
        Ok(if self.differ == 0 { Finding::Holds } else { Finding::Fails })
    }

    fn print(&self, json: bool, out: &mut impl Write) -> Result<()> {
        if json {
            serde_json::to_writer(&mut *out, self)?;
            writeln!(out)?;
            return Ok(());
        }
        let Self { games, agree, differ, undecided, refused, .. } = self;
        writeln!(out, "{}", self.skipped.line(""))?;
        writeln!(out, "{games} games: {agree} agree, {differ} differ, {undecided} undecided, {refused} refused")?;
        Ok(())
    }
}
