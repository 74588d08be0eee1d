//! The lengths of a file's sections.

use super::{CHECKSUM_LENGTH, Version, error::Section};
use crate::architecture::Sizes;

/// Returns the sections of a file in order, with their lengths.
pub(super) fn sections(sizes: Sizes, description: usize) -> impl Iterator<Item = (Section, usize)> {
    let (inputs, width, first, second) = (sizes.inputs(), sizes.width(), sizes.first(), sizes.second());
    let stack = first * 4 + first * width + second * 4 + second * 2 * first + 4 + second * 2;
    [
        (Section::Header, Version::of(inputs).header_length()),
        (Section::Description, description),
        (Section::TransformerBiases, width * 2),
        (Section::TransformerWeights, inputs.count() * width * 2),
        (Section::Head, inputs.count() * sizes.stacks() * 4),
    ]
    .into_iter()
    .chain((0..sizes.stacks()).map(move |index| (Section::Stack(index), stack)))
    .chain([(Section::Checksum, CHECKSUM_LENGTH)])
}

/// Returns the length of a file.
pub(super) fn length(sizes: Sizes, description: usize) -> usize {
    sections(sizes, description).map(|(_, bytes)| bytes).sum()
}

/// Returns the section in which a file of `found` bytes is truncated.
pub(super) fn cut_section(sizes: Sizes, description: usize, found: usize) -> Option<Section> {
    let mut end = 0;
    sections(sizes, description).find_map(|(section, bytes)| {
        end += bytes;
        (found < end).then_some(section)
    })
}
