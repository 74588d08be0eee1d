//! The sizes of a net: properties of its file, not of the build.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{
    ACTIVATION_ONE, Inputs, OUTPUT_ONE, PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_ONE, stacks::FORCE,
};

/// What inputs a net has, and how wide its layers are. Only sizes that the kernels can run exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    inputs: Inputs,
    width: u16,
    first: u16,
    second: u16,
    stacks: u16,
}

/// A size that no net can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {found}; it must be a multiple of {step} from {least} to {most}")]
pub struct SizesError {
    /// Which size.
    pub name: &'static str,
    /// What it is.
    pub found: usize,
    /// What it must be a multiple of.
    pub step: usize,
    /// The smallest allowed.
    pub least: usize,
    /// The greatest allowed.
    pub most: usize,
}

impl Sizes {
    /// These sizes with [`Inputs::Kings`], if nets can have them.
    ///
    /// # Errors
    ///
    /// If `width` is no multiple of 64 from 128 to 1,024, `first` none of 8 from 8 to 32, `second` none of 8 from 8 to
    /// 64, or `stacks` not from 1 to 16.
    pub fn new(width: usize, first: usize, second: usize, stacks: usize) -> Result<Self, SizesError> {
        let check = |name, found: usize, step, least, most| {
            if found.is_multiple_of(step) && (least..=most).contains(&found) {
                Ok(found as u16)
            } else {
                Err(SizesError { name, found, step, least, most })
            }
        };
        Ok(Self {
            inputs: Inputs::Kings,
            width: check("the transformer's width", width, 64, 128, 1024)?,
            first: check("the first layer's size", first, 8, 8, 32)?,
            second: check("the second layer's size", second, 8, 8, 64)?,
            stacks: check("the number of stacks", stacks, 1, 1, 16)?,
        })
    }

    /// The same sizes with other inputs.
    #[must_use]
    pub const fn with_inputs(self, inputs: Inputs) -> Self {
        Self { inputs, ..self }
    }

    /// What the net tells apart.
    #[must_use]
    pub const fn inputs(self) -> Inputs {
        self.inputs
    }

    /// The transformer's sums for each side.
    #[must_use]
    pub const fn width(self) -> usize {
        self.width as usize
    }

    /// The first layer's sums.
    #[must_use]
    pub const fn first(self) -> usize {
        self.first as usize
    }

    /// The second layer's sums.
    #[must_use]
    pub const fn second(self) -> usize {
        self.second as usize
    }

    /// How many stacks of layers there are.
    #[must_use]
    pub const fn stacks(self) -> usize {
        self.stacks as usize
    }

    /// Names everything that must be the same for a net to mean the same: the start of the SHA-256 of the declaration
    /// and these sizes.
    #[must_use]
    pub fn architecture_id(self) -> u64 {
        let digest = Sha256::digest(self.declaration());
        u64::from_le_bytes(std::array::from_fn(|index| digest[index]))
    }

    /// The architecture in one line. Whatever changes the meaning of a net's numbers must change it.
    fn declaration(self) -> String {
        let Self { inputs, width, first, second, stacks } = self;
        format!(
            "{}; transformer i16 {width} per side, one {TRANSFORMER_ONE}; pairs >> {PAIR_SHIFT}; layer i8 {first}, one {ACTIVATION_ONE} x {WEIGHT_ONE}, squares \
             >> {SQUARE_SHIFT} and clipped, at most {SUM_LIMIT}; layer i8 {second}, clipped; output i16, one {OUTPUT_ONE}; \
             head i32, one {OUTPUT_ONE}; {stacks} stacks by force {FORCE:?}",
            inputs.declaration()
        )
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inputs, width, first, second, stacks } = self;
        write!(f, "{} → 2 × {width} → {first} → {second} → 1, {stacks} stacks", inputs.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_outside_the_kernels_range_do_not_exist() {
        assert!(Sizes::new(128, 8, 8, 1).is_ok());
        assert!(Sizes::new(1024, 32, 64, 16).is_ok());
        for (width, first, second, stacks) in [
            (64, 16, 32, 8),
            (1088, 16, 32, 8),
            (160, 16, 32, 8),
            (256, 0, 32, 8),
            (256, 12, 32, 8),
            (256, 40, 32, 8),
            (256, 16, 72, 8),
            (256, 16, 20, 8),
            (256, 16, 32, 0),
            (256, 16, 32, 17),
        ] {
            assert!(Sizes::new(width, first, second, stacks).is_err());
        }
        assert_eq!(
            Sizes::new(100, 16, 32, 8).unwrap_err().to_string(),
            "the transformer's width is 100; it must be a multiple of 64 from 128 to 1024"
        );
    }

    #[test]
    fn architectures_of_different_sizes_have_different_ids() {
        let id = |width, first, second, stacks| Sizes::new(width, first, second, stacks).unwrap().architecture_id();
        let ids = [id(128, 16, 32, 8), id(192, 16, 32, 8), id(128, 8, 32, 8), id(128, 16, 8, 8), id(128, 16, 32, 1)];
        for (index, one) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(one));
        }
        let told = Sizes::new(512, 16, 32, 8).unwrap().with_inputs(Inputs::KingsAttackers);
        assert_eq!(told.with_inputs(Inputs::Kings), Sizes::new(512, 16, 32, 8).unwrap());
        // Files carry it: it must not change by accident.
        assert_eq!(id(512, 16, 32, 8), 15495601572456471520);
    }
}
