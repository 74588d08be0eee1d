//! The board: ninety points, each empty or with a piece, and the side to move.
//!
//! Reads FEN tolerantly (only the board is required, `h`/`e` are read as `n`/`b`) and writes it
//! back in one form. It does not know how pieces move; [`Board::can_stand`] is about the points
//! they can ever have reached.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Color {
    Red,
    Black,
}

impl Color {
    pub const BOTH: [Color; 2] = [Color::Red, Color::Black];

    pub fn other(self) -> Color {
        match self {
            Color::Red => Color::Black,
            Color::Black => Color::Red,
        }
    }

    /// The rank step that leads towards the opponent.
    pub fn forward(self) -> i32 {
        match self {
            Color::Red => 1,
            Color::Black => -1,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    King,
    Advisor,
    Elephant,
    Horse,
    Chariot,
    Cannon,
    Pawn,
}

pub type Piece = (Color, Kind);

/// From a point to a point.
pub type Move = (u8, u8);

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Board {
    pub points: [Option<Piece>; 90],
    pub turn: Color,
}

pub fn file(point: u8) -> i32 {
    i32::from(point) % 9
}

pub fn rank(point: u8) -> i32 {
    i32::from(point) / 9
}

/// The point at this file and rank, if the board has it.
pub fn point(file: i32, rank: i32) -> Option<u8> {
    ((0..9).contains(&file) && (0..10).contains(&rank)).then(|| (rank * 9 + file) as u8)
}

pub fn in_palace(color: Color, point: u8) -> bool {
    let ranks = match color {
        Color::Red => 0..=2,
        Color::Black => 7..=9,
    };
    (3..=5).contains(&file(point)) && ranks.contains(&rank(point))
}

/// Whether the point is on `color`'s own side of the river.
pub fn is_home(color: Color, point: u8) -> bool {
    (rank(point) <= 4) == (color == Color::Red)
}

impl Board {
    pub fn empty(turn: Color) -> Board {
        Board { points: [None; 90], turn }
    }

    pub fn at(&self, point: u8) -> Option<Piece> {
        self.points[usize::from(point)]
    }

    pub fn put(&mut self, point: u8, piece: Option<Piece>) {
        self.points[usize::from(point)] = piece;
    }

    /// The points on which `color` has pieces, in ascending order.
    pub fn pieces_of(&self, color: Color) -> Vec<u8> {
        (0..90).filter(|&p| self.at(p).is_some_and(|(c, _)| c == color)).collect()
    }

    pub fn king(&self, color: Color) -> Option<u8> {
        (0..90).find(|&p| self.at(p) == Some((color, Kind::King)))
    }

    pub fn count(&self, piece: Piece) -> usize {
        self.points.iter().filter(|&&at| at == Some(piece)).count()
    }

    /// The board after the move, which is made as given, legal or not.
    #[must_use]
    pub fn after(&self, (from, to): Move) -> Board {
        let mut next = self.clone();
        next.put(to, self.at(from));
        next.put(from, None);
        next.turn = self.turn.other();
        next
    }

    /// Whether a piece of this kind can have reached the point from the start of a game.
    pub fn can_stand((color, kind): Piece, at: u8) -> bool {
        // As seen by Red: Black's side of the board is Red's turned upside down.
        let (f, r) = match color {
            Color::Red => (file(at), rank(at)),
            Color::Black => (file(at), 9 - rank(at)),
        };
        match kind {
            Kind::King => in_palace(color, at),
            Kind::Advisor => [(3, 0), (5, 0), (4, 1), (3, 2), (5, 2)].contains(&(f, r)),
            Kind::Elephant => [(2, 0), (6, 0), (0, 2), (4, 2), (8, 2), (2, 4), (6, 4)].contains(&(f, r)),
            Kind::Pawn => r >= 5 || (r >= 3 && f % 2 == 0),
            Kind::Horse | Kind::Chariot | Kind::Cannon => true,
        }
    }

    /// Reads a FEN. Of its fields the board is required; a missing side is Red.
    pub fn from_fen(fen: &str) -> Result<Board, String> {
        let mut fields = fen.split_whitespace();
        let placement = fields.next().ok_or("an empty FEN")?;
        let turn = match fields.next() {
            None | Some("w" | "r" | "W" | "R") => Color::Red,
            Some("b" | "B") => Color::Black,
            Some(other) => return Err(format!("no such side: {other}")),
        };
        let mut board = Board::empty(turn);
        let rows: Vec<&str> = placement.split('/').collect();
        if rows.len() != 10 {
            return Err(format!("{} ranks in {placement}", rows.len()));
        }
        for (row, r) in rows.iter().zip((0..10).rev()) {
            let mut f = 0;
            for letter in row.chars() {
                if let Some(gap) = letter.to_digit(10) {
                    f += gap as i32;
                } else {
                    let piece = piece_of_letter(letter).ok_or(format!("no such piece: {letter}"))?;
                    let at = point(f, r).ok_or(format!("rank {r} is too long in {placement}"))?;
                    board.put(at, Some(piece));
                    f += 1;
                }
            }
            if f != 9 {
                return Err(format!("rank {r} has {f} files in {placement}"));
            }
        }
        Ok(board)
    }
}

/// The counter of the natural limit a FEN carries: its fifth field, zero if absent.
pub fn fen_counter(fen: &str) -> u32 {
    fen.split_whitespace().nth(4).and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn piece_of_letter(letter: char) -> Option<Piece> {
    let kind = match letter.to_ascii_lowercase() {
        'k' => Kind::King,
        'a' => Kind::Advisor,
        'b' | 'e' => Kind::Elephant,
        'n' | 'h' => Kind::Horse,
        'r' => Kind::Chariot,
        'c' => Kind::Cannon,
        'p' => Kind::Pawn,
        _ => return None,
    };
    Some((if letter.is_ascii_uppercase() { Color::Red } else { Color::Black }, kind))
}

fn letter_of_piece((color, kind): Piece) -> char {
    let letter = match kind {
        Kind::King => 'k',
        Kind::Advisor => 'a',
        Kind::Elephant => 'b',
        Kind::Horse => 'n',
        Kind::Chariot => 'r',
        Kind::Cannon => 'c',
        Kind::Pawn => 'p',
    };
    if color == Color::Red { letter.to_ascii_uppercase() } else { letter }
}

/// Board and side; the other fields are constants, since a board has no history.
impl fmt::Display for Board {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for r in (0..10).rev() {
            let mut gap = 0;
            for f in 0..9 {
                match point(f, r).and_then(|p| self.at(p)) {
                    None => gap += 1,
                    Some(piece) => {
                        if gap > 0 {
                            write!(out, "{gap}")?;
                        }
                        gap = 0;
                        write!(out, "{}", letter_of_piece(piece))?;
                    }
                }
            }
            if gap > 0 {
                write!(out, "{gap}")?;
            }
            if r > 0 {
                write!(out, "/")?;
            }
        }
        write!(out, " {} - - 0 1", if self.turn == Color::Red { 'w' } else { 'b' })
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}
