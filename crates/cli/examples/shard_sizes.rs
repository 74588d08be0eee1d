//! Bytes per position of a shard, and of the same games in other forms: the table of
//! `docs/FORMATS.md`.
//!
//! `shard_sizes SHARD PGN`, where PGN is the shard's `chuhe data export --format pgn`;
//! `scripts/tools/shard-sizes` plays the games and calls it. All other forms are compressed with
//! zstd at level 19.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::{env, fs};

use anyhow::{Context as _, Result};
use dataset::{ScoredMove, sfen::Entry, shard};
use xiangqi::{Fen, Move, Position};

const LEVEL: i32 = 19;

/// A searched position.
struct Row {
    fen: Fen,
    mv: Move,
    score: i16,
    /// For the side to move.
    result: i8,
    ply: u16,
    /// The score predicted from the two before it.
    predicted: i16,
}

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let mut argument = || arguments.next().context("expected SHARD PGN");
    let (path, pgn) = (argument()?, argument()?);
    let shard = shard::open(&path)?;
    let rows = rows(&shard)?;
    let each = |bytes: &dyn Fn(&Row) -> Vec<u8>| -> Vec<u8> { rows.iter().flat_map(bytes).collect() };
    let moves = each(&|row| row.mv.to_bits().to_le_bytes().to_vec());
    let forms = [
        ("FEN, move, score, result as text", each(&|row| text(row).into_bytes())),
        ("records of 72 bytes for variant trainers", each(&|row| sfen(row))),
        ("packed records of 32 bytes", each(&|row| packed(row))),
        ("PGN with scores", fs::read(pgn)?),
        ("(move u16, score i16)", each(&|row| [row.mv.to_bits().to_le_bytes(), row.score.to_le_bytes()].concat())),
        ("the same in two columns", [moves, each(&|row| row.score.to_le_bytes().to_vec())].concat()),
        ("columns, the score's difference by planes", columns(&rows)),
    ];
    let positions = shard.positions() as f64;
    println!("{} games, {} positions", shard.games(), shard.positions());
    for (form, bytes) in forms {
        let compressed = zstd::bulk::compress(&bytes, LEVEL)?.len();
        println!("{form:<42} {:>7.3} {:>7.3} with zstd", bytes.len() as f64 / positions, compressed as f64 / positions);
    }
    println!("{:<42} {:>7.3}", "the shard", shard.size() as f64 / positions);
    Ok(())
}

fn rows(shard: &shard::Shard<shard::FileSource>) -> Result<Vec<Row>> {
    let mut rows = Vec::with_capacity(shard.positions() as usize);
    for record in shard.records() {
        let (_, record) = record?;
        let mut game = record.opening.game();
        let mut before = [0; 2];
        for &ScoredMove { mv, score } in &record.moves {
            let score = score.map_or(i16::MIN, |score| score as i16);
            let result = record.outcome.loser().map_or(0, |loser| if loser == game.position().turn() { -1 } else { 1 });
            // The codec's prediction: −5/8 of the last score plus 3/8 of the one two plies ago.
            let [last, own] = before.map(i32::from);
            let predicted = ((-5 * last + 3 * own) / 8) as i16;
            rows.push(Row { fen: game.fen(), mv, score, result, ply: game.len() as u16, predicted });
            before = [score.max(-i16::MAX), before[0]];
            game.make_unjudged(mv);
        }
    }
    Ok(rows)
}

fn text(Row { fen, mv, score, result, .. }: &Row) -> String {
    format!("{fen} {mv} {score} {result}\n")
}

fn sfen(&Row { ref fen, mv, score, result, ply, .. }: &Row) -> Vec<u8> {
    Entry { fen: fen.clone(), mv, score, ply, result }.to_bytes().to_vec()
}

/// Occupancy (90 bits) and side to move in 12 bytes, pieces in 16, score in 2, result and ply in 2.
fn packed(Row { fen, score, result, ply, .. }: &Row) -> Vec<u8> {
    let position: &Position = &fen.position;
    let mut bytes = [0; 32];
    for (place, square) in position.occupied().into_iter().enumerate() {
        let piece = position.piece_at(square).map_or(0, xiangqi::Piece::index) as u8;
        bytes[square.index() / 8] |= 1 << (square.index() % 8);
        bytes[12 + place / 2] |= piece << (4 * (place % 2));
    }
    bytes[11] |= u8::from(position.turn() == xiangqi::Color::Black) << 7;
    bytes[28..30].copy_from_slice(&score.to_le_bytes());
    bytes[30] = (result + 1) as u8 | ((ply >> 8) as u8) << 2;
    bytes[31] = *ply as u8;
    bytes.to_vec()
}

/// Four columns: from, to, and the low and high bytes of the score's prediction error.
fn columns(rows: &[Row]) -> Vec<u8> {
    let difference = |row: &Row| row.score.wrapping_sub(row.predicted).to_le_bytes();
    let columns: [&dyn Fn(&Row) -> u8; 4] =
        [&|row| row.mv.from().index() as u8, &|row| row.mv.to().index() as u8, &|row| difference(row)[0], &|row| {
            difference(row)[1]
        }];
    columns.iter().flat_map(|column| rows.iter().map(column)).collect()
}
