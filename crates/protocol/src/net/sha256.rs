//! SHA-256 hashes, which name files.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// A SHA-256, written as 64 hexadecimal digits in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Returns the hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Sha256 {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error for a text that is not a SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no SHA-256: 64 digits from 0 to 9 and a to f")]
pub struct ParseSha256Error(String);

impl FromStr for Sha256 {
    type Err = ParseSha256Error;

    fn from_str(text: &str) -> Result<Self, ParseSha256Error> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let parsed = || {
            let (pairs, rest) = text.as_bytes().as_chunks::<2>();
            let mut bytes = [0; 32];
            if pairs.len() != bytes.len() || !rest.is_empty() {
                return None;
            }
            for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
                *byte = digit(*high)? << 4 | digit(*low)?;
            }
            Some(Self(bytes))
        };
        parsed().ok_or_else(|| ParseSha256Error(text.to_owned()))
    }
}

impl TryFrom<String> for Sha256 {
    type Error = ParseSha256Error;

    fn try_from(text: String) -> Result<Self, ParseSha256Error> {
        text.parse()
    }
}

impl From<Sha256> for String {
    fn from(sha256: Sha256) -> Self {
        sha256.to_string()
    }
}
