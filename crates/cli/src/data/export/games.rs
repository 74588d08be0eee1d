//! Games as text.

use std::io::Write as _;

use anyhow::Result;
use dataset::{Header, Record};
use selfplay::pgn::PgnGame;
use serde::Serialize;
use xiangqi::notation::Notation;

use super::{Exporter, Output};

/// One game a line.
pub(super) struct Jsonl(pub(super) Output);

#[derive(Serialize)]
struct Line {
    game: u64,
    seed: u64,
    rules: &'static str,
    attempt: u64,
    start: String,
    opening: Vec<String>,
    moves: Vec<(String, Option<i32>)>,
    outcome: &'static str,
    reason: &'static str,
    digest: String,
}

impl Exporter for Jsonl {
    fn game(&mut self, header: &Header, number: u64, record: &Record) -> Result<()> {
        let opening = &record.opening;
        let line = Line {
            game: number,
            seed: header.seed_of(number),
            rules: header.rules.name(),
            attempt: opening.attempt,
            start: opening.start.to_string(),
            opening: opening.moves.iter().map(ToString::to_string).collect(),
            moves: record.moves.iter().map(|scored| (scored.mv.to_string(), scored.score)).collect(),
            outcome: record.outcome.name(),
            reason: record.reason.name(),
            digest: record.digest().to_string(),
        };
        serde_json::to_writer(&mut self.0, &line)?;
        self.0.write_all(b"\n")?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.0.finish()?)
    }
}

/// PGN.
pub(super) struct Pgn {
    pub(super) file: Output,
    pub(super) notation: Notation,
}

impl Exporter for Pgn {
    fn game(&mut self, header: &Header, number: u64, record: &Record) -> Result<()> {
        write!(self.file, "{}", PgnGame::of_record(header, number, record, self.notation))?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.file.finish()?)
    }
}
