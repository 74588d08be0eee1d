//! A file that never changes at its address, with its compressed form.

use std::io::Write as _;

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use dataset::Digest;
use flate2::{Compression, write::GzEncoder};

use crate::zipping;

/// The type of scripts.
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file with its compressed form.
pub(crate) struct File {
    name: &'static str,
    kind: &'static str,
    bytes: Bytes,
    version: String,
    zipped: Bytes,
}

impl File {
    pub(crate) fn new(name: &'static str, kind: &'static str, bytes: Bytes) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let zipped = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
        let version = Digest::of(&bytes).to_string()[..12].to_owned();
        Self { name, kind, bytes, version, zipped: zipped.into() }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// A piece of the content's hash.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// The response with the file.
    pub(crate) fn respond(&self, headers: &HeaderMap) -> Response {
        let is_zipped = zipping::is_wanted(headers) && self.zipped.len() < self.bytes.len() && !self.zipped.is_empty();
        let body = if is_zipped { self.zipped.clone() } else { self.bytes.clone() };
        let mut response = (
            [
                (header::CONTENT_TYPE, self.kind),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
                (header::VARY, "Accept-Encoding"),
            ],
            body,
        )
            .into_response();
        if is_zipped {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}
