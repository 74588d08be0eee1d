//! Positions, one by one.

use std::io::Write as _;

use anyhow::Result;
use dataset::{Header, Record, ScoredMove, sfen::Entry, shard::ShardError};
use xiangqi::{Fen, rules::Game};

use super::{Exporter, Output};

/// Calls `each` for every searched position, with its counters, its ply, the move, and the result
/// for the side to move.
pub(super) fn each_position(
    record: &Record,
    mut each: impl FnMut(Fen, usize, ScoredMove, i8) -> Result<()>,
) -> Result<()> {
    let mut game: Game = record.opening.game();
    for scored in &record.moves {
        let result = match record.outcome.loser() {
            None => 0,
            Some(loser) if loser == game.position().turn() => -1,
            Some(_) => 1,
        };
        each(game.fen(), game.len(), *scored, result)?;
        game.make_unjudged(scored.mv);
    }
    Ok(())
}

/// Comma-separated values.
pub(super) struct Csv(Output);

impl Csv {
    pub(super) fn begin(mut file: Output) -> Result<Self> {
        writeln!(file, "game,ply,fen,move,score,result,reason,run")?;
        Ok(Self(file))
    }
}

impl Exporter for Csv {
    fn game(&mut self, header: &Header, number: u64, record: &Record) -> Result<()> {
        let (reason, run) = (record.reason, header.seed);
        each_position(record, |fen, ply, ScoredMove { mv, score }, result| {
            let score = score.map_or(String::new(), |score| score.to_string());
            writeln!(self.0, "{number},{ply},{fen},{mv},{score},{result},{reason},{run}")?;
            Ok(())
        })
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.0.finish()?)
    }
}

/// Binary sfen records, as other trainers read them.
pub(super) struct Sfen(pub(super) Output);

impl Exporter for Sfen {
    fn game(&mut self, header: &Header, _number: u64, record: &Record) -> Result<()> {
        // The records cannot tell that a game was played under a clock.
        if header.clock.is_some() {
            return Err(ShardError::Timed.into());
        }
        if !record.reason.is_label() {
            return Ok(());
        }
        each_position(record, |fen, ply, ScoredMove { mv, score }, result| {
            if let Some(score) = score {
                let ply = ply.min(usize::from(u16::MAX)) as u16;
                self.0.write_all(&Entry { fen, mv, score: score as i16, ply, result }.to_bytes())?;
            }
            Ok(())
        })
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.0.finish()?)
    }
}
