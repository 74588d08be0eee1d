//! The engine as WebAssembly with its scripts: visitors analyse positions, and play games as
//! volunteers. The files import each other, so they share one address, which changes with them.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue},
    response::Response,
    routing::get,
};
use coordinator_core::model::Refusal;
use dataset::Digest;

use super::{
    assets::{Asset, SCRIPT, respond},
    page::{Page, Visitor, show},
};
use crate::{
    answer::{ApiResult, Path},
    app::App,
};

/// The magic and the version with which a file of WebAssembly begins.
const MAGIC: &[u8] = b"\0asm\x01\0\0\0";

/// The engine's files.
pub struct Engine {
    files: Vec<Asset>,
    version: String,
}

/// Not a WebAssembly module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no WebAssembly module; `scripts/wasm` makes one")]
pub struct NotAModule;

impl Engine {
    /// The engine of a module.
    ///
    /// # Errors
    ///
    /// If the bytes are no module.
    pub fn new(module: Vec<u8>) -> Result<Self, NotAModule> {
        if !module.starts_with(MAGIC) {
            return Err(NotAModule);
        }
        let script = |name, bytes: &'static [u8]| Asset::new(name, SCRIPT, bytes.into());
        let files = vec![
            script("chuhe.js", include_bytes!("../../../../crates/wasm/npm/chuhe.js")),
            script("engine.js", include_bytes!("../../../../crates/wasm/npm/engine.js")),
            script("volunteer.js", include_bytes!("../../../../crates/wasm/npm/volunteer.js")),
            script("worker.js", include_bytes!("../../../../crates/wasm/npm/worker.js")),
            Asset::new("chuhe.wasm", "application/wasm", module.into()),
        ];
        let versions: String = files.iter().map(Asset::version).collect();
        let version = Digest::of(versions.as_bytes()).to_string()[..12].to_owned();
        Ok(Self { files, version })
    }

    /// The address of its files.
    pub(super) fn address(&self) -> String {
        format!("/engine/{}", self.version)
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/play", get(play))
}

#[derive(Template)]
#[template(path = "play.html")]
struct PlayPage {
    page: Page,
    engine: String,
}

/// The page on which a browser plays leased games.
async fn play(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    let engine = app.engine.as_ref().ok_or(Refusal::NoAddress)?.address();
    let page = visitor.page("workers", visitor.language.words().play.title, "");
    show(&PlayPage { page, engine })
}

/// Serves a file of the engine. Another version belongs to another build: not found.
pub(super) async fn file(
    State(app): State<App>,
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let engine = app.engine.as_ref().filter(|engine| engine.version == version).ok_or(Refusal::NoAddress)?;
    let file = engine.files.iter().find(|file| file.name() == name).ok_or(Refusal::NoAddress)?;
    let mut response = respond(file, &headers);
    isolate(&mut response);
    Ok(response)
}

/// Lets pages and their threads share memory, by which a search is stopped.
pub(super) fn isolate(response: &mut Response) {
    let name = HeaderName::from_static("cross-origin-embedder-policy");
    response.headers_mut().insert(name, HeaderValue::from_static("require-corp"));
}
