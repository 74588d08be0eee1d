//! The identity of a net.

use std::{fmt, str::FromStr};

/// A net's identity: the SHA-256 of its file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NetHash([u8; 32]);

impl NetHash {
    /// The bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for NetHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for NetHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for NetHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An invalid hash text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a net's hash is 64 digits 0 to 9 and a to f")]
pub struct ParseNetHashError;

impl FromStr for NetHash {
    type Err = ParseNetHashError;

    /// Parses exactly the `Display` form: one net has one hash text.
    fn from_str(text: &str) -> Result<Self, ParseNetHashError> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(ParseNetHashError),
        };
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() {
            return Err(ParseNetHashError);
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let hash = NetHash(std::array::from_fn(|index| index as u8 * 8 + 1));
        let text = hash.to_string();
        assert!(text.starts_with("01091119"));
        assert_eq!(text.parse(), Ok(hash));
        for bad in ["", "01", &text.to_uppercase(), &text[1..], &format!("{text}0"), &text.replace("01", "é")] {
            assert_eq!(bad.parse::<NetHash>(), Err(ParseNetHashError));
        }
    }
}
