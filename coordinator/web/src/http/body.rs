//! Bodies of requests.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
};
use dataset::Digest;
use futures_util::StreamExt as _;
use protocol::api::{SHA256_HEADER, problem::Code};

use crate::{
    answer::{ApiError, ApiResult, busy},
    app::App,
    limits::permits::Permit,
};

/// Rejects a body of another type.
pub(super) fn require_type(headers: &HeaderMap, wanted: &str) -> ApiResult<()> {
    let found = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    if found == wanted {
        return Ok(());
    }
    Err(ApiError::new(Code::WrongType, format!("the body is of type {found:?}; it must be {wanted}")))
}

/// Reads an admitted request's body, without a permit while it arrives.
pub(super) async fn collect(app: &App, headers: &HeaderMap, body: Body, max: u64, permit: &Permit) -> ApiResult<Bytes> {
    permit.release();
    let bytes = read_body(headers, body, max, permit).await?;
    if permit.reacquire().await { Ok(bytes) } else { Err(busy(app.clock.now())) }
}

/// Reads a body up to `max` bytes.
pub(super) async fn read_body(headers: &HeaderMap, body: Body, max: u64, permit: &Permit) -> ApiResult<Bytes> {
    let too_large = || ApiError::new(Code::TooLarge, format!("the body has more than {max} bytes"));
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max) {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(64 << 10) as usize);
    let mut stream = body.into_data_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| ApiError::new(Code::Truncated, "the body broke off"))?;
        if (bytes.len() + chunk.len()) as u64 > max {
            return Err(too_large());
        }
        if !permit.reserve(chunk.len()) {
            let detail = "too much is on its way at the same time: send it again later";
            return Err(ApiError::new(Code::TooMany, detail).retry_after(10));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.into())
}

/// Computes the hash of a body, which must be the announced one.
pub(super) fn verify_hash(headers: &HeaderMap, bytes: &[u8]) -> ApiResult<Digest> {
    let announced = headers.get(SHA256_HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let announced: Digest = announced
        .parse()
        .map_err(|error| ApiError::new(Code::BadHash, format!("the header {SHA256_HEADER}: {error}")))?;
    let found = Digest::of(bytes);
    if found == announced {
        return Ok(found);
    }
    Err(ApiError::new(Code::BadHash, format!("the body's SHA-256 is {found}; {announced} was announced")))
}
