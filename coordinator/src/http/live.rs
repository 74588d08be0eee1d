//! Matches that people watch: marked by maintainers, shown by workers, told to whoever listens.

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
use futures_util::stream;
use protocol::api::{
    problem::{Code, Problem},
    work::{Live, Role},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    answer::{Answer, Body, Path, Refusal},
    auth::Sender,
};
use crate::{live, service::Service, store::Failure, work::watching};

/// What is to be seen of a match.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Watch {
    /// From this pair on; from the next one, if none.
    #[serde(default)]
    pair: Option<i64>,
}

pub(super) async fn begin(
    State(service): State<Service>,
    sender: Sender,
    Path(job): Path<i64>,
    Body(watch): Body<Watch>,
) -> Answer<StatusCode> {
    sender.must_be(Role::Maintainer)?;
    let (now, by) = (service.clock.now(), sender.0.account);
    service
        .write(move |mut connection| {
            Box::pin(async move { watching::watch(&mut connection, now, job, watch.pair, Some(by)).await })
        })
        .await?;
    service.live.only(Some(job));
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn end(State(service): State<Service>, sender: Sender, Path(job): Path<i64>) -> Answer<StatusCode> {
    sender.must_be(Role::Maintainer)?;
    let (now, by) = (service.clock.now(), sender.0.account);
    service
        .write(move |mut connection| {
            Box::pin(async move { watching::unwatch(&mut connection, now, job, Some(by)).await })
        })
        .await?;
    live::sight(&service).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A worker shows what it sees.
pub(super) async fn show(
    State(service): State<Service>,
    sender: Sender,
    Path(lease): Path<String>,
    Body(live): Body<Live>,
) -> Answer<StatusCode> {
    let account = sender.0.account;
    let scene = service
        .read(move |mut connection| {
            let lease = lease.clone();
            Box::pin(async move { watching::scene(&mut connection, account, &lease).await })
        })
        .await?;
    match service.live.show(service.clock.now(), &scene, &live) {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(Failure::Refused(problem)) if problem.code == Code::TooMany => Err(Refusal(problem, Some(1))),
        Err(other) => Err(other.into()),
    }
}

/// What is seen now.
pub(super) async fn now(State(service): State<Service>) -> Answer<Json<Value>> {
    let sight = live::sight(&service).await?;
    Ok(Json(json!({ "watched": sight.watched, "board": sight.board() })))
}

/// What is seen, as it is seen, until the coordinator stops.
pub(super) async fn events(State(service): State<Service>) -> Response {
    let Some((mut seen, place)) = service.live.watch(&service) else {
        let problem = Problem::new(Code::Busy, "too many people watch: ask again later");
        return Refusal(problem, Some(30)).into_response();
    };
    // What is there is told at once.
    seen.mark_changed();
    let state = (seen, service.stopping.clone(), place);
    let events = stream::unfold(state, |(mut seen, mut stopping, place)| async move {
        tokio::select! {
            changed = seen.changed() => changed.ok()?,
            _ = stopping.wait_for(|stopping| *stopping) => return None,
        }
        let board = seen.borrow_and_update().board().to_string();
        let event = Event::default().event("board").data(board);
        Some((Ok::<_, Infallible>(event), (seen, stopping, place)))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Proxies are not to gather what should be seen at once.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    response
}
