//! Styles, scripts and pictures. They are part of the program; a piece of their hash is in their
//! address, so that they are cached without limit.

use std::sync::LazyLock;

use axum::{
    body::Bytes,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
};
use coordinator_core::model::Refusal;

use crate::{
    answer::{ApiResult, Path},
    file::{File, SCRIPT},
};

static ASSETS: LazyLock<Vec<File>> = LazyLock::new(|| {
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
    files.into_iter().map(|(name, kind, bytes)| File::new(name, kind, Bytes::from_static(bytes))).collect()
});

fn find(name: &str) -> Option<&'static File> {
    ASSETS.iter().find(|asset| asset.name() == name)
}

/// The address of an asset.
pub(super) fn address(name: &str) -> String {
    find(name).map_or_else(String::new, |asset| format!("/assets/{}/{name}", asset.version()))
}

/// Serves an asset. Another version belongs to another build: not found.
pub(super) async fn asset(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> ApiResult<Response> {
    let asset = find(&name).filter(|asset| asset.version() == version);
    let asset = asset.ok_or(Refusal::NoAddress)?;
    Ok(asset.respond(&headers))
}

/// Browsers request it on their own.
pub(super) async fn icon(headers: HeaderMap) -> Response {
    find("icon.svg").map_or_else(|| StatusCode::NOT_FOUND.into_response(), |icon| icon.respond(&headers))
}
