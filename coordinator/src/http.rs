//! The HTTP interface.
//!
//! A request is counted and limited before anything else is looked at ([`limits`]), then its sender is looked up
//! (`auth`), then a handler does one operation. Whatever goes wrong is answered as a problem with a stable code
//! (`answer`).

pub mod limits;
pub mod listen;
mod patience;
pub(crate) mod places;

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
    MOST_JSON_BYTES, MOST_NET_BYTES, path,
    problem::{Code, Problem},
};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::{pages, service::Service};
use answer::Refusal;
use places::Place;

/// A short body must be there after so long.
const BODY_WITHIN: Duration = Duration::from_secs(10);

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
        .route("/judge", get(games::judgement))
        .route("/live-game", get(live::now))
        .route("/live-game/events", get(live::events))
        .route("/matches/{job}/live", post(live::begin).delete(live::end))
        .route("/live", get(pages::live::stream))
        .route("/openapi.json", get(openapi))
        .merge(admin::routes())
        .merge(facts::routes())
        .layer(DefaultBodyLimit::max(MOST_JSON_BYTES as usize))
        .layer(middleware::from_fn_with_state(service.clone(), gate));
    let asked_of_the_database = Router::new()
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .layer(middleware::from_fn_with_state(service.clone(), gate));
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
    };
    Router::new()
        .nest(path::ROOT, api)
        .merge(pages::routes(&service))
        .route("/healthz", get(health::alive))
        .merge(asked_of_the_database)
        .fallback(nothing_here)
        .method_not_allowed_fallback(no_such_method)
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "same-origin"))
        .with_state(service)
}

/// The description of all this, for programs.
async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("http/openapi.json")).into_response()
}

pub(crate) async fn nothing_here() -> Response {
    Refusal(Problem::new(Code::NotFound, "there is nothing at this address"), None).into_response()
}

pub(crate) async fn no_such_method() -> Response {
    Refusal(Problem::new(Code::MethodNotAllowed, "the address does not answer this method"), None).into_response()
}

/// Nets may be long, and lines slow: their bodies are read only from trainers, and have this much longer.
fn longer_for(request: &Request) -> Duration {
    const SLOWEST_BYTES: u64 = 64 << 10;
    let route = request.uri().path();
    if !(route.contains("/trainings/") && route.ends_with("/net")) {
        return Duration::ZERO;
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(length.unwrap_or(0).min(MOST_NET_BYTES) / SLOWEST_BYTES)
}

/// Reads the body of a request that is refused, if it is not too long and comes soon: a connection that is closed with
/// something unread is reset, and the refusal may be lost with it.
async fn read_off(body: Body) {
    const MOST: usize = 512 << 10;
    let mut stream = body.into_data_stream();
    let mut read = 0;
    let reading = async {
        while let Some(Ok(chunk)) = stream.next().await {
            read += chunk.len();
            if read > MOST {
                break;
            }
        }
    };
    drop(tokio::time::timeout(Duration::from_secs(2), reading).await);
}

/// What nobody will have read of a request's body.
fn keep_rest(request: &mut Request) -> Body {
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

/// A request with its body, which is short, or is left to whoever puts games or nets.
async fn taken_in(request: Request, place: &Place) -> Result<Request, Refusal> {
    if request.method() == Method::PUT {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let reading = work::read_body(&parts.headers, body, MOST_JSON_BYTES, place);
    let late = |_| Refusal::new(Code::Timeout, "the body took too long");
    let bytes = tokio::time::timeout(BODY_WITHIN, reading).await.map_err(late)??;
    Ok(Request::from_parts(parts, bytes.into()))
}

/// Lets requests in: not too many at once, not too many of one sender, none too long, none while it stops.
pub(crate) async fn gate(
    State(service): State<Service>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let rest = keep_rest(&mut request);
    let refuse = |code, detail: &str, seconds| Refusal(Problem::new(code, detail), Some(seconds)).into_response();
    if *service.stopping.borrow() {
        return refuse(Code::Stopping, "the coordinator is stopping: ask again in a minute", 60);
    }
    let now = service.clock.now();
    let address = limits::address_of(&request, peer, service.settings.behind_proxy);
    let token = auth::bearer(request.headers()).map(limits::short);
    if let Err(wait) = service.limits.take(&address, token.as_deref(), now) {
        read_off(rest).await;
        return refuse(Code::TooMany, "too many requests: ask again later", wait);
    }
    let Some(place) = service.limits.places.come(&address, token.as_deref()) else {
        read_off(rest).await;
        return refuse(Code::TooMany, "too many requests at the same time: ask again later", 2);
    };
    let place = Arc::new(place);
    let mut request = match taken_in(request, &place).await {
        Ok(request) => request,
        Err(refusal) => {
            read_off(rest).await;
            return refusal.into_response();
        }
    };
    if !place.enter() {
        read_off(rest).await;
        return answer::busy(now).into_response();
    }
    request.extensions_mut().insert(Arc::clone(&place));
    let asked_at = tokio::time::Instant::now();
    let (method, route) = (request.method().clone(), request.uri().path().to_owned());
    let time = service.settings.request_timeout + longer_for(&request);
    let answer = tokio::time::timeout(time, next.run(request)).await;
    let answer = answer.unwrap_or_else(|_| refuse(Code::Timeout, "the request took too long", 5));
    let took = asked_at.elapsed();
    if !answer.status().is_success() {
        place.leave();
        read_off(rest).await;
    }
    service.limits.count(answer.status().as_u16(), took);
    if took > Duration::from_secs(1) || answer.status().is_server_error() {
        tracing::warn!(%method, route = limits::without_secrets(&route), status = answer.status().as_u16(), took = ?took);
    }
    answer
}
