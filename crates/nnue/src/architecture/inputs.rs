//! The inputs (features) of a net.

use std::{fmt, str::FromStr};

use xiangqi::{Color, Position};

use super::{Attackers, KING_BUCKETS, PIECE_POINTS, View};

/// The feature set of a net. An input is a piece on a point in one of the *buckets*. *buckets*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inputs {
    /// Buckets are the places of the own king.
    #[default]
    Kings,
    /// Buckets are the places of the own king times the own side's [`Attackers`].
    KingsAttackers,
}

/// An unknown name of inputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` are no inputs; there are kings and kings-attackers")]
pub struct ParseInputsError(String);

impl Inputs {
    /// All feature sets.
    pub const ALL: [Self; 2] = [Self::Kings, Self::KingsAttackers];

    /// The name in recipes and on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kings => "kings",
            Self::KingsAttackers => "kings-attackers",
        }
    }

    /// The number of buckets.
    #[must_use]
    pub const fn buckets(self) -> usize {
        match self {
            Self::Kings => KING_BUCKETS,
            Self::KingsAttackers => Attackers::COUNT * KING_BUCKETS,
        }
    }

    /// The number of inputs.
    #[must_use]
    pub const fn count(self) -> usize {
        self.buckets() * PIECE_POINTS
    }

    /// The number of views of a side.
    #[must_use]
    pub const fn views(self) -> usize {
        2 * self.buckets()
    }

    /// Whether buckets depend on attackers.
    #[must_use]
    #[inline]
    pub const fn has_attackers(self) -> bool {
        matches!(self, Self::KingsAttackers)
    }

    /// The attackers of a bucket, if buckets depend on them.
    #[must_use]
    pub fn attackers_in(self, bucket: usize) -> Option<Attackers> {
        self.has_attackers().then(|| Attackers::ALL[bucket / KING_BUCKETS])
    }

    /// Returns the view of `side` in a position.
    #[must_use]
    #[inline]
    pub fn view(self, position: &Position, side: Color) -> View {
        let view = View::from_kings(side, position.king(side), position.king(!side));
        if self.has_attackers() { view.with_attackers(Attackers::of(position, side)) } else { view }
    }

    /// Returns the active inputs of a position from a side's view.
    pub fn active(self, position: &Position, side: Color) -> impl Iterator<Item = usize> + '_ {
        let view = self.view(position, side);
        let input = move |square| Some(view.input(side, position.piece_at(square)?, square));
        position.occupied().into_iter().filter_map(input)
    }

    /// Formats the inputs for the architecture's declaration.
    pub(super) fn declaration(self) -> String {
        let inputs = format!("{KING_BUCKETS} mirrored king buckets x {PIECE_POINTS}");
        match self {
            Self::Kings => format!("inputs {} = {inputs}", self.count()),
            Self::KingsAttackers => {
                let attackers = Attackers::COUNT;
                format!("inputs {} = {attackers} (own chariot, own horse or cannon) x {inputs}", self.count())
            }
        }
    }
}

impl fmt::Display for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Inputs {
    type Err = ParseInputsError;

    fn from_str(name: &str) -> Result<Self, ParseInputsError> {
        let named = Self::ALL.into_iter().find(|inputs| inputs.name() == name);
        named.ok_or_else(|| ParseInputsError(name.chars().take(40).collect()))
    }
}

const _: () = assert!(Inputs::KingsAttackers.count() <= u16::MAX as usize + 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_their_names() {
        for inputs in Inputs::ALL {
            assert_eq!(inputs.name().parse(), Ok(inputs));
        }
        let error = "queens".parse::<Inputs>().unwrap_err().to_string();
        assert_eq!(error, "`queens` are no inputs; there are kings and kings-attackers");
        assert_eq!(Inputs::ALL.map(Inputs::count), [4134, 16536]);
    }

    #[test]
    fn attackers_choose_among_the_kings_buckets() {
        let positions = [
            (Position::START_FEN, [3, 3]),
            ("3akab2/9/9/9/4c4/9/9/R8/9/3K5 b", [1, 2]),
            ("3k5/9/9/9/9/9/9/4n4/4R4/4K4 w", [1, 2]),
            ("3akab2/9/9/9/9/9/9/9/9/3K5 w", [0, 0]),
        ];
        for (fen, attackers) in positions {
            let position = Position::from_fen(fen).unwrap();
            for (side, attackers) in Color::ALL.into_iter().zip(attackers) {
                let (plain, extended) =
                    (Inputs::Kings.view(&position, side), Inputs::KingsAttackers.view(&position, side));
                assert_eq!(extended.bucket(), attackers * KING_BUCKETS + plain.bucket(), "{fen}");
                assert_eq!(extended.is_mirrored(), plain.is_mirrored());
                assert_eq!(extended.index(), attackers * Inputs::Kings.views() + plain.index());
                let bucket = Inputs::KingsAttackers.attackers_in(extended.bucket()).map(Attackers::index);
                assert_eq!((bucket, Inputs::Kings.attackers_in(plain.bucket())), (Some(attackers), None));
                let shift = attackers * Inputs::Kings.count();
                let expected: Vec<_> = Inputs::Kings.active(&position, side).map(|input| input + shift).collect();
                assert_eq!(Inputs::KingsAttackers.active(&position, side).collect::<Vec<_>>(), expected);
            }
        }
    }
}
