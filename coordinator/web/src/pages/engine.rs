//! The page on which a browser plays leased games, and the files of its engine.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue},
    response::Response,
    routing::get,
};
use coordinator_core::model::Refusal;

use super::page::{Page, Visitor, show};
use crate::{
    answer::{ApiResult, Path},
    app::App,
};

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
    let file = app.engine.as_ref().and_then(|engine| engine.file(&version, &name)).ok_or(Refusal::NoAddress)?;
    let mut response = file.respond(&headers);
    isolate(&mut response);
    Ok(response)
}

/// Lets pages and their threads share memory, by which a search is stopped.
pub(super) fn isolate(response: &mut Response) {
    let name = HeaderName::from_static("cross-origin-embedder-policy");
    response.headers_mut().insert(name, HeaderValue::from_static("require-corp"));
}
