//! Results of handlers: a response, or a problem.

use axum::{
    Json,
    body::Bytes,
    extract::{
        self, FromRequest, FromRequestParts, Request,
        rejection::{BytesRejection, JsonRejection},
    },
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use coordinator_core::{clock::Time, games::ReadError, model::Refusal, objects::ObjectError, store::StoreError};
use protocol::api::problem::{Code, PROBLEM_TYPE, Problem};
use serde::de::DeserializeOwned;

/// An error response (`application/problem+json`), and its `Retry-After` in seconds. Pages find the
/// refusal in the response's extensions.
#[derive(Debug)]
pub(crate) struct ApiError(pub(crate) Refusal, pub(crate) Option<u64>);

/// The result of a handler.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// The time after which a full disk may have room again.
const FULL_DISK_SECONDS: u64 = 60;

impl ApiError {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Problem::new(code, detail).into(), None)
    }

    /// The same with a time to wait.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self(self.0, Some(seconds))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let wait = (refusal.code() == Code::Busy).then_some(2);
        Self(refusal, wait)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(Problem::from(self.0.clone()))).into_response();
        response.extensions_mut().insert(self.0);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_TYPE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.1 {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(failure: StoreError) -> Self {
        match failure {
            StoreError::Rejected(refusal) => refusal.into(),
            StoreError::Busy => Self(Refusal::DatabaseBusy, Some(10)),
            full if full.is_disk_full() => Self(Refusal::DiskFull, Some(FULL_DISK_SECONDS)),
            missing if missing.is_missing_row() => Refusal::NotFound.into(),
            other => {
                // Internal errors are for the log, not for clients.
                tracing::error!(error = %other, "an operation failed");
                Self(Refusal::CoordinatorFailed, Some(30))
            }
        }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => error.into(),
            ReadError::Object(error) => error.into(),
        }
    }
}

impl From<ObjectError> for ApiError {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::Missing => Self::new(Code::NotFound, "there is no such object"),
            ObjectError::Range { length } => Self::new(Code::BadRange, format!("the object has {length} bytes")),
            ObjectError::DiskFull => Self(Refusal::DiskFull, Some(FULL_DISK_SECONDS)),
            other => {
                tracing::error!(error = %other, "the store of objects failed");
                Self(Refusal::ObjectsBusy, Some(30))
            }
        }
    }
}

/// The server is at its limit. The spread of `Retry-After` keeps clients from returning together.
pub(crate) fn busy(now: Time) -> ApiError {
    ApiError::new(Code::Busy, "the coordinator has too much to do: ask again later")
        .retry_after(5 + now.0.unsigned_abs() % 20)
}

/// A JSON body, or a problem that names its error.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => {
                Err(ApiError::new(Code::WrongType, "the body must be of type application/json"))
            }
            Err(JsonRejection::BytesRejection(BytesRejection::FailedToBufferBody(_))) => {
                Err(ApiError::new(Code::TooLarge, "the body is too large, or broke off"))
            }
            Err(other) => Err(ApiError::new(Code::BadRequest, one_line(&other.body_text()))),
        }
    }
}

/// A body of text, or a problem that names the place of its error.
pub(crate) struct Text(pub(crate) String);

impl<S: Send + Sync> FromRequest<S> for Text {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let broken_off = |_| ApiError::new(Code::TooLarge, "the body is too large, or broke off");
        let bytes = Bytes::from_request(request, state).await.map_err(broken_off)?;
        String::from_utf8(bytes.into()).map(Self).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            ApiError::new(Code::BadRequest, format!("the body is not UTF-8: its byte {place} begins no character"))
        })
    }
}

/// Path parameters, or a problem: a path with unreadable parameters names nothing.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let path = extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|path| Self(path.0)).map_err(|_| Refusal::NoAddress.into())
    }
}

/// Query parameters, or a problem that names their error.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let query = serde_urlencoded::from_str(parts.uri.query().unwrap_or_default());
        query.map(Self).map_err(|error| Refusal::UnreadableAddress { error: error.to_string() }.into())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The response to another method than those of a route.
pub(crate) async fn method_not_allowed() -> Response {
    ApiError::new(Code::MethodNotAllowed, "the address does not answer this method").into_response()
}
