//! Compression of pages, to a quarter of their bytes.
//!
//! The length of a compressed page reveals repetitions (BREACH). A page that holds a CSRF token and
//! repeats input from its address is sent uncompressed, so that the secret cannot be guessed by
//! lengths.

use std::io::Write as _;

use axum::{
    body::{Body, HttpBody as _, to_bytes},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use flate2::{Compression, write::GzEncoder};

/// Shorter responses fit into one packet; longer ones are no pages.
const MIN_BYTES: u64 = 1 << 10;
const MAX_BYTES: u64 = 4 << 20;

/// Content negotiation: whether the browser accepts gzip.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let all = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f64>().ok());
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_some_and(|weight| weight > 0.0)
    })
}

/// Compresses a page; other responses stay as they are.
pub(crate) async fn zip(response: Response) -> Response {
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"text/html"));
    let length = response.body().size_hint().exact();
    if !is_page || !length.is_some_and(|length| (MIN_BYTES..MAX_BYTES).contains(&length)) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // The body is in memory already, with its exact length.
    let bytes = to_bytes(body, MAX_BYTES as usize).await.unwrap_or_default();
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    let zipped = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    match zipped {
        Ok(zipped) => {
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts.headers.remove(header::CONTENT_LENGTH);
            Response::from_parts(parts, Body::from(zipped))
        }
        Err(_) => Response::from_parts(parts, Body::from(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_negotiated() {
        let wants = |value: &'static str| {
            is_wanted(&[(header::ACCEPT_ENCODING, HeaderValue::from_static(value))].into_iter().collect())
        };
        assert!(wants("gzip") && wants("br, gzip") && wants("deflate, GZIP;q=0.5"));
        assert!(!wants("") && !wants("br") && !wants("gzip;q=0") && !wants("br, gzip; q=0.0") && !wants("xgzip"));
    }
}
