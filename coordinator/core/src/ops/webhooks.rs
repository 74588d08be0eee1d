//! Operations on webhooks.

mod add;
mod deliver;
mod remove;

pub use add::{AddWebhook, DEFAULT_KINDS, KINDS};
pub use deliver::{ClaimDeliveries, RecordAttempt};
pub use remove::RemoveWebhook;

use reqwest::Url;

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
