//! Positions as text (FEN).

use std::{fmt, str::FromStr};

use super::Position;
use crate::{
    Bitboard, Color, Piece, PieceKind, Square, attacks,
    text::{counted, shortened},
};

/// A position with the two counters of its FEN.
///
/// The format is the one used by engines: `board side - - counter number`.
///
/// * Board and side are required. `E` and `H` are read as `B` and `N`, side `r` as `w`.
/// * The counter is the natural limit's: counted plies since the last capture, 0 if absent.
/// * The number is that of the full move, 1 if absent.
///
/// Only valid positions are accepted (see [`Position`]); an error names field, rank and file.
///
/// ```
/// let fen: xiangqi::Fen = "4k4/9/9/9/9/9/9/9/4R4/3K5 b - - 7 40".parse()?;
/// assert!(fen.position.in_check());
/// assert_eq!(fen.to_string(), "4k4/9/9/9/9/9/9/9/4R4/3K5 b - - 7 40");
/// let error = "4k4/9/9/9/9/9/9/9/9/4K4 w".parse::<xiangqi::Fen>().unwrap_err();
/// assert_eq!(error.to_string(), "FEN board: the kings face each other on file e");
/// # Ok::<(), xiangqi::FenError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fen {
    /// Pieces and side to move.
    pub position: Position,
    /// The natural limit's counter; written as at most [`Fen::MAX_COUNTER`].
    pub limit_counter: u32,
    /// The full-move number; written as at most [`Fen::MAX_COUNTER`].
    pub move_number: u32,
}

/// An error: the text is no valid position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each case and field is")]
pub enum FenError {
    #[error("FEN is empty")]
    Empty,
    #[error("FEN board: rank {rank} has {}, not 9", counted(*width, "point"))]
    RankWidth { rank: u8, width: usize },
    #[error("FEN board: {}, not 10", counted(*count, "rank"))]
    RankCount { count: usize },
    #[error("FEN board: `{}` on rank {rank}, file {file} is neither a piece nor a number of empty points 1 to 9", letter.escape_debug())]
    UnknownLetter { letter: char, rank: u8, file: char },
    #[error("FEN board: `{}` after the ninth point of rank {rank} is neither a piece nor a number of empty points 1 to 9", letter.escape_debug())]
    UnknownLetterBehind { letter: char, rank: u8 },
    #[error("FEN board: a {} {} cannot stand on rank {}, file {}", piece.color().name(), piece.kind().name(), square.rank(), file_letter(*square))]
    Misplaced { piece: Piece, square: Square },
    #[error("FEN board: {} has more than {}; one too many on rank {}, file {}", piece.color().name(), counted(piece.kind().max_count() as usize, piece.kind().name()), square.rank(), file_letter(*square))]
    TooMany { piece: Piece, square: Square },
    #[error("FEN board: {} has no king", color.name())]
    NoKing { color: Color },
    #[error("FEN board: the kings face each other on file {}", file_letter(*square))]
    KingsFacing { square: Square },
    #[error("FEN side: it is {}'s turn, but {}'s king on {king} is in check", left_in_check.opponent().name(), left_in_check.name())]
    LeftInCheck { left_in_check: Color, king: Square },
    #[error("FEN side: missing; it is `w` (or `r`) for Red, `b` for Black")]
    NoSide,
    #[error("FEN side: `{text}` is neither `w` (or `r`) for Red nor `b` for Black")]
    UnknownSide { text: String },
    #[error("FEN field {number}: `{text}`, where xiangqi has only `-`")]
    NotDash { number: u8, text: String },
    #[error("FEN field {number} ({name}): `{text}` is not a whole number up to {}", Fen::MAX_COUNTER)]
    NotANumber { number: u8, name: &'static str, text: String },
    #[error("FEN: `{text}` after the sixth field")]
    TooLong { text: String },
}

fn file_letter(square: Square) -> char {
    char::from(b'a' + square.file())
}

impl Position {
    /// Reads a position and drops the counters of its [`Fen`].
    ///
    /// # Errors
    ///
    /// If the text is no valid position.
    pub fn from_fen(text: &str) -> Result<Self, FenError> {
        text.parse().map(|fen: Fen| fen.position)
    }

    /// Checks the invariants of [`Position`].
    fn validate(&self) -> Result<(), FenError> {
        let (red, black) = (self.king(Color::Red), self.king(Color::Black));
        if red.file() == black.file() && !attacks::between(red, black).intersects(self.occupied()) {
            return Err(FenError::KingsFacing { square: red });
        }
        let left_in_check = !self.turn;
        if self.attackers_of_king(left_in_check).any() {
            return Err(FenError::LeftInCheck { left_in_check, king: self.king(left_in_check) });
        }
        Ok(())
    }
}

impl Fen {
    /// The largest accepted counter and move number: far more plies than any game has, and far from
    /// overflow.
    pub const MAX_COUNTER: u32 = 99_999;

    /// The starting position with initial counters.
    #[must_use]
    pub fn start() -> Self {
        Self::from(Position::start())
    }
}

impl From<Position> for Fen {
    fn from(position: Position) -> Self {
        Self { position, limit_counter: 0, move_number: 1 }
    }
}

impl FromStr for Fen {
    type Err = FenError;

    fn from_str(text: &str) -> Result<Self, FenError> {
        let mut fields = text.split_ascii_whitespace();
        let board = read_board(fields.next().ok_or(FenError::Empty)?)?;
        let turn = match fields.next() {
            Some("w" | "r") => Color::Red,
            Some("b") => Color::Black,
            Some(text) => return Err(FenError::UnknownSide { text: shortened(text) }),
            None => return Err(FenError::NoSide),
        };
        for number in 3..=4 {
            if let Some(text) = fields.next()
                && text != "-"
            {
                return Err(FenError::NotDash { number, text: shortened(text) });
            }
        }
        let limit_counter = read_counter(fields.next(), 5, "natural limit's counter", 0)?;
        let move_number = read_counter(fields.next(), 6, "move number", 1)?;
        if let Some(text) = fields.next() {
            return Err(FenError::TooLong { text: shortened(text) });
        }
        let position = Position::from_board(board, turn);
        position.validate()?;
        Ok(Self { position, limit_counter, move_number })
    }
}

fn read_counter(text: Option<&str>, number: u8, name: &'static str, absent: u32) -> Result<u32, FenError> {
    let Some(text) = text else { return Ok(absent) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(counter) if digits && counter <= Fen::MAX_COUNTER => Ok(counter),
        _ => Err(FenError::NotANumber { number, name, text: shortened(text) }),
    }
}

fn read_board(text: &str) -> Result<[Option<Piece>; Square::COUNT], FenError> {
    let count = text.split('/').count();
    let mut board = [None; Square::COUNT];
    let mut seen = [0; Piece::COUNT];
    for (rank, row) in (0..10_u8).rev().zip(text.split('/')) {
        let mut file = 0_u8;
        for letter in row.chars() {
            let width = || row.chars().map(|letter| letter.to_digit(10).map_or(1, |empty| empty as usize)).sum();
            if let Some(empty @ 1..=9) = letter.to_digit(10) {
                file += empty as u8;
            } else {
                let Some(piece) = Piece::from_letter(letter) else {
                    return Err(match file {
                        9.. => FenError::UnknownLetterBehind { letter, rank },
                        _ => FenError::UnknownLetter { letter, rank, file: char::from(b'a' + file) },
                    });
                };
                let Some(square) = Square::new(file, rank) else {
                    return Err(FenError::RankWidth { rank, width: width() });
                };
                if !attacks::home(piece).contains(square) {
                    return Err(FenError::Misplaced { piece, square });
                }
                seen[piece.index()] += 1;
                if seen[piece.index()] > piece.kind().max_count() {
                    return Err(FenError::TooMany { piece, square });
                }
                board[square.index()] = Some(piece);
                file += 1;
            }
            if file > 9 {
                return Err(FenError::RankWidth { rank, width: width() });
            }
        }
        if file != 9 {
            return Err(FenError::RankWidth { rank, width: usize::from(file) });
        }
    }
    if count != 10 {
        return Err(FenError::RankCount { count });
    }
    for color in Color::ALL {
        if seen[Piece::new(color, PieceKind::King).index()] == 0 {
            return Err(FenError::NoKing { color });
        }
    }
    Ok(board)
}

impl fmt::Display for Position {
    /// The board and side fields of a FEN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..10).rev() {
            let mut empty = 0;
            for square in Bitboard::rank(rank) {
                match self.piece_at(square) {
                    None => empty += 1,
                    Some(piece) => {
                        if empty > 0 {
                            write!(f, "{empty}")?;
                        }
                        empty = 0;
                        write!(f, "{}", piece.letter())?;
                    }
                }
            }
            if empty > 0 {
                write!(f, "{empty}")?;
            }
            if rank > 0 {
                f.write_str("/")?;
            }
        }
        f.write_str(if self.turn == Color::Red { " w" } else { " b" })
    }
}

impl fmt::Display for Fen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [counter, number] = [self.limit_counter, self.move_number].map(|number| number.min(Self::MAX_COUNTER));
        write!(f, "{} - - {counter} {number}", self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Fen>().expect_err(text).to_string()
    }

    #[test]
    fn the_starting_position_round_trips() {
        let fen: Fen = Position::START_FEN.parse().unwrap();
        assert_eq!(fen.to_string(), Position::START_FEN);
        assert_eq!(fen.position.occupied().count(), 32);
    }

    #[test]
    fn other_letters_sides_and_missing_fields_are_read() {
        let fen: Fen = "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR r".parse().unwrap();
        assert_eq!(fen.to_string(), Position::START_FEN);
    }

    #[test]
    fn empty_points_may_be_given_in_parts() {
        let fen: Fen = "4k4/45/9/9/9/9/9/9/111111111/3K5 w".parse().unwrap();
        assert_eq!(fen.to_string(), "4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1");
    }

    #[test]
    fn written_fens_can_be_read() {
        let fen = Fen { limit_counter: u32::MAX, move_number: u32::MAX, ..Fen::start() };
        let read: Fen = fen.to_string().parse().unwrap();
        assert_eq!((read.limit_counter, read.move_number), (Fen::MAX_COUNTER, Fen::MAX_COUNTER));
    }

    #[test]
    fn errors_name_the_field_and_the_place() {
        assert_eq!(error(" "), "FEN is empty");
        assert_eq!(error("9 w"), "FEN board: 1 rank, not 10");
        assert_eq!(error("9/9 w"), "FEN board: 2 ranks, not 10");
        assert_eq!(error("9/9/9/9/9/9/9/9/9/9/9 w"), "FEN board: 11 ranks, not 10");
        assert_eq!(error("4k4/8/9/9/9/9/9/9/9/3K5 w"), "FEN board: rank 8 has 8 points, not 9");
        assert_eq!(error("4k4/rr199/9/9/9/9/9/9/9/3K5 w"), "FEN board: rank 8 has 21 points, not 9");
        assert_eq!(error("4k4/1/9/9/9/9/9/9/9/3K5 w"), "FEN board: rank 8 has 1 point, not 9");
        assert_eq!(error("4k4/9r/9/9/9/9/9/9/9/3K5 w"), "FEN board: rank 8 has 10 points, not 9");
        for letter in ["0", "x"] {
            let expected = format!(
                "FEN board: `{letter}` after the ninth point of rank 8 is neither a piece nor a number of empty points 1 to 9"
            );
            assert_eq!(error(&format!("4k4/9{letter}/9/9/9/9/9/9/9/3K5 w")), expected);
            assert_eq!(error(&format!("4k4/45{letter}/9/9/9/9/9/9/9/3K5 w")), expected);
        }
        assert_eq!(
            error("4k4/3x5/9/9/9/9/9/9/9/3K5 w"),
            "FEN board: `x` on rank 8, file d is neither a piece nor a number of empty points 1 to 9"
        );
        assert_eq!(
            error("4k4/0r8/9/9/9/9/9/9/9/3K5 w"),
            "FEN board: `0` on rank 8, file a is neither a piece nor a number of empty points 1 to 9"
        );
        assert_eq!(error("4k4/9/9/9/9/9/9/9/4A4/3P1K3 w"), "FEN board: a Red pawn cannot stand on rank 0, file d");
        assert_eq!(error("4k4/9/9/9/9/9/9/9/4K4/4A4 w"), "FEN board: a Red advisor cannot stand on rank 0, file e");
        assert_eq!(
            error("4k4/rrr6/9/9/9/9/9/9/9/3K5 w"),
            "FEN board: Black has more than 2 chariots; one too many on rank 8, file c"
        );
        assert_eq!(
            error("4k4/4k4/9/9/9/9/9/9/9/3K5 w"),
            "FEN board: Black has more than 1 king; one too many on rank 8, file e"
        );
        assert_eq!(error("9/9/9/9/9/9/9/9/9/3K5 w"), "FEN board: Black has no king");
        assert_eq!(error("4k4/9/9/9/9/9/9/9/9/4K4 w"), "FEN board: the kings face each other on file e");
        assert_eq!(
            error("4k4/9/9/9/4R4/9/9/9/9/3K5 w"),
            "FEN side: it is Red's turn, but Black's king on e9 is in check"
        );
        assert_eq!(error("4k4/9/9/9/9/9/9/9/9/3K5"), "FEN side: missing; it is `w` (or `r`) for Red, `b` for Black");
        assert_eq!(
            error("4k4/9/9/9/9/9/9/9/9/3K5 white"),
            "FEN side: `white` is neither `w` (or `r`) for Red nor `b` for Black"
        );
        assert_eq!(error("4k4/9/9/9/9/9/9/9/9/3K5 w KQ"), "FEN field 3: `KQ`, where xiangqi has only `-`");
        assert_eq!(
            error("4k4/9/9/9/9/9/9/9/9/3K5 w - - +3"),
            "FEN field 5 (natural limit's counter): `+3` is not a whole number up to 99999"
        );
        assert_eq!(error("4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1 moves"), "FEN: `moves` after the sixth field");
    }
}
