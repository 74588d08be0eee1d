//! Bearer tokens.

use std::{fmt, str::FromStr};

use reqwest::header::HeaderValue;

/// A token issued by the coordinator: a secret that no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The error for a text that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token is one word of letters, digits and signs, as the server's page shows it")]
pub struct ParseTokenError;

impl Token {
    /// The secret itself, to be kept where only its owner can read it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn header(&self) -> HeaderValue {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0)).expect("a token is visible ASCII");
        value.set_sensitive(true);
        value
    }
}

impl FromStr for Token {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let sound = (1..=512).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        sound.then(|| Self(text.to_owned())).ok_or(ParseTokenError)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_one_word_and_do_not_show() {
        let token: Token = " chuhe_abc-1 \n".parse().unwrap();
        assert_eq!(token.reveal(), "chuhe_abc-1");
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert!(!format!("{:?}", token.header()).contains("abc"));
        for bad in ["", "  ", "a b", "a\nb", "ä"] {
            assert_eq!(bad.parse::<Token>(), Err(ParseTokenError), "{bad}");
        }
    }
}
