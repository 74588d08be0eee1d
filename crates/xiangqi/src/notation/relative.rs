//! The common part of the Chinese and WXF notations: a piece as its player sees it, and its step.
//!
//! Formatting: a move becomes a [`Description`], from which the notation derives its text. Parsing:
//! the notation turns a text into a [`Pattern`], which may leave parts of a description open. The
//! one legal move that fits is returned. The notations' own modules hold only their vocabulary.
//!
//! Files are counted 1 to 9 from the player's right; forward is towards the enemy.

use arrayvec::ArrayVec;

use super::NotationError;
use crate::{Bitboard, Color, Move, Piece, PieceKind, Position, Square, text::shortened};

/// A piece as its player sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) piece: Piece,
    /// 1 to 9 from the player's right.
    pub(super) file: u8,
    /// The number of the player's pieces of this kind on the file, itself included.
    pub(super) count: u8,
    /// The number of these in front of it.
    pub(super) ahead: u8,
    /// Whether it is a pawn and its player has two or more pawns on each of two files.
    pub(super) crowded: bool,
}

/// The information that distinguishes a piece from others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selector {
    /// Kind and file.
    File,
    /// Kind and place, as only one file holds several.
    Place,
    /// File and place. Only pawns need both, so the kind is implied.
    FileAndPlace,
}

impl Subject {
    /// The piece on a point.
    pub(super) fn of(position: &Position, square: Square) -> Option<Self> {
        let piece = position.piece_at(square)?;
        let fellows = position.pieces(piece.color(), piece.kind());
        let on_file = fellows & Bitboard::file(square.file());
        let is_ahead = |other: &Square| match piece.color() {
            Color::Red => other.rank() > square.rank(),
            Color::Black => other.rank() < square.rank(),
        };
        Some(Self {
            piece,
            file: file_seen_by(piece.color(), square),
            count: on_file.count() as u8,
            ahead: on_file.into_iter().filter(is_ahead).count() as u8,
            crowded: piece.kind() == PieceKind::Pawn && has_two_files_of_pawns(position, piece.color()),
        })
    }

    /// The selector the piece needs. Two advisors or two elephants on one file never need a place:
    /// only one of them can go forward, and only the other back.
    pub(super) fn selector(self) -> Selector {
        match self.piece.kind() {
            PieceKind::Advisor | PieceKind::Elephant => Selector::File,
            _ if self.count < 2 => Selector::File,
            _ if self.crowded => Selector::FileAndPlace,
            _ => Selector::Place,
        }
    }
}

/// Whether a side has two or more pawns on each of two files.
pub(super) fn has_two_files_of_pawns(position: &Position, side: Color) -> bool {
    let pawns = position.pieces(side, PieceKind::Pawn);
    (0..9).filter(|&file| (pawns & Bitboard::file(file)).count() >= 2).count() >= 2
}

/// The number of a side's pawns on a file that it sees as this number.
pub(super) fn count_pawns(position: &Position, side: Color, file: u8) -> u32 {
    let pawns = position.pieces(side, PieceKind::Pawn);
    pawns.into_iter().filter(|&pawn| file_seen_by(side, pawn) == file).count() as u32
}

fn file_seen_by(side: Color, square: Square) -> u8 {
    match side {
        Color::Red => 9 - square.file(),
        Color::Black => square.file() + 1,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Back,
    Sideways,
}

/// The direction and length of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) direction: Direction,
    /// The number of points along the file, or else the file of the target.
    pub(super) number: u8,
}

impl Step {
    fn of(side: Color, mv: Move) -> Self {
        let (from, to) = (mv.from(), mv.to());
        let direction = match (from.rank().cmp(&to.rank()), side) {
            (std::cmp::Ordering::Equal, _) => Direction::Sideways,
            (std::cmp::Ordering::Less, Color::Red) | (std::cmp::Ordering::Greater, Color::Black) => Direction::Forward,
            _ => Direction::Back,
        };
        let stays = from.file() == to.file();
        let number = if stays { from.rank().abs_diff(to.rank()) } else { file_seen_by(side, to) };
        Self { direction, number }
    }
}

/// The full description of a move in relative notations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Description {
    pub(super) subject: Subject,
    pub(super) step: Step,
}

impl Description {
    /// Describes a legal move.
    pub(super) fn of(position: &Position, mv: Move) -> Self {
        let subject = Subject::of(position, mv.from()).expect("a legal move comes from a piece");
        Self { subject, step: Step::of(subject.piece.color(), mv) }
    }
}

/// A piece's place among its kind on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Front,
    /// The middle one of three or five.
    Middle,
    Rear,
    /// Counted from the front, which is 1.
    Nth(u8),
    /// WXF `+`: the front one of two or three, the second of four or five.
    Plus,
    /// WXF `-`: the rear one of two or three, the last but one of four or five.
    Minus,
}

impl Place {
    fn holds(self, Subject { count, ahead, .. }: Subject) -> bool {
        let marked_twice = u8::from(count >= 4);
        count >= 2
            && match self {
                Self::Front => ahead == 0,
                Self::Middle => count % 2 == 1 && ahead == count / 2,
                Self::Rear => ahead + 1 == count,
                Self::Nth(number) => ahead + 1 == number,
                Self::Plus => ahead == marked_twice,
                Self::Minus => ahead + 1 + marked_twice == count,
            }
    }
}

/// A parsed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) kind: PieceKind,
    pub(super) file: Option<u8>,
    pub(super) place: Option<Place>,
    pub(super) step: Step,
}

impl Pattern {
    /// Whether the text can mean this piece.
    pub(super) fn selects(self, subject: Subject) -> bool {
        self.kind == subject.piece.kind()
            && self.file.is_none_or(|file| file == subject.file)
            && self.place.is_none_or(|place| place.holds(subject))
    }

    fn fits(self, position: &Position, mv: Move) -> bool {
        self.step == Step::of(position.turn(), mv)
            && Subject::of(position, mv.from()).is_some_and(|subject| self.selects(subject))
    }
}

/// Returns the one legal move that a pattern fits.
pub(super) fn find(position: &Position, text: &str, pattern: Pattern) -> Result<Move, NotationError> {
    let mut moves = position.legal_moves();
    moves.retain(|mv| pattern.fits(position, *mv));
    match moves[..] {
        [mv] => Ok(mv),
        [one, other, ..] => Err(NotationError::Ambiguous { text: shortened(text), one, other }),
        [] => Err(explain_no_match(position, text, pattern)),
    }
}

#[cold]
fn explain_no_match(position: &Position, text: &str, pattern: Pattern) -> NotationError {
    let (text, side) = (shortened(text), position.turn());
    let own = position.by_color(side).into_iter();
    let meant: Vec<_> =
        own.filter(|&from| Subject::of(position, from).is_some_and(|subject| pattern.selects(subject))).collect();
    let goes = |from| {
        let moves = Square::all().map(move |to| Move::new(from, to));
        moves.into_iter().any(|mv| Step::of(side, mv) == pattern.step && position.is_pseudo_legal(mv))
    };
    if meant.is_empty() {
        NotationError::NoSuchPiece { text, side }
    } else if meant.into_iter().any(goes) {
        NotationError::KingInCheck { text, side }
    } else {
        NotationError::NoSuchMove { text }
    }
}

/// The meaning of a character in the selector part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Kind(PieceKind),
    Place(Place),
    Digit(u8),
}

/// The tokens of the selector: two, or three in books that leave nothing out.
pub(super) type Tokens = ArrayVec<Token, 3>;

/// Splits a text into selector, direction and number.
pub(super) fn split(
    text: &str,
    token: impl Fn(char) -> Option<Token>,
    direction: impl Fn(char) -> Option<Direction>,
) -> Option<(Tokens, Step)> {
    let mut chars = text.chars();
    let Token::Digit(number) = token(chars.next_back()?)? else { return None };
    let direction = direction(chars.next_back()?)?;
    let mut tokens = Tokens::new();
    for char in chars {
        tokens.try_push(token(char)?).ok()?;
    }
    Some((tokens, Step { direction, number }))
}
