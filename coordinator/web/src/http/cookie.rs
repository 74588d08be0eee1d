//! Cookies of requests.

use axum::http::{HeaderMap, header};

/// The session cookie.
pub(crate) const SESSION_COOKIE: &str = "chuhe_session";

/// The value of a request's cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, value)| *key == name && value.len() <= 100).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn cookies_are_found_by_their_whole_names() {
        let value = HeaderValue::from_static("a=1; chuhe_session=xyz; not_chuhe_session=2");
        let headers = HeaderMap::from_iter([(header::COOKIE, value)]);
        assert_eq!(cookie(&headers, SESSION_COOKIE), Some("xyz"));
        assert_eq!(cookie(&headers, "session"), None);
    }
}
