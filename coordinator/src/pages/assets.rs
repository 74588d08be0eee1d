//! Styles, scripts and pictures. They are part of the program, and their addresses have a piece of their hash, so that
//! they may be kept for ever.

use std::{io::Write as _, sync::LazyLock};

use axum::{
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use dataset::Digest;
use flate2::{Compression, write::GzEncoder};
use protocol::api::problem::Code;

use super::zipping;
use crate::http::answer::{Answer, Refusal};

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
    version: String,
    zipped: Vec<u8>,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    const STYLE: &str = "text/css; charset=utf-8";
    let files: [(&str, &str, &[u8]); 8] = [
        ("chuhe.css", STYLE, include_bytes!("../../assets/chuhe.css")),
        ("chuhe.js", SCRIPT, include_bytes!("../../assets/chuhe.js")),
        ("board.css", STYLE, include_bytes!("../../assets/board.css")),
        ("board.js", SCRIPT, include_bytes!("../../assets/board.js")),
        ("htmx.js", SCRIPT, include_bytes!("../../assets/htmx.min.js")),
        ("uplot.js", SCRIPT, include_bytes!("../../assets/uplot.min.js")),
        ("uplot.css", STYLE, include_bytes!("../../assets/uplot.min.css")),
        ("icon.svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")),
    ];
    files.into_iter().map(|(name, kind, bytes)| prepare(name, kind, bytes)).collect()
});

fn prepare(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Asset {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zipped = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    Asset { name, kind, bytes, version: Digest::of(bytes).to_string()[..12].to_owned(), zipped }
}

fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Where an asset is had.
pub(super) fn address(name: &str) -> String {
    find(name).map_or_else(String::new, |asset| format!("/assets/{}/{name}", asset.version))
}

/// Gives out an asset. One of another version was of another program: this one has no such thing.
pub(super) async fn asset(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Answer<Response> {
    let asset = find(&name).filter(|asset| asset.version == version);
    let asset = asset.ok_or_else(|| Refusal::new(Code::NotFound, "there is nothing at this address"))?;
    Ok(answer(asset, &headers))
}

/// Browsers ask for it unasked.
pub(super) async fn icon(headers: HeaderMap) -> Response {
    find("icon.svg").map_or_else(|| StatusCode::NOT_FOUND.into_response(), |icon| answer(icon, &headers))
}

fn answer(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let is_zipped = zipping::is_wanted(headers) && asset.zipped.len() < asset.bytes.len() && !asset.zipped.is_empty();
    let body = if is_zipped { asset.zipped.as_slice() } else { asset.bytes };
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
