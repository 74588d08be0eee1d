//! Pieces and their kinds.

use crate::Color;

/// A kind of piece, of either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PieceKind {
    /// 车
    Chariot,
    /// 马
    Horse,
    /// 炮
    Cannon,
    /// 兵、卒
    Pawn,
    /// 仕、士
    Advisor,
    /// 相、象
    Elephant,
    /// 帅、将
    King,
}

impl PieceKind {
    /// The number of kinds.
    pub const COUNT: usize = 7;

    /// Every kind, in the order of [`PieceKind::index`].
    pub const ALL: [Self; Self::COUNT] =
        [Self::Chariot, Self::Horse, Self::Cannon, Self::Pawn, Self::Advisor, Self::Elephant, Self::King];

    /// The kind's index in tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The number of this kind that a side starts with, and so the most it can have.
    #[must_use]
    pub const fn max_count(self) -> u32 {
        match self {
            Self::King => 1,
            Self::Pawn => 5,
            _ => 2,
        }
    }

    /// The FEN letter used by engines, upper case.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Chariot => 'R',
            Self::Horse => 'N',
            Self::Cannon => 'C',
            Self::Pawn => 'P',
            Self::Advisor => 'A',
            Self::Elephant => 'B',
            Self::King => 'K',
        }
    }

    /// Reads a letter of either case; `E` (elephant) and `H` (horse) are accepted beside `B` and
    /// `N`.
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<Self> {
        Some(match letter.to_ascii_uppercase() {
            'R' => Self::Chariot,
            'N' | 'H' => Self::Horse,
            'C' => Self::Cannon,
            'P' => Self::Pawn,
            'A' => Self::Advisor,
            'B' | 'E' => Self::Elephant,
            'K' => Self::King,
            _ => return None,
        })
    }

    /// The English name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chariot => "chariot",
            Self::Horse => "horse",
            Self::Cannon => "cannon",
            Self::Pawn => "pawn",
            Self::Advisor => "advisor",
            Self::Elephant => "elephant",
            Self::King => "king",
        }
    }
}

macro_rules! pieces {
    ($($piece:ident = $color:ident $kind:ident),* $(,)?) => {
        /// A piece: kind and owner. `Option<Piece>` is one byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "each name says all there is to say")]
        pub enum Piece { $($piece),* }

        impl Piece {
            /// The number of pieces.
            pub const COUNT: usize = 14;

            /// Every piece, in the order of [`Piece::index`].
            pub const ALL: [Self; Self::COUNT] = [$(Self::$piece),*];

            /// The piece's owner.
            #[must_use]
            pub const fn color(self) -> Color {
                if (self as u8) < 7 { Color::Red } else { Color::Black }
            }

            /// The piece's kind.
            #[must_use]
            pub const fn kind(self) -> PieceKind {
                match self { $(Self::$piece => PieceKind::$kind),* }
            }

            /// The piece of this kind and owner.
            #[must_use]
            pub const fn new(color: Color, kind: PieceKind) -> Self {
                match (color, kind) { $((Color::$color, PieceKind::$kind) => Self::$piece),* }
            }
        }
    };
}

pieces! {
    RedChariot = Red Chariot,
    RedHorse = Red Horse,
    RedCannon = Red Cannon,
    RedPawn = Red Pawn,
    RedAdvisor = Red Advisor,
    RedElephant = Red Elephant,
    RedKing = Red King,
    BlackChariot = Black Chariot,
    BlackHorse = Black Horse,
    BlackCannon = Black Cannon,
    BlackPawn = Black Pawn,
    BlackAdvisor = Black Advisor,
    BlackElephant = Black Elephant,
    BlackKing = Black King,
}

impl Piece {
    /// The piece's index in tables: Red's seven kinds, then Black's.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The FEN letter: upper case for Red.
    #[must_use]
    pub const fn letter(self) -> char {
        match self.color() {
            Color::Red => self.kind().letter(),
            Color::Black => self.kind().letter().to_ascii_lowercase(),
        }
    }

    /// Reads a FEN letter (see [`PieceKind::from_letter`]).
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<Self> {
        let color = if letter.is_ascii_uppercase() { Color::Red } else { Color::Black };
        match PieceKind::from_letter(letter) {
            Some(kind) => Some(Self::new(color, kind)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_new_color_and_kind_agree() {
        for (index, piece) in Piece::ALL.into_iter().enumerate() {
            assert_eq!(piece.index(), index);
            assert_eq!(piece.index(), piece.color().index() * 7 + piece.kind().index());
            assert_eq!(Piece::new(piece.color(), piece.kind()), piece);
            assert_eq!(Piece::from_letter(piece.letter()), Some(piece));
        }
        assert_eq!(size_of::<Option<Piece>>(), 1);
    }
}
