//! A position without history.

mod attacked;
mod fen;
mod movegen;
mod safety;
mod see;

pub use attacked::Checks;
pub use fen::{Fen, FenError};
pub use see::SEE_VALUES;

use crate::{Bitboard, Color, Move, Piece, PieceKind, Square, zobrist};

/// Pieces and side to move, with incrementally updated keys and checkers.
///
/// Rules that need history (repetition, the natural limit) belong to [`Game`](crate::rules::Game).
///
/// Invariants:
///
/// * both kings are in their palaces and do not face each other;
/// * every piece is on a point it can reach;
/// * no side has more of a kind than it starts with;
/// * the side that has just moved is not in check.
///
/// [`Fen`] rejects other positions, and legal moves preserve these invariants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    by_color: [Bitboard; 2],
    by_kind: [Bitboard; PieceKind::COUNT],
    board: [Option<Piece>; Square::COUNT],
    kings: [Square; 2],
    turn: Color,
    checkers: Bitboard,
    keys: Keys,
}

/// The position's incremental keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Keys {
    position: u64,
    pawns: u64,
    /// All pieces but pawns, by colour.
    non_pawns: [u64; 2],
    material: u64,
}

impl Keys {
    /// Adds or removes a piece on a point, or moves it: `value` is the XOR of its points' values.
    #[inline]
    fn toggle(&mut self, piece: Piece, value: u64) {
        self.position ^= value;
        if piece.kind() == PieceKind::Pawn {
            self.pawns ^= value;
        } else {
            self.non_pawns[piece.color().index()] ^= value;
        }
    }
}

/// The state that [`Position::unmake`] restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a move is taken back with it"]
pub struct Undo {
    captured: Option<Piece>,
    checkers: Bitboard,
    keys: Keys,
}

impl Undo {
    /// The captured piece.
    #[must_use]
    pub const fn captured(&self) -> Option<Piece> {
        self.captured
    }

    /// The position's key before the move.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.keys.position
    }

    /// The pieces that gave check to the mover before the move.
    #[must_use]
    pub const fn checkers(&self) -> Bitboard {
        self.checkers
    }
}

impl Position {
    /// The starting position in FEN.
    pub const START_FEN: &'static str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

    /// The starting position.
    ///
    /// # Panics
    ///
    /// Never: the starting position is valid.
    #[must_use]
    pub fn start() -> Self {
        Self::from_fen(Self::START_FEN).expect("the starting position is sound")
    }

    /// The side to move.
    #[must_use]
    #[inline]
    pub const fn turn(&self) -> Color {
        self.turn
    }

    /// The piece on a point.
    #[must_use]
    #[inline]
    pub const fn piece_at(&self, square: Square) -> Option<Piece> {
        self.board[square.index()]
    }

    /// A side's pieces.
    #[must_use]
    #[inline]
    pub const fn by_color(&self, color: Color) -> Bitboard {
        self.by_color[color.index()]
    }

    /// Both sides' pieces of a kind.
    #[must_use]
    #[inline]
    pub const fn by_kind(&self, kind: PieceKind) -> Bitboard {
        self.by_kind[kind.index()]
    }

    /// A side's pieces of a kind.
    #[must_use]
    #[inline]
    pub const fn pieces(&self, color: Color, kind: PieceKind) -> Bitboard {
        self.by_color(color).and(self.by_kind(kind))
    }

    /// Every piece.
    #[must_use]
    #[inline]
    pub const fn occupied(&self) -> Bitboard {
        self.by_color[0].or(self.by_color[1])
    }

    /// The point of a side's king.
    #[must_use]
    #[inline]
    pub const fn king(&self, color: Color) -> Square {
        self.kings[color.index()]
    }

    /// The enemy pieces that give check to the side to move.
    #[must_use]
    #[inline]
    pub const fn checkers(&self) -> Bitboard {
        self.checkers
    }

    /// Whether the side to move is in check.
    #[must_use]
    #[inline]
    pub const fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// The Zobrist key of pieces and side to move, equal in every build and on every machine.
    #[must_use]
    #[inline]
    pub const fn key(&self) -> u64 {
        self.keys.position
    }

    /// The key after a move, without making it.
    #[must_use]
    #[inline]
    pub fn key_after(&self, mv: Move) -> u64 {
        let (from, to) = (mv.from(), mv.to());
        let moved = self.piece_at(from).map_or(0, |piece| zobrist::piece(piece, from) ^ zobrist::piece(piece, to));
        let taken = self.piece_at(to).map_or(0, |piece| zobrist::piece(piece, to));
        self.keys.position ^ moved ^ taken ^ zobrist::BLACK_TO_MOVE
    }

    /// The key of the pawns alone.
    #[must_use]
    #[inline]
    pub const fn pawn_key(&self) -> u64 {
        self.keys.pawns
    }

    /// The key of one colour's pieces other than pawns.
    #[must_use]
    #[inline]
    pub const fn non_pawn_key(&self, color: Color) -> u64 {
        self.keys.non_pawns[color.index()]
    }

    /// The key of the numbers of pieces of each kind.
    #[must_use]
    #[inline]
    pub const fn material_key(&self) -> u64 {
        self.keys.material
    }

    /// Whether neither side has a piece left that could ever attack the other's palace.
    #[must_use]
    #[inline]
    pub fn is_bare(&self) -> bool {
        use PieceKind::{Cannon, Chariot, Horse, Pawn};
        (self.by_kind(Chariot) | self.by_kind(Horse) | self.by_kind(Cannon) | self.by_kind(Pawn)).is_empty()
    }

    /// Makes a move, which must be legal here (see [`Position::is_legal`]).
    ///
    /// # Panics
    ///
    /// If the origin is empty.
    #[inline]
    pub fn make(&mut self, mv: Move) -> Undo {
        let (from, to) = (mv.from(), mv.to());
        let piece = self.board[from.index()].expect("a legal move comes from a piece");
        debug_assert_eq!(piece.color(), self.turn, "{mv} moves the other side's piece");
        let undo = Undo { captured: self.board[to.index()], checkers: self.checkers, keys: self.keys };

        if let Some(captured) = undo.captured {
            let kind = captured.kind();
            let point = Bitboard::of(to);
            self.keys.toggle(captured, zobrist::piece(captured, to));
            let count = self.pieces(captured.color(), kind).count();
            self.keys.material ^= zobrist::material(captured, count) ^ zobrist::material(captured, count - 1);
            self.by_color[captured.color().index()] ^= point;
            self.by_kind[kind.index()] ^= point;
        }
        self.shift(piece, from, to);
        let moved = zobrist::piece(piece, from) ^ zobrist::piece(piece, to);
        self.keys.toggle(piece, moved);
        self.keys.position ^= zobrist::BLACK_TO_MOVE;
        self.turn = !self.turn;
        self.checkers = self.attackers_of_king(self.turn);
        undo
    }

    /// Takes back the move that returned this `undo`.
    ///
    /// # Panics
    ///
    /// If the target is empty.
    #[inline]
    pub fn unmake(&mut self, mv: Move, undo: Undo) {
        let (from, to) = (mv.from(), mv.to());
        let piece = self.board[to.index()].expect("a made move went to its target");
        self.shift(piece, to, from);
        if let Some(captured) = undo.captured {
            let point = Bitboard::of(to);
            self.by_color[captured.color().index()] ^= point;
            self.by_kind[captured.kind().index()] ^= point;
            self.board[to.index()] = Some(captured);
        }
        // Not `!self.turn`: a null move may have been made since.
        self.turn = piece.color();
        self.checkers = undo.checkers;
        self.keys = undo.keys;
    }

    /// Makes a null move (passes the turn), for searches. The side to move must not be in check.
    #[inline]
    pub fn make_null(&mut self) -> Undo {
        debug_assert!(!self.in_check());
        let undo = Undo { captured: None, checkers: self.checkers, keys: self.keys };
        self.keys.position ^= zobrist::BLACK_TO_MOVE;
        self.turn = !self.turn;
        self.checkers = Bitboard::EMPTY;
        undo
    }

    /// Takes back a null move.
    #[inline]
    pub fn unmake_null(&mut self, undo: Undo) {
        self.turn = !self.turn;
        self.checkers = undo.checkers;
        self.keys = undo.keys;
    }

    /// The position mirrored left to right.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        self.rebuilt(self.turn, |square, piece| (square.mirrored(), piece))
    }

    /// The position with colours exchanged: the board turned upside down, every piece of the other
    /// colour, the other side to move.
    #[must_use]
    pub fn flipped(&self) -> Self {
        self.rebuilt(!self.turn, |square, piece| (square.flipped(), Piece::new(!piece.color(), piece.kind())))
    }

    fn rebuilt(&self, turn: Color, place: impl Fn(Square, Piece) -> (Square, Piece)) -> Self {
        let mut board = [None; Square::COUNT];
        for square in self.occupied() {
            if let Some(piece) = self.piece_at(square) {
                let (square, piece) = place(square, piece);
                board[square.index()] = Some(piece);
            }
        }
        Self::from_board(board, turn)
    }

    /// Derives the bitboards, keys and checkers from the board, which must hold both kings.
    fn from_board(board: [Option<Piece>; Square::COUNT], turn: Color) -> Self {
        let mut position = Self {
            by_color: [Bitboard::EMPTY; 2],
            by_kind: [Bitboard::EMPTY; PieceKind::COUNT],
            board,
            kings: [Square::at(0); 2],
            turn,
            checkers: Bitboard::EMPTY,
            keys: Keys { position: 0, pawns: 0, non_pawns: [0; 2], material: 0 },
        };
        for square in Square::all() {
            let Some(piece) = board[square.index()] else { continue };
            position.by_color[piece.color().index()] |= square.into();
            position.by_kind[piece.kind().index()] |= square.into();
            position.keys.toggle(piece, zobrist::piece(piece, square));
            if piece.kind() == PieceKind::King {
                position.kings[piece.color().index()] = square;
            }
        }
        for piece in Piece::ALL {
            let count = position.pieces(piece.color(), piece.kind()).count();
            position.keys.material ^= zobrist::material(piece, count);
        }
        if turn == Color::Black {
            position.keys.position ^= zobrist::BLACK_TO_MOVE;
        }
        position.checkers = position.attackers_of_king(turn);
        position
    }

    #[inline]
    fn shift(&mut self, piece: Piece, from: Square, to: Square) {
        let points = Bitboard::of(from) | Bitboard::of(to);
        self.by_color[piece.color().index()] ^= points;
        self.by_kind[piece.kind().index()] ^= points;
        self.board[from.index()] = None;
        self.board[to.index()] = Some(piece);
        if piece.kind() == PieceKind::King {
            self.kings[piece.color().index()] = to;
        }
    }
}

impl Default for Position {
    fn default() -> Self {
        Self::start()
    }
}
