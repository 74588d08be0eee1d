//! The HTTP interface.
//!
//! Each request passes admission control first ([`limits`](crate::limits)), then authentication
//! (`auth`); its handler does one operation. Errors become `application/problem+json` with a stable
//! code (`answer`).

pub mod listen;
mod write_timeout;

mod admin;
pub(crate) mod admission;
pub(crate) mod auth;
mod body;
pub(crate) mod cookie;
mod facts;
mod files;
mod games;
mod health;
pub(crate) mod live;
mod live_game;
mod training;
mod work;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::header,
    middleware,
    response::{IntoResponse as _, Response},
    routing::{get, post, put},
};
use protocol::api::{MAX_JSON_BYTES, path};

use crate::app::App;
use admission::admission;

/// The routes for programs.
pub(crate) fn routes(app: &App) -> Router<App> {
    let api = Router::new()
        .route("/server", get(work::server))
        .route("/me", get(work::me))
        .route("/registrations", post(work::register_account))
        .route("/workers", post(work::register))
        .route("/leases", post(work::ask))
        .route("/leases/{lease}/renewal", post(work::renew))
        .route("/leases/{lease}/giving-back", post(work::give_back))
        .route("/leases/{lease}/games/{first}", put(work::receive))
        .route("/leases/{lease}/live", post(live_game::show))
        .route("/failures", post(work::fail))
        .route("/trainings", post(training::claim))
        .route("/trainings/{training}/progress", post(training::progress))
        .route("/trainings/{training}/net", put(training::net))
        .route("/trainings/{training}/curves", put(training::curves))
        .route("/trainings/{training}/completion", post(training::complete))
        .route("/trainings/{training}/abandonment", post(training::abandon))
        .route("/nets/{hash}", get(files::net))
        .route("/nets/{hash}/manifest", get(files::net_manifest))
        .route("/books/{hash}", get(files::book))
        .route("/shards/{hash}", get(files::shard))
        .route("/manifests/{hash}", get(files::manifest))
        .route("/games", get(games::shards))
        .route("/games/{shard}", get(games::of_shard))
        .route("/games/{shard}/{number}", get(games::game))
        .route("/games/{shard}/{number}/pgn", get(games::pgn))
        .route("/judge", get(games::judgement).post(games::judgements))
        .route("/live-game", get(live_game::now))
        .route("/live-game/events", get(live_game::events))
        .route("/matches/{job}/live", post(live_game::begin).delete(live_game::end))
        .route("/live", get(live::stream))
        .route("/openapi.json", get(openapi))
        .merge(admin::routes())
        .merge(facts::routes())
        .layer(DefaultBodyLimit::max(MAX_JSON_BYTES as usize))
        .layer(middleware::from_fn_with_state(app.clone(), admission));
    let using_the_database = Router::new()
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .layer(middleware::from_fn_with_state(app.clone(), admission));
    Router::new().nest(path::ROOT, api).route("/healthz", get(health::alive)).merge(using_the_database)
}

/// The API's OpenAPI document.
async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("http/openapi.json")).into_response()
}
