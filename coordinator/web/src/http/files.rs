//! Nets, books, games and training sets for everyone, by their hashes.
//!
//! The content of a hash never changes: responses are cached without limit, and ranges may be
//! requested. Games become public once their job is closed: a worker that could read them would not
//! have to play.

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use coordinator_core::{
    games,
    model::Refusal,
    objects::{GetRange, Kind},
    query,
    store::Nets,
};
use dataset::Digest;
use protocol::api::{NET_TYPE, SHARD_TYPE, problem::Code};

use super::auth::Reader;
use crate::{
    answer::{ApiError, ApiResult, Path},
    app::App,
};

/// Cached for a year, without revalidation.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

pub(super) async fn net(State(app): State<App>, Path(hash): Path<String>, headers: HeaderMap) -> ApiResult<Response> {
    object(&app, Kind::Net, &hash, NET_TYPE, &headers).await
}

pub(super) async fn book(State(app): State<App>, Path(hash): Path<String>, headers: HeaderMap) -> ApiResult<Response> {
    object(&app, Kind::Book, &hash, "text/plain; charset=utf-8", &headers).await
}

/// The plot of a training's loss. Its SVG comes from a trainer: the policy forbids all scripts.
pub(super) async fn curves(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let mut response = object(&app, Kind::Curves, &hash, "image/svg+xml", &headers).await?;
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

pub(super) async fn shard(
    State(app): State<App>,
    Path(hash): Path<String>,
    reader: ApiResult<Reader>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let is_open = games::is_open(&app, parse(&hash)?).await?;
    if !is_open && !reader?.is_trainer() {
        return Err(Refusal::NoShard.into());
    }
    let mut response = object(&app, Kind::Shard, &hash, SHARD_TYPE, &headers).await?;
    if !is_open {
        // Kept out of shared caches.
        let private = HeaderValue::from_static("private, max-age=31536000, immutable");
        response.headers_mut().insert(header::CACHE_CONTROL, private);
    }
    Ok(response)
}

pub(super) async fn manifest(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let digest = parse(&hash)?;
    let text = app.read(query!(|connection| Nets::on(connection).training_manifest(digest).await));
    manifest_text(digest, text.await?, &headers)
}

pub(super) async fn net_manifest(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let digest = parse(&hash)?;
    let text = app.read(query!(|connection| Nets::on(connection).manifest(digest).await));
    manifest_text(digest, text.await?, &headers)
}

fn manifest_text(digest: Digest, text: Option<String>, headers: &HeaderMap) -> ApiResult<Response> {
    let etag = etag(digest);
    let text = text.ok_or_else(|| ApiError::new(Code::NotFound, format!("there is no manifest {digest}")))?;
    if is_known(headers, &etag) {
        return Ok(not_modified(etag));
    }
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, IMMUTABLE),
        (header::ETAG, etag),
    ];
    Ok((headers, text).into_response())
}

/// The `ETag` of a hash.
fn etag(digest: Digest) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{digest}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Whether the client has it already (`If-None-Match`).
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|known| known.split(',').any(|known| known.trim() == "*" || known.trim() == etag))
}

fn not_modified(etag: HeaderValue) -> Response {
    (StatusCode::NOT_MODIFIED, [(header::ETAG, etag), (header::CACHE_CONTROL, IMMUTABLE)]).into_response()
}

fn parse(hash: &str) -> ApiResult<Digest> {
    hash.parse().map_err(|error| ApiError::new(Code::NotFound, format!("{error}")))
}

async fn object(
    app: &App,
    kind: Kind,
    hash: &str,
    content_type: &'static str,
    headers: &HeaderMap,
) -> ApiResult<Response> {
    let digest = parse(hash)?;
    let etag = etag(digest);
    if is_known(headers, &etag) {
        return Ok(not_modified(etag));
    }
    let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok()).and_then(range_of);
    let is_part = range.is_some();
    let read = app.objects.read(kind, digest, range).await?;
    let mut response = (
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
            (header::CACHE_CONTROL, IMMUTABLE),
            (header::ETAG, etag),
            (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        ],
        Body::from_stream(read.pieces),
    )
        .into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(read.range.end - read.range.start));
    if is_part {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let range = format!("bytes {}-{}/{}", read.range.start, read.range.end.saturating_sub(1), read.length);
        if let Ok(range) = HeaderValue::from_str(&range) {
            response.headers_mut().insert(header::CONTENT_RANGE, range);
        }
    }
    Ok(response)
}

/// One range of bytes. Any other `Range` header is ignored (RFC 9110).
fn range_of(text: &str) -> Option<GetRange> {
    let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
    match (from.trim(), to.trim()) {
        ("", last) => Some(GetRange::Suffix(last.parse().ok()?)),
        (from, "") => Some(GetRange::Offset(from.parse().ok()?)),
        (from, to) => {
            let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
            (from <= to).then_some(GetRange::Bounded(from..to.checked_add(1)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(range_of("bytes=0-0"), Some(GetRange::Bounded(0..1)));
        assert_eq!(range_of("bytes=5-"), Some(GetRange::Offset(5)));
        assert_eq!(range_of("bytes=-7"), Some(GetRange::Suffix(7)));
        for bad in ["bytes=5-4", "lines=1-2", "bytes=1-2,4-5", "bytes=a-b", "bytes=-", "bytes=0-18446744073709551615"] {
            assert_eq!(range_of(bad), None, "{bad}");
        }
    }
}
