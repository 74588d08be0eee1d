//! The reader of net files.

use sha2::{Digest, Sha256};

use super::{CHECKSUM_LENGTH, INPUT_NUMBERS, MAGIC, NetError, SCALES, Version, error::Section, layout};
use crate::{
    NetHash, Parameters, StackParameters,
    architecture::{Inputs, Sizes},
};

impl Parameters {
    /// Parses a net file. [`Net::new`](crate::Net::new) proves that the sums fit.
    ///
    /// # Errors
    ///
    /// If the bytes are not exactly what [`Parameters::to_bytes`] writes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        read(bytes).map(|(parameters, _)| parameters)
    }
}

/// Parses a net file and computes its hash.
pub(crate) fn read(bytes: &[u8]) -> Result<(Parameters, NetHash), NetError> {
    let header = Header::read(bytes)?;
    let (sizes, description) = (header.sizes, header.description);
    let hash = verify_checksum(bytes)?;
    let start = Version::of(sizes.inputs()).header_length() + description.len();
    let mut rest = Reader { bytes: &bytes[start..] };
    let (inputs, width) = (sizes.inputs().count(), sizes.width());
    let (first, second) = (sizes.first(), sizes.second());
    let parameters = Parameters {
        sizes,
        description: description.to_owned(),
        transformer_bias: rest.numbers(width, i16::from_le_bytes),
        transformer: rest.numbers(inputs * width, i16::from_le_bytes),
        head: rest.numbers(inputs * sizes.stacks(), i32::from_le_bytes),
        stacks: std::iter::repeat_with(|| StackParameters {
            first_bias: rest.numbers(first, i32::from_le_bytes),
            first: rest.numbers(first * width, i8::from_le_bytes),
            second_bias: rest.numbers(second, i32::from_le_bytes),
            second: rest.numbers(second * 2 * first, i8::from_le_bytes),
            output_bias: i32::from_le_bytes(rest.take()),
            output: rest.numbers(second, i16::from_le_bytes),
        })
        .take(sizes.stacks())
        .collect(),
    };
    Ok((parameters, hash))
}

/// The header of a file whose length is right.
struct Header<'a> {
    sizes: Sizes,
    description: &'a str,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, NetError> {
        // A file truncated within the magic is still a net file.
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic.is_empty() || !MAGIC.starts_with(magic) {
            return Err(NetError::Foreign);
        }
        let found = bytes.len();
        let mut header = Reader { bytes: &bytes[magic.len()..] };
        let mut version = Version::One;
        if let Some(number) = bytes.get(MAGIC.len()..MAGIC.len() + 4) {
            let found = number.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
            let known = [Version::One, Version::Two].into_iter().find(|version| *version as u32 == found);
            version = known.ok_or(NetError::Version { found })?;
        }
        if found < version.header_length() {
            return Err(NetError::Truncated { section: Section::Header, expected: version.header_length(), found });
        }
        header.take::<4>();
        let id = u64::from_le_bytes(header.take());
        let [width, first, second, stacks] = std::array::from_fn(|_| usize::from(u16::from_le_bytes(header.take())));
        let inputs = match version {
            Version::One => Inputs::Kings,
            Version::Two => {
                let found = u16::from_le_bytes(header.take());
                let known = INPUT_NUMBERS.into_iter().find(|(number, _)| *number == found);
                known.ok_or(NetError::Inputs { found })?.1
            }
        };
        let sizes = Sizes::new(width, first, second, stacks).map_err(NetError::Sizes)?.with_inputs(inputs);
        for (name, expected) in SCALES {
            let found = i32::from_le_bytes(header.take());
            if found != expected {
                return Err(NetError::Scale { name, found, expected });
            }
        }
        let expected = sizes.architecture_id();
        if id != expected {
            return Err(NetError::Architecture { found: id, expected });
        }
        let length = usize::from(u16::from_le_bytes(header.take()));
        if length > Parameters::MAX_DESCRIPTION {
            return Err(NetError::LongDescription { found: length });
        }
        let expected = layout::length(sizes, length);
        if let Some(section) = layout::cut_section(sizes, length, found) {
            return Err(NetError::Truncated { section, expected, found });
        }
        if found > expected {
            return Err(NetError::TrailingBytes { expected, found });
        }
        let description = str::from_utf8(&header.bytes[..length])
            .map_err(|error| NetError::DescriptionNotUtf8 { at: error.valid_up_to() })?;
        Ok(Self { sizes, description })
    }
}

/// Verifies the checksum and returns the hash of the whole file.
fn verify_checksum(bytes: &[u8]) -> Result<NetHash, NetError> {
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM_LENGTH);
    let mut hasher = Sha256::new_with_prefix(content);
    let expected = first_u64(&hasher.clone().finalize());
    let found = first_u64(checksum);
    if found != expected {
        return Err(NetError::Checksum { expected, found });
    }
    hasher.update(checksum);
    Ok(NetHash::from(<[u8; 32]>::from(hasher.finalize())))
}

fn first_u64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| bytes[index]))
}

/// A reader of bytes whose length was checked.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.bytes.split_first_chunk().expect("the file's length was checked");
        self.bytes = rest;
        *taken
    }

    fn numbers<T, const N: usize>(&mut self, count: usize, from: fn([u8; N]) -> T) -> Vec<T> {
        let (taken, rest) = self.bytes.split_at(count * N);
        self.bytes = rest;
        taken.as_chunks().0.iter().map(|bytes| from(*bytes)).collect()
    }
}
