//! What the net is. The sizes are those that inference can run (`nnue::architecture`).

use serde::{Deserialize, Serialize};

use super::{RecipeError, table::Table};

/// What the net is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Architecture {
    /// What the net sees of a position.
    pub inputs: Inputs,
    /// The transformer's sums for each side: a multiple of 64 from 128 to 1,024.
    pub width: u32,
    /// The first layer's sums: a multiple of 8 from 8 to 32.
    pub first: u32,
    /// The second layer's sums: a multiple of 8 from 8 to 64.
    pub second: u32,
    /// How many stacks of layers there are, of which the material chooses one: 1 to 16.
    pub stacks: u32,
    /// How the transformer's sums become inputs of the first layer.
    pub activation: Activation,
    /// Whether what a piece on a point is worth wherever the king stands, and whatever attackers are left, is learned in
    /// rows of its own, which are added to the others when the net is exported. Rare places then learn from common ones.
    pub factorised: bool,
    /// What the piece-square head begins as.
    pub head: Head,
}

/// What a net sees of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// Which piece stands where, by the place of the own king.
    #[default]
    Kings,
    /// The same, told apart also by which attackers (chariots; horses or cannons) are left.
    KingsAttackers,
}

/// How the transformer's sums become inputs of the first layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Clipped and multiplied in pairs, which is what inference runs.
    Pairs,
}

/// What the piece-square head of a new net begins as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// The usual values of the pieces: the net has to learn only what they do not say.
    PieceValues,
    /// Nothing.
    Zero,
}

impl Inputs {
    /// Whether they are those of the first nets, of which a manifest says nothing.
    pub(crate) const fn are_kings(&self) -> bool {
        matches!(self, Self::Kings)
    }
}

impl Default for Architecture {
    fn default() -> Self {
        Self {
            inputs: Inputs::Kings,
            width: 256,
            first: 16,
            second: 32,
            stacks: 8,
            activation: Activation::Pairs,
            factorised: true,
            head: Head::PieceValues,
        }
    }
}

impl Architecture {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, RecipeError> {
        table.only(&["inputs", "width", "first", "second", "stacks", "activation", "factorised", "head"])?;
        let default = Self::default();
        let inputs = [("kings", Inputs::Kings), ("kings-attackers", Inputs::KingsAttackers)];
        let heads = [("piece-values", Head::PieceValues), ("zero", Head::Zero)];
        Ok(Self {
            inputs: table.word("inputs", &inputs)?.unwrap_or(default.inputs),
            width: table.multiple("width", 64, 128..=1024)?.unwrap_or(default.width),
            first: table.multiple("first", 8, 8..=32)?.unwrap_or(default.first),
            second: table.multiple("second", 8, 8..=64)?.unwrap_or(default.second),
            stacks: table.whole("stacks", 1..=16)?.unwrap_or(default.stacks),
            activation: table.word("activation", &[("pairs", Activation::Pairs)])?.unwrap_or(default.activation),
            factorised: table.flag("factorised")?.unwrap_or(default.factorised),
            head: table.word("head", &heads)?.unwrap_or(default.head),
        })
    }
}
