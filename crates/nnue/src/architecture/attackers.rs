//! What a side has left to attack with.

use xiangqi::{Color, Piece, PieceKind, Position};

/// Whether a side has a chariot, and whether it has a horse or a cannon: what a piece is worth, and where it belongs,
/// hangs on that more than on most else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attackers(u8);

impl Attackers {
    /// How many there can be: none, a chariot, a horse or a cannon, both.
    pub const COUNT: usize = 4;

    /// All, in the order of [`index`](Self::index).
    pub const ALL: [Self; Self::COUNT] = [Self(0), Self(1), Self(2), Self(3)];

    const CHARIOT: u8 = 1;
    const HORSE_OR_CANNON: u8 = 2;

    /// What `side` has in this position.
    #[must_use]
    pub fn of(position: &Position, side: Color) -> Self {
        Self::counted(|kind| position.pieces(side, kind).count())
    }

    /// What the owner of these pieces has.
    #[must_use]
    pub fn of_pieces(pieces: impl IntoIterator<Item = PieceKind>) -> Self {
        Self(pieces.into_iter().fold(0, |bits, kind| bits | Self::bit(kind)))
    }

    /// What the owner of a piece has once it is captured; in this position it still stands.
    #[must_use]
    pub fn after_capture(position: &Position, captured: Piece) -> Self {
        Self::counted(|kind| position.pieces(captured.color(), kind).count() - u32::from(kind == captured.kind()))
    }

    /// The place in tables, below [`Attackers::COUNT`].
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether a piece of this kind can be there: one that is told apart and is missing cannot.
    #[must_use]
    pub const fn allow(self, kind: PieceKind) -> bool {
        let bit = Self::bit(kind);
        self.0 & bit == bit
    }

    /// Whether pieces of a kind are told apart.
    #[must_use]
    #[inline]
    pub const fn count_among(kind: PieceKind) -> bool {
        Self::bit(kind) != 0
    }

    fn counted(count: impl Fn(PieceKind) -> u32) -> Self {
        let chariots = count(PieceKind::Chariot);
        let others = count(PieceKind::Horse) + count(PieceKind::Cannon);
        let bit = |there: bool, bit: u8| if there { bit } else { 0 };
        Self(bit(chariots > 0, Self::CHARIOT) | bit(others > 0, Self::HORSE_OR_CANNON))
    }

    const fn bit(kind: PieceKind) -> u8 {
        match kind {
            PieceKind::Chariot => Self::CHARIOT,
            PieceKind::Horse | PieceKind::Cannon => Self::HORSE_OR_CANNON,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attackers_are_told_apart() {
        let of = |fen: &str| Color::ALL.map(|side| Attackers::of(&Position::from_fen(fen).unwrap(), side).index());
        assert_eq!(of(Position::START_FEN), [3, 3]);
        assert_eq!(of("3akab2/9/9/9/9/9/P8/9/9/3K5 w"), [0, 0]);
        assert_eq!(of("3akab2/9/9/9/9/9/9/9/9/R2K5 w"), [1, 0]);
        assert_eq!(of("3akabn1/9/9/9/9/9/9/9/9/RC1K5 w"), [3, 2]);
    }

    #[test]
    fn what_is_left_is_what_stands_there_afterwards() {
        let mut state = 1_u64;
        let mut lost = 0;
        for _ in 0..200 {
            let mut position = Position::start();
            for _ in 0..200 {
                let moves = position.legal_moves();
                let captures: Vec<_> = moves.iter().filter(|mv| position.piece_at(mv.to()).is_some()).collect();
                let Some(mv) = captures.first().copied().or(moves.iter().next()).copied() else { break };
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let drawn = (state >> 33) as usize;
                let mv = if drawn.is_multiple_of(3) { mv } else { moves[drawn % moves.len()] };
                let Some(captured) = position.piece_at(mv.to()) else {
                    let _ = position.make(mv);
                    continue;
                };
                let (before, said) =
                    (Attackers::of(&position, captured.color()), Attackers::after_capture(&position, captured));
                let _ = position.make(mv);
                assert_eq!(said, Attackers::of(&position, captured.color()), "{position}");
                assert!(said == before || Attackers::count_among(captured.kind()));
                lost += usize::from(said != before);
                let kinds = position.occupied().into_iter().filter_map(|square| position.piece_at(square));
                let kinds = kinds.filter(|piece| piece.color() == captured.color()).map(Piece::kind);
                assert_eq!(Attackers::of_pieces(kinds), said);
                assert!(
                    PieceKind::ALL
                        .into_iter()
                        .all(|kind| { said.allow(kind) || position.pieces(captured.color(), kind).is_empty() })
                );
            }
        }
        assert!(lost > 100, "{lost}");
    }
}
