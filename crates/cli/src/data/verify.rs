//! `chuhe data verify`: replays games to prove them.

use std::{io::Write, num::NonZeroUsize, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use dataset::{
    Book, shard,
    verify::{StartOf, verify_shard_with},
};
use serde::Serialize;

use super::NOT_FOR_TRAINING;
use crate::{Finding, interrupt, progress::Progress, stopwatch, threads};

/// Replay all games of shards, and compare openings, moves, scores, outcomes and reasons
///
/// Prints one line for each fault, with game and ply; exit status 1 if there is one. Games under a
/// clock cannot be reproduced: only their legality and their ending, time aside, are verified. A
/// file without its footer, or with a damaged block, is refused with exit status 2.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shards
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Book of the games' starts [default: starts are taken as recorded]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Threads that verify; the result does not depend on it
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads::parse)]
    threads: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Answer {
    games: u64,
    positions: u64,
    /// Games that were played under a clock.
    timed_games: u64,
    faults: Vec<Line>,
    seconds: f64,
    positions_per_second: u64,
}

#[derive(Serialize)]
struct Line {
    file: PathBuf,
    game: u64,
    ply: Option<usize>,
    fault: String,
}

impl Arguments {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Finding> {
        interrupt::exit_without_result();
        let mut answer = Answer::default();
        // A file that cannot be opened is reported in its turn.
        let games = self.files.iter().map(|path| Ok(shard::open(path)?.games()));
        let mut progress = Progress::new("games", games.sum::<Result<u64>>().ok());
        let verify = |path| self.verify(path, &mut answer, &mut progress);
        let (result, time) = stopwatch::timed(|| self.files.iter().try_for_each(verify));
        drop(progress);
        answer.seconds = time.as_secs_f64();
        answer.positions_per_second = stopwatch::rate(answer.positions, time);
        if self.json {
            result?;
            serde_json::to_writer(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            for Line { file, game, ply, fault } in &answer.faults {
                let ply = ply.map_or(String::new(), |ply| format!(" ply {ply}"));
                writeln!(out, "{}: game {game}{ply}: {fault}", file.display())?;
            }
            result?;
            writeln!(out, "seconds {:.3}, {} positions a second", answer.seconds, answer.positions_per_second)?;
            if answer.timed_games > 0 {
                writeln!(out, "timed {}: {NOT_FOR_TRAINING}", answer.timed_games)?;
            }
            let faults = answer.faults.len();
            writeln!(out, "{} games with {} positions, {faults} faults", answer.games, answer.positions)?;
        }
        Ok(if answer.faults.is_empty() { Finding::Holds } else { Finding::Fails })
    }

    fn verify(&self, path: &PathBuf, answer: &mut Answer, progress: &mut Progress) -> Result<()> {
        let shard = shard::open(path)?;
        let header = shard.header();
        let book = self.book.as_ref().map(|path| Book::from_file(path, header.rules)).transpose().context("--book")?;
        if let Some(book) = &book
            && header.openings.book != Some(book.hash())
        {
            bail!("--book: not the book of {}: its SHA-256 is {}", path.display(), book.hash());
        }
        let start_of = book.as_ref().map(|book| |seed: u64| book.pick(seed).clone());
        let start_of = start_of.as_ref().map(|start_of| start_of as &StartOf<'_>);
        let before = answer.games;
        let report = verify_shard_with(&shard, start_of, self.threads, |games| progress.set(before + games));
        let report = report.with_context(|| path.display().to_string())?;
        answer.games += report.games;
        answer.positions += report.positions;
        if header.clock.is_some() {
            answer.timed_games += report.games;
        }
        answer.faults.extend(report.faults.into_iter().map(|fault| Line {
            file: path.clone(),
            game: fault.game,
            ply: fault.ply,
            fault: fault.kind.to_string(),
        }));
        Ok(())
    }
}
