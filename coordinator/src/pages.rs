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
mod campaigns;
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
mod nets;
mod page;
mod person;
mod signing;
mod sprt;
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

use protocol::{api::problem::Code, is_name};

use crate::{
    http::{self, answer::ApiError},
    service::Service,
};
pub(crate) use guard::{SESSION_COOKIE, cookie};
use words::Language;

/// State of the pages in memory; a restart may lose it.
#[derive(Default)]
pub struct Memory {
    /// Sign-in attempts.
    attempts: signing::Attempts,
    /// Viewers and recent events.
    pub live: live::Live,
    /// Cache of matches' figures.
    pub matches: crate::reports::matches::Memory,
}

impl Memory {
    /// With a given cache of matches.
    #[must_use]
    pub fn with_matches(matches: crate::reports::matches::Memory) -> Self {
        Self { matches, ..Self::default() }
    }
}

/// The routes of the pages.
pub(crate) fn routes(service: &Service) -> Router<Service> {
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
            .merge(nets::routes())
            .merge(data::routes())
            .merge(workers::routes())
            .merge(person::routes())
            .merge(me::routes())
            .merge(admin::routes())
            .fallback(http::route_not_found)
            .method_not_allowed_fallback(http::method_not_allowed)
            .layer(middleware::from_fn_with_state(service.clone(), guard::identify))
            .layer(middleware::from_fn_with_state(service.clone(), http::admission))
            .layer(middleware::from_fn_with_state(service.clone(), guard::finish))
            .layer(Extension(language));
        all = all.nest(&format!("/{}", language.code()), pages);
    }
    all
}

/// Redirects from the language-free address of a person's page, which workers print.
async fn person_redirect(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_name(&name) {
        return ApiError::new(Code::NotFound, "there is nothing at this address").into_response();
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
