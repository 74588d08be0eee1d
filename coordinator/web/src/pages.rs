//! The pages for people.
//!
//! Every page is rendered on the server and readable without JavaScript; scripts replace parts of
//! it after events. A page's path begins with its language (`/en/…`, `/zh/…`). Nothing comes from
//! another host, and no page has inline styles or scripts: the policy in `guard` forbids both.
//!
//! * [`words`]: all texts in both languages; `page`: the frame of every page; `format`: numbers and
//!   times.
//! * `guard`: middleware of every request; `form`: forms and
//!   their CSRF check; `signing`: sign-in, registration, passwords.
//! * `assets`: styles, scripts and pictures, at addresses that change with their content.
//! * `engine`: the engine as WebAssembly, and the page on which browsers play.
//! * `charts`: plots.
//! * `graph`, `viewer`, crate `board`: shared by games, the judge and the live board.
//! * Every other file is a page, whose template has the same name.

#![allow(
    clippy::unused_self,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "templates call methods of their page with references"
)]

pub mod words;

mod admin;
mod assets;
mod badge;
mod campaigns;
mod charts;
mod data;
mod engine;
mod form;
mod format;
mod games;
mod graph;
mod guard;
mod home;
mod judge;
mod live_game;
mod matches;
mod me;
mod nets;
mod page;
mod person;
mod signing;
mod sprt;
mod tour;
mod trust;
mod viewer;
mod workers;

use axum::{
    Extension, Router,
    extract::{OriginalUri, Path, State},
    http::{HeaderMap, HeaderValue, Method, Uri, header},
    middleware,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};

use coordinator_core::model::Refusal;
use protocol::{api::path, is_name};

use crate::{
    answer::{self, ApiError},
    app::App,
    http::admission::admission,
};
use words::Language;

/// The routes of the pages.
pub(crate) fn routes(app: &App) -> Router<App> {
    let mut all = Router::new()
        .route("/", get(choose_language))
        .route("/people/{name}", get(person_redirect))
        .route("/favicon.ico", get(assets::icon))
        .route("/assets/{version}/{name}", get(assets::asset))
        .route("/engine/{version}/{name}", get(engine::file));
    for language in Language::ALL {
        let pages = Router::new()
            .merge(home::routes())
            .merge(signing::routes())
            .merge(games::routes())
            .merge(judge::routes())
            .merge(live_game::routes())
            .merge(campaigns::routes())
            .merge(matches::routes())
            .merge(sprt::routes())
            .merge(tour::routes())
            .merge(nets::routes())
            .merge(data::routes())
            .merge(workers::routes())
            .merge(engine::routes())
            .merge(person::routes())
            .merge(me::routes())
            .merge(admin::routes())
            .merge(trust::routes())
            .fallback(no_page)
            .method_not_allowed_fallback(answer::method_not_allowed)
            .layer(middleware::from_fn_with_state(app.clone(), guard::identify))
            .layer(middleware::from_fn_with_state(app.clone(), admission))
            .layer(middleware::from_fn_with_state(app.clone(), guard::finish))
            .layer(Extension(language));
        all = all.nest(&format!("/{}", language.code()), pages);
    }
    all
}

/// Redirects from the language-free address of a person's page, which workers print.
async fn person_redirect(Path(name): Path<String>, headers: HeaderMap) -> Response {
    if !is_name(&name) {
        return ApiError::from(Refusal::NoAddress).into_response();
    }
    let language = preferred_language(&headers).code();
    ([(header::VARY, "Accept-Language")], Redirect::to(&format!("/{language}/people/{name}"))).into_response()
}

/// Content negotiation: redirects to the browser's preferred language.
async fn choose_language(headers: HeaderMap) -> Response {
    let language = preferred_language(&headers);
    ([(header::VARY, "Accept-Language")], Redirect::to(&format!("/{}", language.code()))).into_response()
}

fn preferred_language(headers: &HeaderMap) -> Language {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Language::negotiate(wanted.unwrap_or_default())
}

/// The response to an address without a page.
async fn no_page(method: Method, OriginalUri(uri): OriginalUri) -> Response {
    without_slash(&method, &uri).unwrap_or_else(|| ApiError::from(Refusal::NoAddress).into_response())
}

/// The response to an address without a route: for browsers a page in their language.
pub(crate) async fn no_address(
    State(app): State<App>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    let problem = ApiError::from(Refusal::NoAddress).into_response();
    if uri.path().starts_with(path::ROOT) {
        return problem;
    }
    if let Some(redirect) = without_slash(&method, &uri) {
        return redirect;
    }
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if method == Method::HEAD || !accepted.contains("text/html") {
        return problem;
    }
    let mut page = guard::render_problem(&app, preferred_language(&headers), &uri, problem);
    page.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Accept-Language"));
    page
}

/// Redirects from an address with trailing slashes to the one without, on this host.
fn without_slash(method: &Method, uri: &Uri) -> Option<Response> {
    let path = uri.path().trim_end_matches('/');
    // `//host` and `/\host` would be addresses of another host.
    let is_local = path.starts_with('/') && !path[1..].starts_with(['/', '\\']);
    if path == uri.path() || !is_local || !matches!(*method, Method::GET | Method::HEAD) {
        return None;
    }
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    Some(Redirect::permanent(&format!("{path}{query}")).into_response())
}
