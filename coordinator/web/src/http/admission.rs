//! Admission control of requests.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{Method, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::{StreamExt as _, stream};
use protocol::api::{MAX_JSON_BYTES, MAX_NET_BYTES, problem::Code};

use super::{auth, body};
use crate::{
    answer::{self, ApiError},
    app::App,
    limits,
    limits::permits::Permit,
};

/// Time limit for a short body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

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
    let reading = body::read_body(&parts.headers, body, MAX_JSON_BYTES, permit);
    let late = |_| ApiError::new(Code::Timeout, "the body took too long");
    let bytes = tokio::time::timeout(BODY_TIMEOUT, reading).await.map_err(late)??;
    Ok(Request::from_parts(parts, bytes.into()))
}

/// Admission control: rate limit (token bucket), concurrency limit, request timeout, and rejection
/// while the coordinator stops.
pub(crate) async fn admission(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let rest = tee_body(&mut request);
    let reject = |code, detail: &str, seconds| ApiError::new(code, detail).retry_after(seconds).into_response();
    if *app.stopping.borrow() {
        return reject(Code::Stopping, "the coordinator is stopping: ask again in a minute", 60);
    }
    let now = app.clock.now();
    let address = limits::address_of(&request, peer, app.settings.behind_proxy);
    let token = auth::bearer(request.headers()).map(limits::short);
    if let Err(wait) = app.limits.take(&address, token.as_deref(), now) {
        drain_body(rest).await;
        return reject(Code::TooMany, "too many requests: ask again later", wait);
    }
    let Some(permit) = app.limits.requests.admit(&address, token.as_deref()) else {
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
    let time = app.settings.request_timeout + extra_timeout(&request);
    let response = tokio::time::timeout(time, next.run(request)).await;
    let response = response.unwrap_or_else(|_| reject(Code::Timeout, "the request took too long", 5));
    let took = started.elapsed();
    if !response.status().is_success() {
        permit.release();
        drain_body(rest).await;
    }
    app.limits.count(response.status().as_u16(), took);
    if took > Duration::from_secs(1) || response.status().is_server_error() {
        tracing::warn!(%method, route = limits::without_secrets(&route), status = response.status().as_u16(), took = ?took);
    }
    response
}
