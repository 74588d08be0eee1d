//! The architecture of the net. The sizes are those that inference supports (`nnue::architecture`).

use serde::{Deserialize, Serialize};

use super::{RecipeError, error::RecipeFault, table::Table};

/// The architecture of the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Architecture {
    /// The input features.
    pub inputs: Inputs,
    /// The width of the feature transformer, per side: a multiple of 64 from 128 to 1,024.
    pub width: u32,
    /// The width of the first layer: a multiple of 8 from 8 to 32.
    pub first: u32,
    /// The width of the second layer: a multiple of 8 from 8 to 64.
    pub second: u32,
    /// The number of layer stacks, selected by material: 1 to 16.
    pub stacks: u32,
    /// The activation after the transformer.
    pub activation: Activation,
    /// Feature factorisation: shared weights per piece and point, for all king buckets and
    /// attackers, that are added to the others on export. Rare features then learn from common
    /// ones.
    pub factorised: bool,
    /// The initial weights of the piece-square head.
    pub head: Head,
}

/// The input features of a net.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// Pieces and their points, in buckets by the own king's place.
    #[default]
    Kings,
    /// The same, in buckets also by the attackers left (chariots; horses or cannons).
    KingsAttackers,
}

/// The activation after the transformer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Clipped and multiplied in pairs, as inference does.
    #[default]
    Pairs,
    /// Clipped: the net is for Fairy-Stockfish, which has one shape for all nets.
    Clipped,
    /// As `Pairs`, and the last output of the first layer skips the layers above. The net is for
    /// Pikafish, which has one shape for all nets.
    PairsSkip,
}

/// An engine other than ours, whose nets all have one shape. An activation names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignEngine {
    /// The engine's name.
    pub name: &'static str,
    /// The recipe's word for the activation.
    pub activation: &'static str,
    /// The inputs, then the width, both layers and the stacks of its nets.
    shape: (Inputs, [u32; 4]),
    /// The same in a recipe's words.
    words: &'static str,
}

const FAIRY_STOCKFISH: ForeignEngine = ForeignEngine {
    name: "Fairy-Stockfish",
    activation: "clipped",
    shape: (Inputs::Kings, [512, 16, 32, 8]),
    words: "inputs = \"kings\", width = 512, first = 16, second = 32, stacks = 8",
};

const PIKAFISH: ForeignEngine = ForeignEngine {
    name: "Pikafish",
    activation: "pairs-skip",
    shape: (Inputs::KingsAttackers, [1_024, 16, 32, 16]),
    words: "inputs = \"kings-attackers\", width = 1024, first = 16, second = 32, stacks = 16",
};

/// The initial weights of a new net's piece-square head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// The usual piece values: the net has to learn only the rest.
    PieceValues,
    /// Zero.
    Zero,
}

impl Activation {
    /// Whether it is that of the engine's own nets, which a manifest omits.
    pub(crate) const fn is_own(&self) -> bool {
        matches!(self, Self::Pairs)
    }

    /// The engine that the net is for, if it is not ours.
    #[must_use]
    pub const fn foreign_engine(self) -> Option<ForeignEngine> {
        match self {
            Self::Pairs => None,
            Self::Clipped => Some(FAIRY_STOCKFISH),
            Self::PairsSkip => Some(PIKAFISH),
        }
    }
}

impl Inputs {
    /// Whether they are those of the first nets, which a manifest omits.
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
        let activations = [
            ("pairs", Activation::Pairs),
            (FAIRY_STOCKFISH.activation, Activation::Clipped),
            (PIKAFISH.activation, Activation::PairsSkip),
        ];
        let read = Self {
            inputs: table.word("inputs", &inputs)?.unwrap_or(default.inputs),
            width: table.multiple("width", 64, 128..=1024)?.unwrap_or(default.width),
            first: table.multiple("first", 8, 8..=32)?.unwrap_or(default.first),
            second: table.multiple("second", 8, 8..=64)?.unwrap_or(default.second),
            stacks: table.whole("stacks", 1..=16)?.unwrap_or(default.stacks),
            activation: table.word("activation", &activations)?.unwrap_or(default.activation),
            factorised: table.flag("factorised")?.unwrap_or(default.factorised),
            head: table.word("head", &heads)?.unwrap_or(default.head),
        };
        let Self { inputs, width, first, second, stacks, .. } = read;
        if let Some(engine) = read.activation.foreign_engine()
            && (inputs, [width, first, second, stacks]) != engine.shape
        {
            let what = format!("the activation `{}`, that of {},", engine.activation, engine.name);
            return Err(table.error("activation", RecipeFault::Needs { what, needed: engine.words.to_owned() }));
        }
        Ok(read)
    }
}
