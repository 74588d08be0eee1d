//! Live matches: marked by maintainers, sent by workers, streamed to viewers.

use std::convert::Infallible;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use coordinator_core::{
    model::{JobId, LeaseToken},
    ops::live::{UnwatchMatch, WatchMatch, scene},
    query,
    store::StoreError,
};
use futures_util::stream;
use protocol::api::{
    problem::Code,
    work::{Live, Role},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::auth::Authenticated;
use crate::{
    answer::{ApiError, ApiResult, Body, Path},
    app::App,
    live,
};

/// The selection of a live match.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Watch {
    /// The first pair shown; the next one by default.
    #[serde(default)]
    pair: Option<i64>,
}

pub(super) async fn begin(
    State(app): State<App>,
    caller: Authenticated,
    Path(job): Path<JobId>,
    Body(watch): Body<Watch>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;
    let by = Some(caller.0.account);
    app.run(WatchMatch { job, pair: watch.pair, by }).await?;
    app.live.select(Some(job));
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn end(
    State(app): State<App>,
    caller: Authenticated,
    Path(job): Path<JobId>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;
    app.run(UnwatchMatch { job, by: Some(caller.0.account) }).await?;
    live::snapshot(&app, &app.live).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Receives a worker's live position.
pub(super) async fn show(
    State(app): State<App>,
    caller: Authenticated,
    Path(lease): Path<String>,
    Body(live): Body<Live>,
) -> ApiResult<StatusCode> {
    let (account, lease) = (caller.0.account, LeaseToken(lease));
    let scene = app.read(query!(|connection| scene(&mut connection, account, &lease).await)).await?;
    match app.live.show(app.clock.now(), &scene, &live) {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(StoreError::Rejected(refusal)) if refusal.code() == Code::TooMany => Err(ApiError(refusal, Some(1))),
        Err(other) => Err(other.into()),
    }
}

/// The current board.
pub(super) async fn now(State(app): State<App>) -> ApiResult<Json<Value>> {
    let snapshot = live::snapshot(&app, &app.live).await?;
    Ok(Json(json!({ "watched": snapshot.watched, "board": snapshot.board() })))
}

/// Server-sent events: each new board, until the coordinator stops.
pub(super) async fn events(State(app): State<App>) -> Response {
    let Some((mut seen, permit)) = app.live.subscribe(&app) else {
        return ApiError::new(Code::Busy, "too many people watch: ask again later").retry_after(30).into_response();
    };
    // The current board is sent at once.
    seen.mark_changed();
    let state = (seen, app.stopping.clone(), permit);
    let events = stream::unfold(state, |(mut seen, mut stopping, permit)| async move {
        tokio::select! {
            changed = seen.changed() => changed.ok()?,
            _ = stopping.wait_for(|stopping| *stopping) => return None,
        }
        let board = seen.borrow_and_update().board().to_string();
        let event = Event::default().event("board").data(board);
        Some((Ok::<_, Infallible>(event), (seen, stopping, permit)))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Disables buffering in reverse proxies.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    response
}
