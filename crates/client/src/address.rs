//! The coordinator's address.

use std::{fmt, str::FromStr};

use reqwest::Url;

/// The base URL of a server: `https://games.example.org`, with a port or a path prefix if needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress(Url);

/// The error for a text that is not a server's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseAddressError {
    /// It is something else.
    #[error("`{0}` is no address of a server, which looks like https://games.example.org")]
    NoAddress(String),
    /// It is a token. It is not repeated, nor looked up as a host.
    #[error("this is a token; the address of a server looks like https://games.example.org")]
    Token,
}

impl ServerAddress {
    /// Returns the URL of a path on the server.
    #[must_use]
    pub fn of(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Whether the server is this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let number = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || number.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }

    /// Whether the traffic, the token included, is readable in transit: plain HTTP to another
    /// machine.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.scheme() == "http" && !self.is_here()
    }
}

impl FromStr for ServerAddress {
    type Err = ParseAddressError;

    /// Parses an address. The default scheme is `https`, or `http` on this machine.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseAddressError::NoAddress(text.to_owned());
        if text.starts_with("chuhe_") {
            return Err(ParseAddressError::Token);
        }
        let guessed = !text.contains("://");
        let whole = if guessed { format!("https://{text}") } else { text.to_owned() };
        let mut url: Url = whole.parse().map_err(|_| bad())?;
        let plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.host_str().is_some_and(|host| !host.is_empty());
        if !plain || !matches!(url.scheme(), "http" | "https") {
            return Err(bad());
        }
        if guessed && Self(url.clone()).is_here() {
            url = whole.replacen("https", "http", 1).parse().map_err(|_| bad())?;
        }
        Ok(Self(url))
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, whole, here, open) in [
            ("https://a.example", "https://a.example", false, false),
            ("https://a.example:81/x/", "https://a.example:81/x", false, false),
            ("http://a.example", "http://a.example", false, true),
            ("a.example", "https://a.example", false, false),
            ("localhost:8080", "http://localhost:8080", true, false),
            ("127.0.0.3:80", "http://127.0.0.3", true, false),
            ("http://[::1]:8080/", "http://[::1]:8080", true, false),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            assert_eq!((address.to_string().as_str(), address.is_here(), address.is_open()), (whole, here, open));
            assert_eq!(address.of("/api"), format!("{whole}/api"));
        }
        for bad in ["", "ftp://a.example", "https://", "https://u:p@a.example", "https://a.example/?x", "a b"] {
            assert!(bad.parse::<ServerAddress>().is_err(), "{bad}");
        }
        assert_eq!("chuhe_abc-1".parse::<ServerAddress>(), Err(ParseAddressError::Token));
    }
}
