//! Legal move generation.

use std::ops::ControlFlow;

use super::Position;
use crate::{Bitboard, Checks, Color, Move, MoveList, Piece, PieceKind, Square, attacks};

impl Position {
    /// The legal moves in a reproducible order: by kind, then origin, then target.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.list_legal_moves(&mut moves);
        moves
    }

    /// [`legal_moves`](Self::legal_moves) into an existing list.
    pub fn list_legal_moves(&self, moves: &mut MoveList) {
        self.list_moves_to(Bitboard::ALL, moves);
    }

    /// The legal captures.
    #[must_use]
    pub fn captures(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.list_captures(&mut moves);
        moves
    }

    /// [`captures`](Self::captures) into an existing list.
    pub fn list_captures(&self, moves: &mut MoveList) {
        self.list_moves_to(self.by_color(!self.turn), moves);
    }

    /// The legal moves without a capture.
    #[must_use]
    pub fn quiets(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.list_quiets(&mut moves);
        moves
    }

    /// [`quiets`](Self::quiets) into an existing list.
    pub fn list_quiets(&self, moves: &mut MoveList) {
        self.list_moves_to(!self.occupied(), moves);
    }

    /// The legal moves without a capture that give check, into an existing list.
    pub fn list_quiet_checks(&self, checks: &Checks, moves: &mut MoveList) {
        moves.clear();
        let _ = self.visit_legal(!self.occupied(), |from, targets| {
            let legal = (targets & checks.candidates(from, self)).into_iter().map(|to| Move::new(from, to));
            moves.extend(legal.filter(|mv| checks.given_by(*mv, self)));
            ControlFlow::Continue(())
        });
    }

    #[inline]
    fn list_moves_to(&self, wanted: Bitboard, moves: &mut MoveList) {
        moves.clear();
        let _ = self.visit_legal(wanted, |from, targets| {
            targets.into_iter().for_each(|to| moves.push(Move::new(from, to)));
            ControlFlow::Continue(())
        });
    }

    /// The number of legal moves, without listing them.
    #[must_use]
    pub fn count_legal_moves(&self) -> usize {
        let mut count = 0;
        let _ = self.visit_legal(Bitboard::ALL, |_, targets| {
            count += targets.count() as usize;
            ControlFlow::Continue(())
        });
        count
    }

    /// Whether there is a legal move. If not, the side to move has lost.
    #[must_use]
    #[inline]
    pub fn has_legal_move(&self) -> bool {
        self.has_obvious_move()
            || self
                .visit_legal(Bitboard::ALL, |_, targets| {
                    if targets.any() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .is_break()
    }

    /// Whether a pawn, chariot or cannon can step ahead, or a chariot or cannon back, between
    /// points that do not matter to the king's safety.
    ///
    /// A fast path: true in nearly all positions without check, and then the king's safety need not
    /// be computed. False proves nothing.
    #[inline]
    pub(crate) fn has_obvious_move(&self) -> bool {
        if self.in_check() {
            return false;
        }
        let outside_zone = !attacks::king_zone(self.king(self.turn));
        let lines = self.by_kind(PieceKind::Chariot) | self.by_kind(PieceKind::Cannon);
        let movers = self.by_color(self.turn) & outside_zone;
        let free = outside_zone - self.occupied();
        attacks::ahead(self.turn, movers & (lines | self.by_kind(PieceKind::Pawn))).intersects(free)
            || attacks::ahead(!self.turn, movers & lines).intersects(free)
    }

    /// Whether a move is legal here.
    #[must_use]
    pub fn is_legal(&self, mv: Move) -> bool {
        self.piece_at(mv.from()).is_some_and(|piece| piece.color() == self.turn)
            && self.is_pseudo_legal(mv)
            && self.keeps_king_safe(mv)
    }

    /// Whether a move of either side is pseudo-legal: possible if the mover's king is ignored.
    #[inline]
    pub(crate) fn is_pseudo_legal(&self, mv: Move) -> bool {
        let Some(piece) = self.piece_at(mv.from()) else { return false };
        self.pseudo_legal_targets(piece, mv.from()).contains(mv.to())
    }

    /// The pseudo-legal targets of a piece.
    #[inline]
    fn pseudo_legal_targets(&self, piece: Piece, from: Square) -> Bitboard {
        let occupied = self.occupied();
        let reached = match piece.kind() {
            PieceKind::Cannon => {
                (attacks::chariot(from, occupied) - occupied) | (attacks::cannon(from, occupied) & occupied)
            }
            _ => attacks::captures(piece, from, occupied),
        };
        reached - self.by_color(piece.color())
    }

    /// Calls `visit` with each piece of the side to move and its legal targets among `wanted`,
    /// until it breaks.
    #[inline(always)]
    fn visit_legal(
        &self,
        wanted: Bitboard,
        mut visit: impl FnMut(Square, Bitboard) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let color = self.turn;
        let own = self.by_color(color);
        let enemies = self.by_color(!color);
        let occupied = own | enemies;
        let wanted = wanted - own;
        let safety = self.safety(color);

        for from in own & self.by_kind(PieceKind::Chariot) {
            visit(from, attacks::chariot(from, occupied) & wanted & safety.targets(from))?;
        }
        for from in own & self.by_kind(PieceKind::Horse) {
            visit(from, attacks::horse(from, occupied) & wanted & safety.targets(from))?;
        }
        for from in own & self.by_kind(PieceKind::Cannon) {
            let quiet = attacks::chariot(from, occupied) - occupied;
            let captures = attacks::cannon(from, occupied) & enemies;
            visit(from, (quiet | captures) & wanted & safety.targets(from))?;
        }
        for from in own & self.by_kind(PieceKind::Pawn) {
            visit(from, attacks::pawn(color, from) & wanted & safety.targets(from))?;
        }
        for from in own & self.by_kind(PieceKind::Advisor) {
            visit(from, attacks::advisor(from) & wanted & safety.targets(from))?;
        }
        for from in own & self.by_kind(PieceKind::Elephant) {
            visit(from, attacks::elephant(from, occupied) & wanted & safety.targets(from))?;
        }
        visit(self.king(color), self.king_targets(color, wanted))
    }

    /// The legal targets of a king. He is removed from the occupancy, so that sliders see through
    /// his origin.
    #[inline]
    fn king_targets(&self, color: Color, wanted: Bitboard) -> Bitboard {
        let from = self.king(color);
        let enemies = self.by_color(!color);
        let without_king = self.occupied().without(from);
        let mut targets = attacks::king(from) & wanted;
        for to in targets {
            let attackers = self.attackers_in_palace(to, color, without_king.with(to), enemies.without(to));
            if attackers.any() {
                targets = targets.without(to);
            }
        }
        targets
    }

    /// Calls `visit` with each of `pieces`, its point, and its legal captures among `victims`, as
    /// if it were `color`'s turn. Pieces without such captures are skipped.
    pub(crate) fn visit_captures(
        &self,
        color: Color,
        pieces: Bitboard,
        victims: Bitboard,
        mut visit: impl FnMut(Piece, Square, Bitboard),
    ) {
        let safety = self.safety(color);
        for from in pieces {
            let Some(piece) = self.piece_at(from) else { continue };
            let targets = match piece.kind() {
                PieceKind::King => self.king_targets(color, victims),
                _ => attacks::captures(piece, from, self.occupied()) & victims & safety.targets(from),
            };
            if targets.any() {
                visit(piece, from, targets);
            }
        }
    }
}
