//! Games as text.

use std::io::Write as _;

use anyhow::Result;
use dataset::{AtomicFile, Header, Record};
use selfplay::pgn::PgnGame;
use serde::Serialize;
use xiangqi::notation::Notation;

use super::Exporter;

/// One game a line.
pub(super) struct Jsonl(pub(super) AtomicFile);

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
pub(super) struct Pgn(pub(super) AtomicFile);

impl Exporter for Pgn {
    fn game(&mut self, header: &Header, number: u64, record: &Record) -> Result<()> {
        let player = header.net.map_or("plain".to_owned(), |net| net.to_string());
        let tags = [
            ("Event", "self-play".to_owned()),
            ("Round", number.to_string()),
            ("Red", player.clone()),
            ("Black", player),
            ("Rules", header.rules.name().to_owned()),
            ("Termination", record.reason.name().to_owned()),
        ];
        let opening = record.opening.moves.iter().map(|mv| (*mv, "opening".to_owned()));
        let moves = record.moves.iter().map(|scored| {
            // Only the score is recorded; a `Comment` would also claim depth, time and nodes.
            (scored.mv, scored.score.map_or(String::new(), |score| format!("{:+.2}", f64::from(score) / 100.0)))
        });
        let game = PgnGame {
            tags: tags.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            start: record.opening.start.clone(),
            moves: opening.chain(moves).collect(),
            outcome: Some(record.outcome),
            notation: Notation::Iccs,
        };
        writeln!(self.0, "{game}")?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.0.finish()?)
    }
}
