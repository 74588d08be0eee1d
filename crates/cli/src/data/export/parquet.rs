//! Positions as Parquet.

use std::sync::Arc;

use anyhow::Result;
use dataset::{Header, Record, ScoredMove};
use parquet::{
    basic::{Compression, ZstdLevel},
    data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

use super::{Exporter, Output, positions::each_position};

/// Positions per row group.
const ROW_GROUP_POSITIONS: usize = 1 << 18;

/// Positions of a game resemble each other, which a higher level finds.
const ZSTD_LEVEL: i32 = 9;

const SCHEMA: &str = "message position {
    required int64 game; required int32 ply; required binary fen (UTF8); required binary move (UTF8);
    optional int32 score; required int32 result; required binary reason (UTF8);
    required int64 run (INTEGER(64, false));
}";

pub(super) struct Parquet {
    writer: SerializedFileWriter<Output>,
    rows: Rows,
}

#[derive(Default)]
struct Rows {
    game: Vec<i64>,
    ply: Vec<i32>,
    fen: Vec<ByteArray>,
    mv: Vec<ByteArray>,
    score: Vec<i32>,
    /// Definition levels: 1 where there is a score.
    scored: Vec<i16>,
    result: Vec<i32>,
    reason: Vec<ByteArray>,
    run: Vec<i64>,
}

impl Parquet {
    pub(super) fn begin(file: Output) -> Result<Self> {
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let compression = Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?);
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        Ok(Self { writer, rows: Rows::default() })
    }

    fn flush(&mut self) -> Result<()> {
        let Rows { game, ply, fen, mv, score, scored, result, reason, run } = std::mem::take(&mut self.rows);
        if game.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        column::<Int64Type>(&mut group, &game, None)?;
        column::<Int32Type>(&mut group, &ply, None)?;
        column::<ByteArrayType>(&mut group, &fen, None)?;
        column::<ByteArrayType>(&mut group, &mv, None)?;
        column::<Int32Type>(&mut group, &score, Some(&scored))?;
        column::<Int32Type>(&mut group, &result, None)?;
        column::<ByteArrayType>(&mut group, &reason, None)?;
        column::<Int64Type>(&mut group, &run, None)?;
        group.close()?;
        Ok(())
    }
}

fn column<T: DataType>(
    group: &mut parquet::file::writer::SerializedRowGroupWriter<'_, Output>,
    values: &[T::T],
    definition_levels: Option<&[i16]>,
) -> Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, definition_levels, None)?;
        column.close()?;
    }
    Ok(())
}

impl Exporter for Parquet {
    fn game(&mut self, header: &Header, number: u64, record: &Record) -> Result<()> {
        let rows = &mut self.rows;
        each_position(record, |fen, ply, ScoredMove { mv, score }, result| {
            rows.game.push(number as i64);
            rows.ply.push(ply as i32);
            rows.fen.push(fen.to_string().into_bytes().into());
            rows.mv.push(mv.to_string().into_bytes().into());
            rows.score.extend(score);
            rows.scored.push(i16::from(score.is_some()));
            rows.result.push(result.into());
            rows.reason.push(record.reason.name().into());
            // The column is unsigned.
            rows.run.push(header.seed as i64);
            Ok(())
        })?;
        if self.rows.game.len() >= ROW_GROUP_POSITIONS { self.flush() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        Ok(self.writer.into_inner()?.finish()?)
    }
}
