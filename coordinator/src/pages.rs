//! The pages: what a coordinator shows people.
//!
//! Every page is made here, on the server, and can be read without JavaScript; what scripts there are replace parts of
//! it when something happens. A page stands under its language (`/en/…`, `/zh/…`), and all words are in [`words`]. Nothing
//! on a page comes from another host, and no page has a style or a script in its text: the policy in `guard` forbids both.
//!
//! * [`words`]: all words, in both languages; `page`: what every page has around it; `format`: numbers and times.
//! * `guard`: what every request goes through, `zipping` on its way back; `signing`: sign-in, registration, passwords; `form`: what is sent.
//! * `assets`: styles, scripts and pictures, under addresses that change when they do.
//! * [`live`]: tells pages that something happened; `charts`: pictures of numbers.
//! * `board`, `graph`, `viewer`: what games, the judge and the live board have in common.
//! * One file for each page, whose template has the same name.

#![allow(
    clippy::unused_self,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "templates ask their page, and give references"
)]

pub mod live;
pub mod words;

mod admin;
mod assets;
mod board;
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
    http::{self, answer::Refusal},
    service::Service,
};
pub(crate) use guard::{SESSION_COOKIE, cookie};
use words::Language;

/// What the pages remember in memory. A coordinator that starts again may forget it.
#[derive(Default)]
pub struct Memory {
    /// Who tried to sign in.
    attempts: signing::Attempts,
    /// Who watches, and what happened.
    pub live: live::Live,
    /// Matches that were looked at.
    pub matches: crate::reports::matches::Memory,
}

impl Memory {
    /// One in which matches are remembered so.
    #[must_use]
    pub fn with_matches(matches: crate::reports::matches::Memory) -> Self {
        Self { matches, ..Self::default() }
    }
}

/// The routes of the pages.
pub(crate) fn routes(service: &Service) -> Router<Service> {
    let mut all = Router::new()
        .route("/", get(choose_language))
        .route("/people/{name}", get(of_people))
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
            .fallback(http::nothing_here)
            .method_not_allowed_fallback(http::no_such_method)
            .layer(middleware::from_fn_with_state(service.clone(), guard::enter))
            .layer(middleware::from_fn_with_state(service.clone(), http::gate))
            .layer(middleware::from_fn_with_state(service.clone(), guard::finish))
            .layer(Extension(language));
        all = all.nest(&format!("/{}", language.code()), pages);
    }
    all
}

/// What workers name as their owner's page.
async fn of_people(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_name(&name) {
        return Refusal::new(Code::NotFound, "there is nothing at this address").into_response();
    }
    let language = Language::wanted(wanted).code();
    ([(header::VARY, "Accept-Language")], Redirect::to(&format!("/{language}/people/{name}"))).into_response()
}

/// Sends whoever comes to the language that their browser asks for.
async fn choose_language(headers: HeaderMap) -> Response {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let language = Language::wanted(wanted);
    ([(header::VARY, "Accept-Language")], Redirect::to(&format!("/{}", language.code()))).into_response()
}
