//! Which move: first which piece, then where to.
//!
//! The pieces are asked one after the other, those first that are likely to move: the one that moved last, those that
//! the opponent's last move attacks, then the strong before the weak. Each question has odds of its own by what kind of
//! piece it is and what it could do. The same with the points it could go to: captures first, dear ones before cheap
//! ones, then forward before back. No move is generated: that would cost more than all the rest.

use xiangqi::{Bitboard, Color, Move, Piece, PieceKind, Position, Square, attacks};

use super::{
    coder::Coder,
    slots::{PIECE, Slots, TARGET},
};

/// The order in which kinds of pieces are asked.
const ORDER: [PieceKind; PieceKind::COUNT] = [
    PieceKind::Chariot,
    PieceKind::Cannon,
    PieceKind::Horse,
    PieceKind::Pawn,
    PieceKind::King,
    PieceKind::Elephant,
    PieceKind::Advisor,
];

/// What the last two moves say of the next.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    /// The last move, which was the opponent's, and whether it took something.
    last: Option<(Move, bool)>,
    /// The one before.
    own: Option<Move>,
}

impl Before {
    /// After a move.
    pub(super) const fn then(self, mv: Move, captures: bool) -> Self {
        Self { last: Some((mv, captures)), own: if let Some((mv, _)) = self.last { Some(mv) } else { None } }
    }
}

/// A move, among those that its piece can make: whether it leaves its king in check is not looked at. `None` if what is to
/// be written is no such move.
#[inline]
pub(super) fn code<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    position: &Position,
    before: Before,
    known: Option<Move>,
) -> Option<Move> {
    let mover = Mover::new(position, before);
    let from = mover.code_piece(coder, slots, known)?;
    let to = mover.code_target(coder, slots, from, known)?;
    Some(Move::new(from, to))
}

struct Mover<'a> {
    position: &'a Position,
    occupied: Bitboard,
    own: Bitboard,
    enemy: Bitboard,
    /// Where the opponent's last move went, what the piece attacks from there, and whether it took something.
    arrived: Option<(Square, bool)>,
    attacked: Bitboard,
    /// The piece that moved last, and where it came from.
    moved: Option<Move>,
}

impl<'a> Mover<'a> {
    #[inline]
    fn new(position: &'a Position, before: Before) -> Self {
        let turn = position.turn();
        let occupied = position.occupied();
        let own = position.by_color(turn);
        let arrived = before.last.map(|(mv, captures)| (mv.to(), captures));
        let attacked = arrived.map_or(Bitboard::EMPTY, |(square, _)| {
            position.piece_at(square).map_or(Bitboard::EMPTY, |piece| attacks::captures(piece, square, occupied))
        });
        Self {
            position,
            occupied,
            own,
            enemy: position.by_color(!turn),
            arrived,
            attacked,
            moved: before.own.filter(|mv| own.contains(mv.to())),
        }
    }

    #[inline(always)]
    fn code_piece<C: Coder>(&self, coder: &mut C, slots: &mut Slots, known: Option<Move>) -> Option<Square> {
        let mut able = self.own;
        let mut left = able.count() as usize;
        let mut better = false;
        let moved = self.moved.map_or(Bitboard::EMPTY, |mv| Bitboard::of(mv.to()));
        for group in 0..2 + ORDER.len() {
            let set = able
                & match group {
                    0 => moved,
                    1 => self.attacked,
                    _ => self.position.by_kind(ORDER[group - 2]),
                };
            able ^= set;
            for square in set {
                if left == 1 {
                    return Some(square);
                }
                let (context, tempting) = self.piece_context(square);
                let index = PIECE + (context << 3 | usize::from(better) << 2 | crowd(left));
                if coder.bit(slots, index, known.is_some_and(|mv| mv.from() == square)) {
                    return Some(square);
                }
                better |= tempting;
                left -= 1;
            }
        }
        None
    }

    /// What is known of a piece, in nine bits, and whether it has something to take that is worth asking it first.
    #[inline(always)]
    fn piece_context(&self, square: Square) -> (usize, bool) {
        let kind = self.kind(square);
        let prey = attacks::captures(self.piece(square), square, self.occupied) & self.enemy;
        let retakes = self.arrived.is_some_and(|(arrived, took)| took && prey.contains(arrived));
        let worth = if prey.intersects(self.position.by_kind(PieceKind::Chariot)) {
            3
        } else if prey.intersects(self.position.by_kind(PieceKind::Horse) | self.position.by_kind(PieceKind::Cannon)) {
            2
        } else {
            usize::from(prey.any())
        };
        let context = kind.index() << 6
            | worth << 4
            | usize::from(retakes) << 3
            | usize::from(self.attacked.contains(square)) << 2
            | usize::from(self.moved.is_some_and(|mv| mv.to() == square)) << 1
            | usize::from(self.position.in_check());
        (context, worth >= 2 || retakes)
    }

    #[inline(always)]
    fn code_target<C: Coder>(
        &self,
        coder: &mut C,
        slots: &mut Slots,
        from: Square,
        known: Option<Move>,
    ) -> Option<Square> {
        let mut reach = self.reach(from);
        let mut left = reach.count() as usize;
        let turn = self.position.turn();
        let of_piece = (self.kind(from).index() * 5 * 16) << 3 | usize::from(self.attacked.contains(from)) << 2;
        let undoing = self.moved.filter(|mv| mv.to() == from).map(Move::from);
        let chariots = self.position.by_kind(PieceKind::Chariot);
        let others = self.position.by_kind(PieceKind::Horse) | self.position.by_kind(PieceKind::Cannon);
        let prey = reach & self.enemy;
        for group in 0..5 {
            let (set, worth) = match group {
                0 => (prey & chariots, 3),
                1 => (prey & others, 2),
                2 => (prey - chariots - others, 1),
                3 => (reach & AHEAD[turn.index()][from.index()], 0),
                _ => (reach, 0),
            };
            reach = reach - set;
            for square in set {
                if left == 1 {
                    return Some(square);
                }
                let special = if self.arrived.is_some_and(|(arrived, _)| arrived == square) {
                    3
                } else if undoing == Some(square) {
                    2
                } else {
                    usize::from(self.attacked.contains(square))
                };
                let context = direction(turn, from, square) << 4 | special << 2 | worth;
                let index = TARGET + of_piece + (context << 3) + crowd(left);
                if coder.bit(slots, index, known.is_some_and(|mv| mv.to() == square)) {
                    return Some(square);
                }
                left -= 1;
            }
        }
        None
    }

    #[inline]
    fn piece(&self, square: Square) -> Piece {
        self.position.piece_at(square).expect("only points with pieces are asked")
    }

    #[inline]
    fn kind(&self, square: Square) -> PieceKind {
        self.piece(square).kind()
    }

    /// Where a piece could go if its king took care of itself.
    #[inline]
    fn reach(&self, square: Square) -> Bitboard {
        let piece = self.piece(square);
        let mut reach = attacks::captures(piece, square, self.occupied) - self.own;
        if piece.kind() == PieceKind::Cannon {
            // What it takes and where it goes are different points.
            reach = (reach & self.enemy) | (attacks::chariot(square, self.occupied) - self.occupied);
        }
        reach
    }
}

/// The points that lie further ahead than a point, for either side: those of the ranks ahead and half of its own.
static AHEAD: [[Bitboard; Square::COUNT]; 2] = {
    let mut ahead = [[Bitboard::EMPTY; Square::COUNT]; 2];
    let mut from = 0;
    while from < Square::COUNT {
        let mut to = 0;
        while to < Square::COUNT {
            if let Some(square) = Square::from_index(to) {
                if to > from {
                    ahead[0][from] = ahead[0][from].with(square);
                } else if to < from {
                    ahead[1][from] = ahead[1][from].with(square);
                }
            }
            to += 1;
        }
        from += 1;
    }
    ahead
};

/// How many are left to ask, in four classes.
#[inline]
const fn crowd(left: usize) -> usize {
    match left {
        0..=2 => 0,
        3..=4 => 1,
        5..=7 => 2,
        _ => 3,
    }
}

/// Ahead, back, aside, or aslant ahead or back.
#[inline]
fn direction(turn: Color, from: Square, to: Square) -> usize {
    let ahead = (to > from) == (turn == Color::Red);
    if from.file() == to.file() {
        usize::from(!ahead)
    } else if from.rank() == to.rank() {
        2
    } else {
        3 + usize::from(!ahead)
    }
}
