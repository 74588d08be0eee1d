//! The overridden parameters of a player's search, as text.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::as_text;

/// The greatest length of the text, in bytes.
pub const MAX_OVERRIDES: usize = 4_096;

/// The parameters of a search that differ from their defaults: `name=value`, sorted by name, with
/// one blank between; empty for the defaults. The engine knows names and ranges. This type only
/// knows the form, so that equal sets have equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(String);

/// The error for a text that is not the canonical form of overrides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameters are `name=value`, sorted by name, with one blank between, at most {MAX_OVERRIDES} bytes")]
pub struct ParseOverridesError;

impl Overrides {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether all parameters have their defaults.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for Overrides {
    type Err = ParseOverridesError;

    fn from_str(text: &str) -> Result<Self, ParseOverridesError> {
        let mut last = "";
        for word in text.split(' ').filter(|_| !text.is_empty()) {
            let (name, value) = word.split_once('=').ok_or(ParseOverridesError)?;
            let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            let canonical = value.parse::<i32>().is_ok_and(|number| number.to_string() == value);
            if !plain || !canonical || name <= last {
                return Err(ParseOverridesError);
            }
            last = name;
        }
        if text.len() > MAX_OVERRIDES { Err(ParseOverridesError) } else { Ok(Self(text.to_owned())) }
    }
}

impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Overrides {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_text::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Overrides {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        as_text::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_form_is_read() {
        for good in ["", "a=1", "a=-1 b_2=0"] {
            assert_eq!(good.parse::<Overrides>().unwrap().as_str(), good);
        }
        for bad in
            ["a", "=1", "a=", "a=1 ", " a=1", "a=1  b=2", "b=1 a=2", "a=1 a=2", "a=01", "a=+1", "A=1", "a=1\nb=2"]
        {
            assert_eq!(bad.parse::<Overrides>(), Err(ParseOverridesError), "{bad}");
        }
        let long = format!("{}=1", "a".repeat(MAX_OVERRIDES));
        assert_eq!(long.parse::<Overrides>(), Err(ParseOverridesError));
    }
}
