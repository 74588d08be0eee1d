//! The sizes of a net: properties of its file, not of the build.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{
    ACTIVATION_ONE, Inputs, OUTPUT_ONE, PAIR_SHIFT, SQUARE_SHIFT, SUM_LIMIT, TRANSFORMER_ONE, WEIGHT_ONE, stacks::FORCE,
};

/// The inputs and layer sizes of a net. Only sizes that the kernels support are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    inputs: Inputs,
    width: u16,
    first: u16,
    second: u16,
    stacks: u16,
}

/// An invalid size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {found}; it must be a multiple of {step} from {min} to {max}")]
pub struct SizesError {
    /// The name of the size.
    pub name: &'static str,
    /// The rejected value.
    pub found: usize,
    /// The number that must divide the value.
    pub step: usize,
    /// The minimum, inclusive.
    pub min: usize,
    /// The maximum, inclusive.
    pub max: usize,
}

impl Sizes {
    /// Creates sizes with [`Inputs::Kings`].
    ///
    /// # Errors
    ///
    /// If a size is out of its range:
    ///
    /// * `width`: a multiple of 64 from 128 to 1,024,
    /// * `first`: a multiple of 8 from 8 to 32,
    /// * `second`: a multiple of 8 from 8 to 64,
    /// * `stacks`: 1 to 16.
    pub fn new(width: usize, first: usize, second: usize, stacks: usize) -> Result<Self, SizesError> {
        let check = |name, found: usize, step, min, max| {
            if found.is_multiple_of(step) && (min..=max).contains(&found) {
                Ok(found as u16)
            } else {
                Err(SizesError { name, found, step, min, max })
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

    /// Replaces the inputs.
    #[must_use]
    pub const fn with_inputs(self, inputs: Inputs) -> Self {
        Self { inputs, ..self }
    }

    /// The feature set.
    #[must_use]
    pub const fn inputs(self) -> Inputs {
        self.inputs
    }

    /// The width of the transformer for each side.
    #[must_use]
    pub const fn width(self) -> usize {
        self.width as usize
    }

    /// The neurons of the first layer.
    #[must_use]
    pub const fn first(self) -> usize {
        self.first as usize
    }

    /// The neurons of the second layer.
    #[must_use]
    pub const fn second(self) -> usize {
        self.second as usize
    }

    /// The number of stacks.
    #[must_use]
    pub const fn stacks(self) -> usize {
        self.stacks as usize
    }

    /// Returns the architecture id: the start of the SHA-256 of the declaration. Nets with equal
    /// ids have parameters of equal meaning.
    #[must_use]
    pub fn architecture_id(self) -> u64 {
        let digest = Sha256::digest(self.declaration());
        u64::from_le_bytes(std::array::from_fn(|index| digest[index]))
    }

    /// The architecture in one line. It must change whenever the meaning of a parameter changes.
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
    fn sizes_outside_the_kernels_range_are_rejected() {
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
        let extended = Sizes::new(512, 16, 32, 8).unwrap().with_inputs(Inputs::KingsAttackers);
        assert_eq!(extended.with_inputs(Inputs::Kings), Sizes::new(512, 16, 32, 8).unwrap());
        // Net files carry the id, so it must not change by accident.
        assert_eq!(id(512, 16, 32, 8), 15495601572456471520);
    }
}
