//! The binary records of the open trainers of variant nets: a position, its score, move and result
//! in 72 bytes.
//!
//! The layout is theirs, with the lowest bit of each byte first. Side to move, both kings' points
//! and the other pieces from rank 9 down are followed by empty hands. Fields of chess that xiangqi
//! has not are zero. Their `gamePly` counts plies; their rule-50 counter is the natural limit's, up
//! to 127.

use xiangqi::{Color, Fen, FenError, Move, Piece, PieceKind, Position, Square};

/// The length of a record, in bytes.
pub const LENGTH: usize = 72;

/// The length of its position, in bytes.
const BOARD: usize = 64;

/// Their numbering of the pieces; kings are stored apart.
const KINDS: [PieceKind; 6] =
    [PieceKind::Chariot, PieceKind::Advisor, PieceKind::Cannon, PieceKind::Pawn, PieceKind::Horse, PieceKind::Elephant];

/// The bits for pieces in hand: five for each of seven kinds and two sides.
const HANDS: u32 = 2 * 7 * 5;

/// A position with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position; its counters are cut to the record's width.
    pub fen: Fen,
    /// The move played in the position.
    pub mv: Move,
    /// The score for the side to move, in its maker's unit.
    pub score: i16,
    /// The number of plies before.
    pub ply: u16,
    /// 1 if the side to move won, 0 for a draw, −1 if it lost.
    pub result: i8,
}

/// The reason why bytes are not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum EntryError {
    #[error("the piece code {0} is none of xiangqi")]
    Piece(u32),
    #[error("a king stands on point {0}, which there is not")]
    King(u32),
    #[error("there are pieces in hand, castling rights or an en-passant point")]
    NotXiangqi,
    #[error("{0}")]
    Position(FenError),
    #[error("the move {0:#06x} goes from or to a point that there is not")]
    Points(u16),
    #[error("the move {0} is not legal")]
    IllegalMove(Move),
    #[error("the result {0} is none of 1, 0 and -1")]
    Result(i8),
}

impl Entry {
    /// The entry as a record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let mut bits = Bits { bytes: &mut bytes[..BOARD], at: 0 };
        let position = &self.fen.position;
        bits.write(u32::from(position.turn() == Color::Black), 1);
        for color in Color::ALL {
            bits.write(position.king(color).index() as u32, 7);
        }
        for square in board_order() {
            let Some(piece) = position.piece_at(square) else {
                bits.write(0, 1);
                continue;
            };
            if let Some(code) = KINDS.iter().position(|kind| *kind == piece.kind()) {
                bits.write((code as u32) << 1 | 1, 5);
                bits.write(u32::from(piece.color() == Color::Black), 1);
            }
        }
        bits.at += HANDS as usize + 4 + 1;
        let limit = self.fen.limit_counter.min(127);
        bits.write(limit & 63, 6);
        let number = self.fen.move_number.min(65_535);
        bits.write(number & 255, 8);
        bits.write(number >> 8, 8);
        bits.write(limit >> 6, 1);
        let tail = [self.score.to_le_bytes(), pack_move(self.mv).to_le_bytes(), self.ply.to_le_bytes()];
        bytes[BOARD..BOARD + 6].copy_from_slice(tail.as_flattened());
        bytes[BOARD + 6] = self.result.to_le_bytes()[0];
        bytes
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// If it is not a record, or one of another game, or its move is not legal.
    pub fn from_bytes(bytes: &[u8; LENGTH]) -> Result<Self, EntryError> {
        let mut board = *bytes;
        let mut bits = Bits { bytes: &mut board[..BOARD], at: 0 };
        let black = bits.read(1) == 1;
        let mut pieces = [None; Square::COUNT];
        for color in Color::ALL {
            let king = bits.read(7);
            *pieces.get_mut(king as usize).ok_or(EntryError::King(king))? = Some(Piece::new(color, PieceKind::King));
        }
        for square in board_order().filter(|square| pieces[square.index()].is_none()).collect::<Vec<_>>() {
            if bits.read(1) == 1 {
                let code = bits.read(4);
                let kind = *KINDS.get(code as usize).ok_or(EntryError::Piece(code))?;
                let color = Color::ALL[bits.read(1) as usize];
                pieces[square.index()] = Some(Piece::new(color, kind));
            }
        }
        if (0..=HANDS + 4).any(|_| bits.read(1) == 1) {
            return Err(EntryError::NotXiangqi);
        }
        let limit = bits.read(6);
        let number = bits.read(8) | bits.read(8) << 8;
        let limit = limit | bits.read(1) << 6;
        let fen: Fen = text(&pieces, black, limit, number.max(1)).parse().map_err(EntryError::Position)?;
        let field = |place: usize| [bytes[BOARD + place], bytes[BOARD + place + 1]];
        let mv = unpack_move(u16::from_le_bytes(field(2)))?;
        if !fen.position.is_legal(mv) {
            return Err(EntryError::IllegalMove(mv));
        }
        let result = bytes[BOARD + 6] as i8;
        if !(-1..=1).contains(&result) {
            return Err(EntryError::Result(result));
        }
        let score = i16::from_le_bytes(field(0));
        Ok(Self { fen, mv, score, ply: u16::from_le_bytes(field(4)), result })
    }
}

/// The points from Black's left corner, rank by rank.
fn board_order() -> impl Iterator<Item = Square> {
    (0..10).rev().flat_map(|rank| (0..9).filter_map(move |file| Square::new(file, rank)))
}

/// Their boards are twelve files wide.
fn pack_move(mv: Move) -> u16 {
    let point = |square: Square| u16::from(square.rank()) * 12 + u16::from(square.file());
    point(mv.from()) << 7 | point(mv.to())
}

fn unpack_move(packed: u16) -> Result<Move, EntryError> {
    let point = |bits: u16| Square::new((bits % 12) as u8, (bits / 12) as u8);
    match (point(packed >> 7 & 127), point(packed & 127)) {
        (Some(from), Some(to)) if packed >> 14 == 0 => Ok(Move::new(from, to)),
        _ => Err(EntryError::Points(packed)),
    }
}

fn text(pieces: &[Option<Piece>; Square::COUNT], black: bool, limit: u32, number: u32) -> String {
    let mut text = String::with_capacity(110);
    for square in board_order() {
        if square.file() == 0 && square.rank() != 9 {
            text.push('/');
        }
        text.push(pieces[square.index()].map_or('1', Piece::letter));
    }
    let side = if black { 'b' } else { 'w' };
    text + &format!(" {side} - - {limit} {number}")
}

struct Bits<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Bits<'_> {
    fn write(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            if value >> bit & 1 == 1
                && let Some(byte) = self.bytes.get_mut(self.at / 8)
            {
                *byte |= 1 << (self.at % 8);
            }
            self.at += 1;
        }
    }

    /// Past the end there are zeros: a board of sixteen hundred bits is rejected for its pieces.
    fn read(&mut self, count: u32) -> u32 {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.at / 8).copied().unwrap_or(0);
            value |= u32::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        value
    }
}

/// The position of an entry without its counters.
impl AsRef<Position> for Entry {
    fn as_ref(&self) -> &Position {
        &self.fen.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand from the description of the format. Red is to move (0), Red's king is on
    /// point 4 and Black's on 85. Rank 9 from file a: chariot (index 0, so 1 and four zeros) of
    /// Black (1), horse (index 4), …
    #[test]
    fn the_starting_position_is_as_the_format_says() {
        let fen = Fen::start();
        let mv = fen.position.parse_move("h2e2").unwrap();
        let entry = Entry { fen, mv, score: -34, ply: 0, result: 1 };
        let bytes = entry.to_bytes();
        let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
        let number = |from: usize, count: usize| (0..count).map(|place| bit(from + place) << place).sum::<u32>();
        assert_eq!([number(0, 1), number(1, 7), number(8, 7)], [0, 4, 85]);
        assert_eq!([number(15, 5), bit(20), number(21, 5), bit(26)], [1, 1, 4 << 1 | 1, 1]);
        // h2 is 2 × 12 + 7, e2 is 2 × 12 + 4.
        assert_eq!(bytes[64..], [0xde, 0xff, 0x9c, 0x0f, 0, 0, 1, 0]);
        assert_eq!(Entry::from_bytes(&bytes), Ok(entry));
    }

    #[test]
    fn records_of_other_games_are_refused() {
        let fen = Fen::start();
        let mv = fen.position.parse_move("h2e2").unwrap();
        let good = Entry { fen, mv, score: 0, ply: 0, result: 0 }.to_bytes();
        let with = |place: usize, value: u8| {
            let mut bytes = good;
            bytes[place] = value;
            Entry::from_bytes(&bytes).unwrap_err().to_string()
        };
        assert_eq!(with(70, 2), "the result 2 is none of 1, 0 and -1");
        assert_eq!(with(66, 0x1d), "the move g2f2 is not legal");
        assert_eq!(with(67, 0x7f), "the move 0x7f9c goes from or to a point that there is not");
        assert_eq!(with(0, 0xff), "a king stands on point 127, which there is not");
        assert!(Entry::from_bytes(&[0xff; LENGTH]).is_err());
        assert!(Entry::from_bytes(&[0; LENGTH]).is_err());
    }
}
