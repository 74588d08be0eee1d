//! The HTTP interface.
//!
//! Each request passes admission control first ([`limits`]), then authentication (`auth`); its
//! handler does one operation. Errors become `application/problem+json` with a stable code
//! (`answer`).

pub mod limits;
pub mod listen;
pub(crate) mod permits;
mod write_timeout;

mod admin;
pub(crate) mod answer;
pub(crate) mod auth;
mod facts;
mod files;
mod games;
mod health;
mod live;
mod training;
mod work;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, DefaultBodyLimit, Request, State},
    http::{HeaderName, HeaderValue, Method, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{get, post, put},
};
use futures_util::{StreamExt as _, stream};
use protocol::api::{
    MAX_JSON_BYTES, MAX_NET_BYTES, path,
    problem::{Code, Problem},
};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::{pages, service::Service};
use answer::ApiError;
use permits::Permit;

/// Time limit for a short body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The routes of a coordinator.
pub fn router(service: Service) -> Router {
    let api = Router::new()
        .route("/server", get(work::server))
        .route("/me", get(work::me))
        .route("/registrations", post(work::register_account))
        .route("/workers", post(work::register))
        .route("/leases", post(work::ask))
        .route("/leases/{lease}/renewal", post(work::renew))
        .route("/leases/{lease}/giving-back", post(work::give_back))
        .route("/leases/{lease}/games/{first}", put(work::receive))
        .route("/leases/{lease}/live", post(live::show))
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
        .route("/live-game", get(live::now))
        .route("/live-game/events", get(live::events))
        .route("/matches/{job}/live", post(live::begin).delete(live::end))
        .route("/live", get(pages::live::stream))
        .route("/openapi.json", get(openapi))
        .merge(admin::routes())
        .merge(facts::routes())
        .layer(DefaultBodyLimit::max(MAX_JSON_BYTES as usize))
        .layer(middleware::from_fn_with_state(service.clone(), admission));
    let using_the_database = Router::new()
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .layer(middleware::from_fn_with_state(service.clone(), admission));
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
    };
    Router::new()
        .nest(path::ROOT, api)
        .merge(pages::routes(&service))
        .route("/healthz", get(health::alive))
        .merge(using_the_database)
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "same-origin"))
        .with_state(service)
}

/// The API's OpenAPI document.
async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("http/openapi.json")).into_response()
}

pub(crate) async fn route_not_found() -> Response {
    ApiError(Problem::new(Code::NotFound, "there is nothing at this address"), None).into_response()
}

pub(crate) async fn method_not_allowed() -> Response {
    ApiError(Problem::new(Code::MethodNotAllowed, "the address does not answer this method"), None).into_response()
}

/// The extra time limit of a net's upload: only trainers send nets, which may be long, over slow
/// lines.
fn extra_timeout(request: &Request) -> Duration {
    const MIN_BYTES_PER_SECOND: u64 = 64 << 10;
    let route = request.uri().path();
    if !(route.contains("/trainings/") && route.ends_with("/net")) {
        return Duration::ZERO;
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(length.unwrap_or(0).min(MAX_NET_BYTES) / MIN_BYTES_PER_SECOND)
}

/// Drains the body of a rejected request, up to a size and time. Closing a connection with unread
/// data resets it, and the response may be lost.
async fn drain_body(body: Body) {
    const MAX_BYTES: usize = 512 << 10;
    let mut stream = body.into_data_stream();
    let mut read = 0;
    let reading = async {
        while let Some(Ok(chunk)) = stream.next().await {
            read += chunk.len();
            if read > MAX_BYTES {
                break;
            }
        }
    };
    drop(tokio::time::timeout(Duration::from_secs(2), reading).await);
}

/// Returns a second handle to the request's body: its unread rest.
fn tee_body(request: &mut Request) -> Body {
    let stream = Arc::new(Mutex::new(std::mem::take(request.body_mut()).into_data_stream()));
    let end = || {
        let stream = Arc::clone(&stream);
        Body::from_stream(stream::poll_fn(move |context| {
            stream.lock().unwrap_or_else(PoisonError::into_inner).poll_next_unpin(context)
        }))
    };
    *request.body_mut() = end();
    end()
}

/// Buffers a short body. PUT bodies (games, nets) are left to their handlers.
async fn buffer_body(request: Request, permit: &Permit) -> Result<Request, ApiError> {
    if request.method() == Method::PUT {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let reading = work::read_body(&parts.headers, body, MAX_JSON_BYTES, permit);
    let late = |_| ApiError::new(Code::Timeout, "the body took too long");
    let bytes = tokio::time::timeout(BODY_TIMEOUT, reading).await.map_err(late)??;
    Ok(Request::from_parts(parts, bytes.into()))
}

/// Admission control: rate limit (token bucket), concurrency limit, request timeout, and rejection
/// while the coordinator stops.
pub(crate) async fn admission(
    State(service): State<Service>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let rest = tee_body(&mut request);
    let reject = |code, detail: &str, seconds| ApiError(Problem::new(code, detail), Some(seconds)).into_response();
    if *service.stopping.borrow() {
        return reject(Code::Stopping, "the coordinator is stopping: ask again in a minute", 60);
    }
    let now = service.clock.now();
    let address = limits::address_of(&request, peer, service.settings.behind_proxy);
    let token = auth::bearer(request.headers()).map(limits::short);
    if let Err(wait) = service.limits.take(&address, token.as_deref(), now) {
        drain_body(rest).await;
        return reject(Code::TooMany, "too many requests: ask again later", wait);
    }
    let Some(permit) = service.limits.requests.admit(&address, token.as_deref()) else {
        drain_body(rest).await;
        return reject(Code::TooMany, "too many requests at the same time: ask again later", 2);
    };
    let permit = Arc::new(permit);
    let mut request = match buffer_body(request, &permit).await {
        Ok(request) => request,
        Err(error) => {
            drain_body(rest).await;
            return error.into_response();
        }
    };
    if !permit.try_acquire() {
        drain_body(rest).await;
        return answer::busy(now).into_response();
    }
    request.extensions_mut().insert(Arc::clone(&permit));
    let started = tokio::time::Instant::now();
    let (method, route) = (request.method().clone(), request.uri().path().to_owned());
    let time = service.settings.request_timeout + extra_timeout(&request);
    let response = tokio::time::timeout(time, next.run(request)).await;
    let response = response.unwrap_or_else(|_| reject(Code::Timeout, "the request took too long", 5));
    let took = started.elapsed();
    if !response.status().is_success() {
        permit.release();
        drain_body(rest).await;
    }
    service.limits.count(response.status().as_u16(), took);
    if took > Duration::from_secs(1) || response.status().is_server_error() {
        tracing::warn!(%method, route = limits::without_secrets(&route), status = response.status().as_u16(), took = ?took);
    }
    response
}
