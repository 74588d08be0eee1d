//! The attacking pieces left to a side.

use xiangqi::{Color, Piece, PieceKind, Position};

/// Whether a side has a chariot, and whether it has a horse or a cannon. The value and the best
/// places of the other pieces depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attackers(u8);

impl Attackers {
    /// The number of values: none, chariot, horse or cannon, both.
    pub const COUNT: usize = 4;

    /// All values, in the order of [`index`](Self::index).
    pub const ALL: [Self; Self::COUNT] = [Self(0), Self(1), Self(2), Self(3)];

    const CHARIOT: u8 = 1;
    const HORSE_OR_CANNON: u8 = 2;

    /// Returns the attackers of `side` in a position.
    #[must_use]
    pub fn of(position: &Position, side: Color) -> Self {
        Self::counted(|kind| position.pieces(side, kind).count())
    }

    /// Returns the attackers among these pieces of a side.
    #[must_use]
    pub fn of_pieces(pieces: impl IntoIterator<Item = PieceKind>) -> Self {
        Self(pieces.into_iter().fold(0, |bits, kind| bits | Self::bit(kind)))
    }

    /// Returns the owner's attackers after a capture; `position` is the one before it.
    #[must_use]
    pub fn after_capture(position: &Position, captured: Piece) -> Self {
        Self::counted(|kind| position.pieces(captured.color(), kind).count() - u32::from(kind == captured.kind()))
    }

    /// The index in tables, below [`Attackers::COUNT`].
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether the side can have a piece of this kind.
    #[must_use]
    pub const fn allow(self, kind: PieceKind) -> bool {
        let bit = Self::bit(kind);
        self.0 & bit == bit
    }

    /// Whether a kind is an attacker.
    #[must_use]
    #[inline]
    pub const fn is_attacker(kind: PieceKind) -> bool {
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
    fn attackers_are_found() {
        let of = |fen: &str| Color::ALL.map(|side| Attackers::of(&Position::from_fen(fen).unwrap(), side).index());
        assert_eq!(of(Position::START_FEN), [3, 3]);
        assert_eq!(of("3akab2/9/9/9/9/9/P8/9/9/3K5 w"), [0, 0]);
        assert_eq!(of("3akab2/9/9/9/9/9/9/9/9/R2K5 w"), [1, 0]);
        assert_eq!(of("3akabn1/9/9/9/9/9/9/9/9/RC1K5 w"), [3, 2]);
    }

    #[test]
    fn attackers_after_a_capture_are_those_of_the_next_position() {
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
                let (before, predicted) =
                    (Attackers::of(&position, captured.color()), Attackers::after_capture(&position, captured));
                let _ = position.make(mv);
                assert_eq!(predicted, Attackers::of(&position, captured.color()), "{position}");
                assert!(predicted == before || Attackers::is_attacker(captured.kind()));
                lost += usize::from(predicted != before);
                let kinds = position.occupied().into_iter().filter_map(|square| position.piece_at(square));
                let kinds = kinds.filter(|piece| piece.color() == captured.color()).map(Piece::kind);
                assert_eq!(Attackers::of_pieces(kinds), predicted);
                assert!(
                    PieceKind::ALL
                        .into_iter()
                        .all(|kind| { predicted.allow(kind) || position.pieces(captured.color(), kind).is_empty() })
                );
            }
        }
        assert!(lost > 100, "{lost}");
    }
}
