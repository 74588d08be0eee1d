//! Files of games in PGN, judged on all cores and streamed.

use std::{io::Write, num::NonZeroUsize, path::PathBuf};

use anyhow::{Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use xiangqi::{
    notation::reader::{Agreement, GameText, ReadError, TokenKind},
    rules::{Outcome, Reason, RuleSet},
    text::counted,
};

use crate::{Finding, games::Chunks, live_line::LiveLine, output::is_broken_pipe};

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
    #[serde(skip)]
    skipped: [u64; 3],
}

#[derive(Default, Serialize)]
struct Sum {
    games: u64,
    agree: u64,
    differ: u64,
    undecided: u64,
    refused: u64,
    skipped_comments: u64,
    skipped_variations: u64,
    skipped_glyphs: u64,
}

/// Judges all games of all files. `rules` has precedence over a game's tag.
pub(super) fn run(
    paths: &[PathBuf],
    rules: Option<RuleSet>,
    threads: NonZeroUsize,
    json: bool,
    out: &mut impl Write,
) -> Result<Finding> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
    let mut sum = Sum::default();
    let mut live = LiveLine::new();
    for path in paths {
        let mut games = Chunks::open(path)?;
        while let Some(chunk) = games.next()? {
            let judged: Vec<_> = pool.install(|| chunk.par_iter().map(|(_, text)| judge(text, rules)).collect());
            for ((number, text), judged) in chunk.iter().zip(judged) {
                sum.add(judged.as_ref().ok());
                match print(&games.name, *number, text.line, &judged, json, out) {
                    // The reader is gone, and the rest is not read.
                    Err(error) if is_broken_pipe(&error) => return sum.finding(),
                    printed => printed?,
                }
            }
            live.show(|| format!("{} games, {} differ, {} refused", sum.games, sum.differ, sum.refused))?;
        }
    }
    drop(live);
    sum.print(json, out)?;
    sum.finding()
}

fn judge(text: &GameText, rules: Option<RuleSet>) -> Result<Judged, ReadError> {
    let transcript = text.transcript()?;
    let judged = transcript.judge(rules)?;
    let game = &judged.replay.game;
    let ending = game.status().ending();
    let name = |outcome: Option<Outcome>| outcome.map_or("ongoing", Outcome::name);
    let skipped = |kind| transcript.skipped.iter().filter(|skipped| skipped.kind == kind).count() as u64;
    Ok(Judged {
        rules: judged.rules.name(),
        claimed: judged.claimed.map(name),
        outcome: name(ending.map(|ending| ending.outcome)),
        reason: ending.map(|ending| ending.reason),
        ply: game.len(),
        moves_after_end: judged.replay.moves_after_end,
        agreement: judged.agreement,
        skipped: [TokenKind::Comment, TokenKind::Variation, TokenKind::Glyph].map(skipped),
    })
}

fn print(
    file: &str,
    game: u64,
    line: usize,
    judged: &Result<Judged, ReadError>,
    json: bool,
    out: &mut impl Write,
) -> Result<()> {
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
        let [comments, variations, glyphs] = judged.skipped;
        self.skipped_comments += comments;
        self.skipped_variations += variations;
        self.skipped_glyphs += glyphs;
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
        let [comments, variations, glyphs] = [self.skipped_comments, self.skipped_variations, self.skipped_glyphs];
        writeln!(out, "skipped: {comments} comments, {variations} variations, {glyphs} glyphs")?;
        writeln!(out, "{games} games: {agree} agree, {differ} differ, {undecided} undecided, {refused} refused")?;
        Ok(())
    }
}
