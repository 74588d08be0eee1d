//! A file of cases, judged on all cores and streamed.

use std::{
    io::{BufRead, Read as _, Write},
    num::NonZeroUsize,
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use xiangqi::{rules::RuleSet, text::shortened};

use super::{
    answer::Answer,
    case::{Case, Expected},
};
use crate::{Finding, input, live_line::LiveLine, output::is_broken_pipe};

/// Bytes per parallel chunk: enough for all cores, little memory.
const CHUNK_BYTES: usize = 4 << 20;

/// The byte order mark that some editors write.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// No game is longer. The limit rejects a file without line ends before it fills the memory.
const MAX_LINE_BYTES: usize = 16 << 20;

/// A case that is printed: it was judged otherwise than expected, or not all of its text was used.
#[derive(Debug, Serialize)]
struct Report {
    line: usize,
    name: String,
    expected: Expected,
    judged: Expected,
    answer: Answer,
}

#[derive(Serialize)]
struct Sum {
    passed: u64,
    failed: u64,
}

pub(super) fn run(
    path: &Path,
    rules: RuleSet,
    threads: NonZeroUsize,
    json: bool,
    out: &mut impl Write,
) -> Result<Finding> {
    let (name, reader) = input::open(path)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
    let mut lines = Lines { reader, number: 0 };
    let mut sum = Sum { passed: 0, failed: 0 };
    let mut live = LiveLine::new();
    // The output's reader may leave: the rest is judged for the exit status.
    let mut is_closed = false;
    while let Some(chunk) = lines.chunk().with_context(|| name.clone())? {
        let judged: Vec<_> =
            pool.install(|| chunk.par_iter().map(|(number, line)| judge(*number, line, rules)).collect());
        for ((number, _), report) in chunk.iter().zip(judged) {
            let report = report.with_context(|| format!("{name}, line {number}"))?;
            let has_passed = report.as_ref().is_none_or(|report| report.judged == report.expected);
            *(if has_passed { &mut sum.passed } else { &mut sum.failed }) += 1;
            match report.filter(|_| !is_closed).map_or(Ok(()), |report| report.print(json, out)) {
                Err(error) if is_broken_pipe(&error) => is_closed = true,
                printed => printed?,
            }
        }
        live.show(|| format!("{} passed, {} failed", sum.passed, sum.failed))?;
    }
    drop(live);
    if is_closed {
        // Nothing more can be said.
    } else if json {
        serde_json::to_writer(&mut *out, &sum)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{} passed, {} failed", sum.passed, sum.failed)?;
    }
    if sum.passed + sum.failed == 0 {
        bail!("{name}: no cases");
    }
    Ok(if sum.failed == 0 { Finding::Holds } else { Finding::Fails })
}

fn judge(line: usize, text: &[u8], rules: RuleSet) -> Result<Option<Report>> {
    let text = std::str::from_utf8(text).context("not a case: not UTF-8")?;
    let case: Case = text.parse()?;
    let (transcript, replay) = case.play(rules).with_context(|| format!("case {}", shortened(&case.name)))?;
    let judged = Expected::from(replay.game.status());
    let is_claimed = transcript.claimed().is_none_or(|claimed| Expected::from(claimed) == judged);
    let is_used = is_claimed && transcript.skipped.is_empty() && replay.moves_after_end == 0;
    if judged == case.expected && is_used && transcript.hint().is_none() {
        return Ok(None);
    }
    Ok(Some(Report {
        line,
        name: case.name,
        expected: case.expected,
        judged,
        answer: Answer::new(&transcript, &replay),
    }))
}

impl Report {
    fn print(&self, json: bool, out: &mut impl Write) -> Result<()> {
        if json {
            serde_json::to_writer(&mut *out, self)?;
            writeln!(out)?;
        } else {
            let Self { line, expected, judged, .. } = self;
            let name = shortened(&self.name);
            if judged == expected {
                writeln!(out, "line {line}: {name}: passed")?;
                return Ok(self.answer.print_notes(out)?);
            }
            writeln!(out, "line {line}: {name}: expected {expected}, judged {judged}")?;
            self.answer.print(out)?;
        }
        Ok(())
    }
}

/// A line and its number.
type Line = (usize, Vec<u8>);

/// The non-empty lines of a file, with their numbers.
struct Lines<R> {
    reader: R,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next lines, about [`CHUNK_BYTES`] of them.
    fn chunk(&mut self) -> Result<Option<Vec<Line>>> {
        let mut lines = Vec::new();
        let mut bytes = 0;
        while bytes < CHUNK_BYTES {
            let mut line = Vec::new();
            let read = self.reader.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            self.number += 1;
            if read == MAX_LINE_BYTES {
                bail!("line {} is longer than {} MiB", self.number, MAX_LINE_BYTES >> 20);
            }
            bytes += read;
            if self.number == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            if !line.trim_ascii().is_empty() {
                lines.push((self.number, line));
            }
        }
        Ok((bytes > 0).then_some(lines))
    }
}
