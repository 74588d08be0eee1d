//! Coding of a move: first the piece, then its target.
//!
//! One bit per piece, in the order of likelihood. First is the piece that moved last, then those
//! that the opponent's last move attacks, then the strong before the weak. The context of each bit
//! is the piece's kind and what it could capture. Targets are coded alike: captures first, the most
//! valuable first, then forward before back. No moves are generated: that would cost more than all
//! the rest.

use xiangqi::{Bitboard, Color, Move, Piece, PieceKind, Position, Square, attacks};

use super::{
    coder::Coder,
    slots::{PIECE, Slots, TARGET},
};

/// The context from the last two moves.
#[derive(Clone, Copy, Default)]
pub(super) struct LastMoves {
    /// The opponent's last move, and whether it was a capture.
    last: Option<(Move, bool)>,
    /// The own move before that.
    own: Option<Move>,
}

impl LastMoves {
    /// The context after a move.
    pub(super) const fn then(self, mv: Move, captures: bool) -> Self {
        Self { last: Some((mv, captures)), own: if let Some((mv, _)) = self.last { Some(mv) } else { None } }
    }
}

/// Codes a pseudo-legal move: whether it leaves the own king in check is not examined. `None` if
/// the move to be encoded is not one.
#[inline]
pub(super) fn code<C: Coder>(
    coder: &mut C,
    slots: &mut Slots,
    position: &Position,
    before: LastMoves,
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
    /// The target of the opponent's last move, and the points that its piece attacks from there.
    arrived: Option<Square>,
    attacked: Bitboard,
    /// The own last move.
    moved: Option<Move>,
    /// The point of the opponent's last capture.
    retaken: Bitboard,
    chariots: Bitboard,
    horses_and_cannons: Bitboard,
    in_check: bool,
}

/// The progress of coding the piece.
struct Candidates {
    /// The pieces not yet tried.
    able: Bitboard,
    left: usize,
    /// Whether a piece was passed over that had a better capture than most.
    better: bool,
}

impl<'a> Mover<'a> {
    #[inline]
    fn new(position: &'a Position, before: LastMoves) -> Self {
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

    /// One loop per piece kind, so that the kind is a constant in each.
    #[inline(always)]
    fn code_piece<C: Coder>(&self, coder: &mut C, slots: &mut Slots, known: Option<Move>) -> Option<Square> {
        let mut candidates = Candidates { able: self.own, left: self.own.count() as usize, better: false };
        let moved = self.moved.map_or(Bitboard::EMPTY, |mv| Bitboard::of(mv.to()));
        let (turn, occupied) = (self.position.turn(), self.occupied);
        let any = |from| (self.kind(from), attacks::captures(self.piece(from), from, occupied));
        if let Some(found) = self.try_set(coder, slots, known, &mut candidates, moved, any) {
            return Some(found);
        }
        if let Some(found) = self.try_set(coder, slots, known, &mut candidates, self.attacked, any) {
            return Some(found);
        }
        macro_rules! try_kind {
            ($kind:ident, $captures:expr) => {
                let set = self.position.by_kind(PieceKind::$kind);
                let captures = |from| (PieceKind::$kind, $captures(from));
                if let Some(found) = self.try_set(coder, slots, known, &mut candidates, set, captures) {
                    return Some(found);
                }
            };
        }
        try_kind!(Chariot, |from| attacks::chariot(from, occupied));
        try_kind!(Cannon, |from| attacks::cannon(from, occupied));
        try_kind!(Horse, |from| attacks::horse(from, occupied));
        try_kind!(Pawn, |from| attacks::pawn(turn, from));
        try_kind!(King, attacks::king);
        try_kind!(Elephant, |from| attacks::elephant(from, occupied));
        try_kind!(Advisor, attacks::advisor);
        None
    }

    /// Tries the remaining pieces of a set; `look` returns the kind of the piece on a point and the
    /// points it attacks.
    #[inline(always)]
    fn try_set<C: Coder>(
        &self,
        coder: &mut C,
        slots: &mut Slots,
        known: Option<Move>,
        candidates: &mut Candidates,
        set: Bitboard,
        look: impl Fn(Square) -> (PieceKind, Bitboard),
    ) -> Option<Square> {
        let set = candidates.able & set;
        candidates.able ^= set;
        for square in set {
            if candidates.left == 1 {
                return Some(square);
            }
            let (kind, attacks) = look(square);
            let (context, tempting) = self.piece_context(square, kind, attacks & self.enemy);
            let index = PIECE + (context << 3 | usize::from(candidates.better) << 2 | crowd(candidates.left));
            if coder.bit(slots, index, known.is_some_and(|mv| mv.from() == square)) {
                return Some(square);
            }
            candidates.better |= tempting;
            candidates.left -= 1;
        }
        None
    }

    /// The context of a piece in nine bits, and whether it has a capture worth trying it first for.
    #[inline(always)]
    fn piece_context(&self, square: Square, kind: PieceKind, prey: Bitboard) -> (usize, bool) {
        let retakes = prey.intersects(self.retaken);
        // The most valuable piece it attacks: 3 for a chariot, 2 for a horse or a cannon, 1 for any
        // other.
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
        self.position.piece_at(square).expect("only points with pieces are tried")
    }

    #[inline]
    fn kind(&self, square: Square) -> PieceKind {
        self.piece(square).kind()
    }

    /// The pseudo-legal targets of a piece.
    #[inline]
    fn reach(&self, square: Square, kind: PieceKind) -> Bitboard {
        let piece = Piece::new(self.position.turn(), kind);
        let mut reach = attacks::captures(piece, square, self.occupied) - self.own;
        if kind == PieceKind::Cannon {
            // A cannon captures and moves to different points.
            reach = (reach & self.enemy) | (attacks::chariot(square, self.occupied) - self.occupied);
        }
        reach
    }
}

/// The points ahead of a point, for either side: those of the ranks ahead and half of its own.
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

/// The number of remaining candidates in four classes: up to 2, up to 4, up to 7, more.
#[inline]
const fn crowd(left: usize) -> usize {
    (left > 2) as usize + (left > 4) as usize + (left > 7) as usize
}

/// The direction: ahead, back, sideways, or diagonally ahead or back.
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
