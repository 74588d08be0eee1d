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
    /// Where the opponent's last move went, and what the piece attacks from there.
    arrived: Option<Square>,
    attacked: Bitboard,
    /// The piece that moved last, and where it came from.
    moved: Option<Move>,
    /// Where the opponent took something.
    retaken: Bitboard,
    chariots: Bitboard,
    horses_and_cannons: Bitboard,
    in_check: bool,
}

/// How far the asking for the piece has come.
struct Asked {
    /// Who has not been asked.
    able: Bitboard,
    left: usize,
    /// Whether one was asked that had something better to do than most.
    better: bool,
}

impl<'a> Mover<'a> {
    #[inline]
    fn new(position: &'a Position, before: Before) -> Self {
        let turn = position.turn();
        let occupied = position.occupied();
        let own = position.by_color(turn);
        let arrived = before.last.map(|(mv, _)| mv.to());
        let attacked = arrived.map_or(Bitboard::EMPTY, |square| {
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
            retaken: match before.last {
                Some((mv, true)) => Bitboard::of(mv.to()),
                _ => Bitboard::EMPTY,
            },
            chariots: position.by_kind(PieceKind::Chariot),
            horses_and_cannons: position.by_kind(PieceKind::Horse) | position.by_kind(PieceKind::Cannon),
            in_check: position.in_check(),
        }
    }

    /// Piece by piece, kind by kind: a loop for each, so that none has to find out what it looks at.
    #[inline(always)]
    fn code_piece<C: Coder>(&self, coder: &mut C, slots: &mut Slots, known: Option<Move>) -> Option<Square> {
        let mut asked = Asked { able: self.own, left: self.own.count() as usize, better: false };
        let moved = self.moved.map_or(Bitboard::EMPTY, |mv| Bitboard::of(mv.to()));
        let (turn, occupied) = (self.position.turn(), self.occupied);
        let any = |from| (self.kind(from), attacks::captures(self.piece(from), from, occupied));
        if let Some(found) = self.ask(coder, slots, known, &mut asked, moved, any) {
            return Some(found);
        }
        if let Some(found) = self.ask(coder, slots, known, &mut asked, self.attacked, any) {
            return Some(found);
        }
        macro_rules! ask_kind {
            ($kind:ident, $captures:expr) => {
                let set = self.position.by_kind(PieceKind::$kind);
                let captures = |from| (PieceKind::$kind, $captures(from));
                if let Some(found) = self.ask(coder, slots, known, &mut asked, set, captures) {
                    return Some(found);
                }
            };
        }
        ask_kind!(Chariot, |from| attacks::chariot(from, occupied));
        ask_kind!(Cannon, |from| attacks::cannon(from, occupied));
        ask_kind!(Horse, |from| attacks::horse(from, occupied));
        ask_kind!(Pawn, |from| attacks::pawn(turn, from));
        ask_kind!(King, attacks::king);
        ask_kind!(Elephant, |from| attacks::elephant(from, occupied));
        ask_kind!(Advisor, attacks::advisor);
        None
    }

    /// Asks the pieces of a set that have not been asked; `look` says what stands on a point and what it attacks.
    #[inline(always)]
    fn ask<C: Coder>(
        &self,
        coder: &mut C,
        slots: &mut Slots,
        known: Option<Move>,
        asked: &mut Asked,
        set: Bitboard,
        look: impl Fn(Square) -> (PieceKind, Bitboard),
    ) -> Option<Square> {
        let set = asked.able & set;
        asked.able ^= set;
        for square in set {
            if asked.left == 1 {
                return Some(square);
            }
            let (kind, attacks) = look(square);
            let (context, tempting) = self.piece_context(square, kind, attacks & self.enemy);
            let index = PIECE + (context << 3 | usize::from(asked.better) << 2 | crowd(asked.left));
            if coder.bit(slots, index, known.is_some_and(|mv| mv.from() == square)) {
                return Some(square);
            }
            asked.better |= tempting;
            asked.left -= 1;
        }
        None
    }

    /// What is known of a piece, in nine bits, and whether it has something to take that is worth asking it first.
    #[inline(always)]
    fn piece_context(&self, square: Square, kind: PieceKind, prey: Bitboard) -> (usize, bool) {
        let retakes = prey.intersects(self.retaken);
        // The dearest it attacks: 3 for a chariot, 2 for a horse or a cannon, 1 for anything else.
        let worth = usize::from(prey.any())
            .max(2 * usize::from(prey.intersects(self.horses_and_cannons)))
            .max(3 * usize::from(prey.intersects(self.chariots)));
        let context = kind.index() << 6
            | worth << 4
            | usize::from(retakes) << 3
            | usize::from(self.attacked.contains(square)) << 2
            | usize::from(self.moved.is_some_and(|mv| mv.to() == square)) << 1
            | usize::from(self.in_check);
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
        let kind = self.kind(from);
        let reach = self.reach(from, kind);
        let turn = self.position.turn();
        let of_piece = (kind.index() * 5 * 16) << 3 | usize::from(self.attacked.contains(from)) << 2;
        let undoing = self.moved.filter(|mv| mv.to() == from).map(Move::from);
        let prey = reach & self.enemy;
        let ahead = AHEAD[turn.index()][from.index()];
        let groups = [
            (prey & self.chariots, 3),
            (prey & self.horses_and_cannons, 2),
            (prey - self.chariots - self.horses_and_cannons, 1),
            ((reach & ahead) - prey, 0),
            (reach - ahead - prey, 0),
        ];
        let mut left = reach.count() as usize;
        for (set, worth) in groups {
            for square in set {
                if left == 1 {
                    return Some(square);
                }
                let special = if self.arrived == Some(square) {
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
    fn reach(&self, square: Square, kind: PieceKind) -> Bitboard {
        let piece = Piece::new(self.position.turn(), kind);
        let mut reach = attacks::captures(piece, square, self.occupied) - self.own;
        if kind == PieceKind::Cannon {
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

/// How many are left to ask, in four classes: up to 2, to 4, to 7, and more.
#[inline]
const fn crowd(left: usize) -> usize {
    (left > 2) as usize + (left > 4) as usize + (left > 7) as usize
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
