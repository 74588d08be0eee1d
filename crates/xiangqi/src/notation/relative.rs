//! What the Chinese notation and the WXF's have in common: a piece as its player sees it, and what it does.
//!
//! Writing turns a move into a [`Description`], and the notation's words follow from that. Reading goes the other way
//! round: the notation turns a text into a [`Pattern`], which may leave open what a description has, and the legal move
//! that fits it is the one meant. Both notations differ in their words alone, so the words are all that their modules
//! hold.
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
    /// How many of the player's pieces of this kind stand on the file, itself among them.
    pub(super) count: u8,
    /// How many of these stand before it.
    pub(super) ahead: u8,
    /// Whether it is a pawn and its player has two or more pawns on each of two files.
    pub(super) crowded: bool,
}

/// What a notation must say to tell a piece from its fellows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selector {
    /// Kind and file.
    File,
    /// Kind and place, as there is but one file with several.
    Place,
    /// File and place; only pawns can need both, so the kind goes without saying.
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

    /// How the piece is told from its fellows. Two advisors or two elephants on one file never need it: only one of
    /// them can go forward, and only the other back.
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

/// How many pawns a side has on a file that it sees as this number.
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

/// What a piece does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) direction: Direction,
    /// The points it goes, if it stays on its file; the file it goes to, if not.
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

/// All that the relative notations can say about a move.
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

/// Where a piece stands among its fellows on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Front,
    /// Of three or five.
    Middle,
    Rear,
    /// Counted from the front, which is 1.
    Nth(u8),
    /// The WXF's `+`: the front one of two or three, the second of four or five.
    Plus,
    /// The WXF's `-`: the rear one of two or three, the last but one of four or five.
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

/// What a text says of a move.
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

/// The one legal move that a pattern fits.
pub(super) fn find(position: &Position, text: &str, pattern: Pattern) -> Result<Move, NotationError> {
    let mut moves = position.legal_moves();
    moves.retain(|mv| pattern.fits(position, *mv));
    match moves[..] {
        [mv] => Ok(mv),
        [one, other, ..] => Err(NotationError::Ambiguous { text: shortened(text), one, other }),
        [] => Err(why_none(position, text, pattern)),
    }
}

#[cold]
fn why_none(position: &Position, text: &str, pattern: Pattern) -> NotationError {
    let (text, side) = (shortened(text), position.turn());
    let own = position.by_color(side).into_iter();
    let meant: Vec<_> =
        own.filter(|&from| Subject::of(position, from).is_some_and(|subject| pattern.selects(subject))).collect();
    let goes = |from| {
        let moves = Square::all().map(move |to| Move::new(from, to));
        moves.into_iter().any(|mv| Step::of(side, mv) == pattern.step && position.can_reach(mv))
    };
    if meant.is_empty() {
        NotationError::NoSuchPiece { text, side }
    } else if meant.into_iter().any(goes) {
        NotationError::KingInCheck { text, side }
    } else {
        NotationError::NoSuchMove { text }
    }
}

/// A character's meaning in the part of a text that names the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Kind(PieceKind),
    Place(Place),
    Digit(u8),
}

/// The words that name the piece: two, or three in books that leave nothing out.
pub(super) type Words = ArrayVec<Word, 3>;

/// Takes a text apart: the words that name the piece, then the direction, then the number.
pub(super) fn split(
    text: &str,
    word: impl Fn(char) -> Option<Word>,
    direction: impl Fn(char) -> Option<Direction>,
) -> Option<(Words, Step)> {
    let mut chars = text.chars();
    let Word::Digit(number) = word(chars.next_back()?)? else { return None };
    let direction = direction(chars.next_back()?)?;
    let mut words = Words::new();
    for char in chars {
        words.try_push(word(char)?).ok()?;
    }
    Some((words, Step { direction, number }))
}
