//! The pages for people.
//!
//! Every page is rendered on the server and readable without JavaScript; scripts replace parts of
//! it after events. A page's path begins with its language (`/en/…`, `/zh/…`). Nothing comes from
//! another host, and no page has inline styles or scripts: the policy in `guard` forbids both.
//!
//! * [`words`]: all texts in both languages; `page`: the frame of every page; `format`: numbers and
//!   times.
//! * `guard`: middleware of every request; `zipping`: compression of responses; `form`: forms and
//!   their CSRF check; `signing`: sign-in, registration, passwords.
//! * `assets`: styles, scripts and pictures, at addresses that change with their content.
//! * [`live`]: server-sent events about changes; `charts`: plots.
//! * `graph`, `viewer`, crate `board`: shared by games, the judge and the live board.
//! * Every other file is a page, whose template has the same name.

#![allow(
    clippy::unused_self,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "templates call methods of their page with references"
)]

pub mod live;
pub mod words;

mod admin;
mod assets;
mod attempts;
mod campaigns;
mod changes;
mod charts;
mod data;
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
pub(crate) mod memory;
mod nets;
mod page;
mod person;
mod signing;
mod sprt;
mod tour;
mod viewer;
mod workers;
mod zipping;

use axum::{
    Extension, Router,
    extract::Path,
    http::{HeaderMap, header},
    middleware,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};

use coordinator_core::model::Refusal;
use protocol::is_name;

use crate::{
    app::App,
    http::{
        admission::admission,
        answer::{self, ApiError},
    },
};
pub use changes::Live;
pub use memory::Memory;
use words::Language;

/// The routes of the pages.
pub(crate) fn routes(app: &App) -> Router<App> {
    let mut all = Router::new()
        .route("/", get(choose_language))
        .route("/people/{name}", get(person_redirect))
        .route("/favicon.ico", get(assets::icon))
        .route("/assets/{version}/{name}", get(assets::asset));
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
            .merge(person::routes())
            .merge(me::routes())
            .merge(admin::routes())
            .fallback(answer::route_not_found)
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
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_name(&name) {
        return ApiError::from(Refusal::NoAddress).into_response();
    }
    let language = Language::negotiate(wanted).code();
    ([(header::VARY, "Accept-Language")], Redirect::to(&format!("/{language}/people/{name}"))).into_response()
}

/// Content negotiation: redirects to the browser's preferred language.
async fn choose_language(headers: HeaderMap) -> Response {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let language = Language::negotiate(wanted);
    ([(header::VARY, "Accept-Language")], Redirect::to(&format!("/{}", language.code()))).into_response()
}
