//! Webhooks: addresses to which events are posted.
//!
//! Transactional outbox: the transaction that records an event also inserts a delivery per address.
//! So deliveries survive restarts, and a rolled-back event is never sent. [`deliver`] posts those
//! that are due and retries all without a 2xx response, with exponential backoff, for some days.
//!
//! Delivery is at least once: a receiver recognises a repeated delivery by its number.

mod sender;

use reqwest::Url;

pub use sender::{Sender, deliver, serve, signature};

/// The origin of an address, for logs; the path may be secret.
pub(crate) fn origin(address: &str) -> String {
    Url::parse(address).map_or_else(|_| "an address".to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn logs_omit_the_path_of_an_address() {
        assert_eq!(origin("https://example.org:8443/hooks/secret?token=1"), "https://example.org:8443");
    }
}
