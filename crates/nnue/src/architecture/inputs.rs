//! What a net sees: which inputs there are, and which are on.

use std::{fmt, str::FromStr};

use xiangqi::{Color, Position};

use super::{Attackers, KING_PLACES, PIECE_POINTS, View};

/// What a net tells apart. An input says that a piece stands on a point, in one of so many *buckets*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inputs {
    /// A bucket is a place of the own king.
    #[default]
    Kings,
    /// A bucket is a place of the own king and what the own side has left to attack with ([`Attackers`]).
    KingsAttackers,
}

/// A name that no inputs have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` are no inputs; there are kings and kings-attackers")]
pub struct ParseInputsError(String);

impl Inputs {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Kings, Self::KingsAttackers];

    /// Their name in recipes and on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kings => "kings",
            Self::KingsAttackers => "kings-attackers",
        }
    }

    /// How many buckets there are.
    #[must_use]
    pub const fn buckets(self) -> usize {
        match self {
            Self::Kings => KING_PLACES,
            Self::KingsAttackers => Attackers::COUNT * KING_PLACES,
        }
    }

    /// How many inputs there are.
    #[must_use]
    pub const fn count(self) -> usize {
        self.buckets() * PIECE_POINTS
    }

    /// How many views a side can have.
    #[must_use]
    pub const fn views(self) -> usize {
        2 * self.buckets()
    }

    /// Whether attackers are told apart.
    #[must_use]
    #[inline]
    pub const fn tell_attackers(self) -> bool {
        matches!(self, Self::KingsAttackers)
    }

    /// The attackers that are left in a bucket, where they are told apart.
    #[must_use]
    pub fn attackers_in(self, bucket: usize) -> Option<Attackers> {
        self.tell_attackers().then(|| Attackers::ALL[bucket / KING_PLACES])
    }

    /// How `side` sees this position.
    #[must_use]
    #[inline]
    pub fn view(self, position: &Position, side: Color) -> View {
        let view = View::from_kings(side, position.king(side), position.king(!side));
        if self.tell_attackers() { view.with_attackers(Attackers::of(position, side)) } else { view }
    }

    /// The inputs that are on in a position from a side's view.
    pub fn active(self, position: &Position, side: Color) -> impl Iterator<Item = usize> + '_ {
        let view = self.view(position, side);
        let input = move |square| Some(view.input(side, position.piece_at(square)?, square));
        position.occupied().into_iter().filter_map(input)
    }

    /// The inputs in the architecture's declaration.
    pub(super) fn declaration(self) -> String {
        let inputs = format!("{KING_PLACES} mirrored king buckets x {PIECE_POINTS}");
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
                let (plain, told) = (Inputs::Kings.view(&position, side), Inputs::KingsAttackers.view(&position, side));
                assert_eq!(told.bucket(), attackers * KING_PLACES + plain.bucket(), "{fen}");
                assert_eq!(told.is_mirrored(), plain.is_mirrored());
                assert_eq!(told.index(), attackers * Inputs::Kings.views() + plain.index());
                let bucket = Inputs::KingsAttackers.attackers_in(told.bucket()).map(Attackers::index);
                assert_eq!((bucket, Inputs::Kings.attackers_in(plain.bucket())), (Some(attackers), None));
                let shift = attackers * Inputs::Kings.count();
                let expected: Vec<_> = Inputs::Kings.active(&position, side).map(|input| input + shift).collect();
                assert_eq!(Inputs::KingsAttackers.active(&position, side).collect::<Vec<_>>(), expected);
            }
        }
    }
}
