//! Styles, scripts and pictures. They are part of the program; a piece of their hash is in their
//! address, so that they are cached without limit.

use std::{borrow::Cow, io::Write as _, sync::LazyLock};

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use dataset::Digest;
use flate2::{Compression, write::GzEncoder};

use super::zipping;
use coordinator_core::model::Refusal;

use crate::answer::{ApiResult, Path};

/// A file with its compressed form.
pub(super) struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: Cow<'static, [u8]>,
    version: String,
    zipped: Vec<u8>,
}

pub(super) const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    const STYLE: &str = "text/css; charset=utf-8";
    let files: [(&str, &str, &'static [u8]); 10] = [
        ("chuhe.css", STYLE, include_bytes!("../../assets/chuhe.css")),
        ("chuhe.js", SCRIPT, include_bytes!("../../assets/chuhe.js")),
        ("analysis.js", SCRIPT, include_bytes!("../../assets/analysis.js")),
        ("play.js", SCRIPT, include_bytes!("../../assets/play.js")),
        ("board.css", STYLE, board::STYLE.as_bytes()),
        ("board.js", SCRIPT, include_bytes!("../../assets/board.js")),
        ("htmx.js", SCRIPT, include_bytes!("../../assets/htmx.min.js")),
        ("uplot.js", SCRIPT, include_bytes!("../../assets/uplot.min.js")),
        ("uplot.css", STYLE, include_bytes!("../../assets/uplot.min.css")),
        ("icon.svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")),
    ];
    files.into_iter().map(|(name, kind, bytes)| Asset::new(name, kind, bytes.into())).collect()
});

impl Asset {
    pub(super) fn new(name: &'static str, kind: &'static str, bytes: Cow<'static, [u8]>) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let zipped = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
        Self { name, kind, version: Digest::of(&bytes).to_string()[..12].to_owned(), bytes, zipped }
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// A piece of the content's hash.
    pub(super) fn version(&self) -> &str {
        &self.version
    }
}

fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// The address of an asset.
pub(super) fn address(name: &str) -> String {
    find(name).map_or_else(String::new, |asset| format!("/assets/{}/{name}", asset.version))
}

/// Serves an asset. Another version belongs to another build: not found.
pub(super) async fn asset(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> ApiResult<Response> {
    let asset = find(&name).filter(|asset| asset.version == version);
    let asset = asset.ok_or(Refusal::NoAddress)?;
    Ok(respond(asset, &headers))
}

/// Browsers request it on their own.
pub(super) async fn icon(headers: HeaderMap) -> Response {
    find("icon.svg").map_or_else(|| StatusCode::NOT_FOUND.into_response(), |icon| respond(icon, &headers))
}

/// The response with a file, which never changes.
pub(super) fn respond(asset: &Asset, headers: &HeaderMap) -> Response {
    let is_zipped = zipping::is_wanted(headers) && asset.zipped.len() < asset.bytes.len() && !asset.zipped.is_empty();
    let body = if is_zipped { asset.zipped.clone() } else { asset.bytes.to_vec() };
    let mut response = (
        [
            (header::CONTENT_TYPE, asset.kind),
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
