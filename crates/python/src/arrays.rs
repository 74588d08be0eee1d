//! The positions of a block as columns.

use dataset::shard::{Block, ShardError};
use xiangqi::{Color, Square, rules::Outcome};

/// The score that stands for none.
const NO_SCORE: i16 = i16::MIN;

/// A row for each move after the openings, the position before it.
#[derive(Default)]
pub(crate) struct Columns {
    /// 90 bytes a position, from a0 on: 0 for none, else 1 + the piece's index.
    board: Vec<u8>,
    /// Whether Black is to move.
    black_to_move: Vec<u8>,
    /// The move: from · 90 + to.
    mv: Vec<u8>,
    /// Its score for the side to move.
    score: Vec<u8>,
    /// The outcome for the side to move: 1, 0, −1.
    result: Vec<u8>,
    /// The reason's index in `names`.
    reason: Vec<u8>,
    game: Vec<u8>,
    ply: Vec<u8>,
    in_check: Vec<u8>,
    is_capture: Vec<u8>,
    is_label: Vec<u8>,
}

impl Columns {
    pub(crate) fn of(block: &Block<'_>) -> Result<Self, ShardError> {
        let mut columns = Self::default();
        let mut games = Self::default();
        let reasons: Vec<_> = dataset::Reason::all().collect();
        block.read_with(
            |ply| {
                let position = ply.position;
                let piece = |square| position.piece_at(square).map_or(0, |piece| 1 + piece.index() as u8);
                columns.board.extend(Square::all().map(piece));
                columns.black_to_move.push(u8::from(position.turn() == Color::Black));
                let mv = ply.scored.mv;
                columns.mv.extend(((mv.from().index() * 90 + mv.to().index()) as u16).to_le_bytes());
                columns.score.extend(ply.scored.score.map_or(NO_SCORE, |score| score as i16).to_le_bytes());
                columns.ply.extend((ply.number as u32).to_le_bytes());
                columns.in_check.push(u8::from(position.in_check()));
                columns.is_capture.push(u8::from(position.piece_at(mv.to()).is_some()));
            },
            |number, record| {
                let reason = reasons.iter().position(|reason| *reason == record.reason).unwrap_or_default() as u8;
                let for_red = match record.outcome {
                    Outcome::RedWins => 1_i8,
                    Outcome::BlackWins => -1,
                    Outcome::Draw => 0,
                };
                for _ in &record.moves {
                    games.game.extend(number.to_le_bytes());
                    games.reason.push(reason);
                    games.is_label.push(u8::from(record.reason.is_label()));
                    games.result.push(for_red as u8);
                }
            },
        )?;
        // The outcome is known after the moves: now it is turned to the side to move.
        let turned = games.result.iter().zip(&columns.black_to_move);
        columns.result =
            turned.map(|(result, black)| (*result as i8 * if *black == 1 { -1 } else { 1 }) as u8).collect();
        let Self { game, reason, is_label, .. } = games;
        Ok(Self { reason, game, is_label, ..columns })
    }

    pub(crate) fn into_bytes(self) -> [(&'static str, Vec<u8>); 11] {
        [
            ("board", self.board),
            ("black_to_move", self.black_to_move),
            ("move", self.mv),
            ("score", self.score),
            ("result", self.result),
            ("reason", self.reason),
            ("game", self.game),
            ("ply", self.ply),
            ("in_check", self.in_check),
            ("is_capture", self.is_capture),
            ("is_label", self.is_label),
        ]
    }
}
