//! The writer of net files.

use sha2::{Digest, Sha256};

use super::{CHECKSUM_LENGTH, INPUT_NUMBERS, MAGIC, SCALES, Version, layout};
use crate::Parameters;

impl Parameters {
    /// Serialises the net file.
    ///
    /// # Panics
    ///
    /// If the length of an array does not match the sizes, or the description is too long.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        assert!(self.is_well_formed(), "the length of an array does not match the net's sizes");
        let sizes = self.sizes;
        let mut bytes = Vec::with_capacity(layout::length(sizes, self.description.len()));
        bytes.extend(MAGIC);
        bytes.extend((Version::of(sizes.inputs()) as u32).to_le_bytes());
        bytes.extend(sizes.architecture_id().to_le_bytes());
        for size in [sizes.width(), sizes.first(), sizes.second(), sizes.stacks()] {
            bytes.extend((size as u16).to_le_bytes());
        }
        let number = INPUT_NUMBERS.into_iter().find(|(_, inputs)| *inputs == sizes.inputs());
        bytes.extend(number.into_iter().flat_map(|(number, _)| number.to_le_bytes()));
        for (_, scale) in SCALES {
            bytes.extend(scale.to_le_bytes());
        }
        bytes.extend((self.description.len() as u16).to_le_bytes());
        bytes.extend(self.description.as_bytes());
        bytes.extend(self.transformer_bias.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(self.transformer.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(self.head.iter().flat_map(|number| number.to_le_bytes()));
        for stack in &self.stacks {
            bytes.extend(stack.first_bias.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(stack.first.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(stack.second_bias.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(stack.second.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(stack.output_bias.to_le_bytes());
            bytes.extend(stack.output.iter().flat_map(|number| number.to_le_bytes()));
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend(&digest[..CHECKSUM_LENGTH]);
        debug_assert_eq!(bytes.len(), layout::length(sizes, self.description.len()));
        bytes
    }
}
