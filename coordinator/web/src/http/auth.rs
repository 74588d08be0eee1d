//! Authentication of requests: bearer token or session cookie.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, Method, header, request::Parts},
};
use coordinator_core::model::{Identity, Refusal, Session};
use protocol::api::{VERSION_HEADER, problem::Code, work::Role};

use super::cookie::{SESSION_COOKIE, cookie};
use crate::{
    answer::{ApiError, ApiResult},
    app::App,
};

/// The bearer token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// The reason why a role does not suffice, if it does not.
pub(crate) fn lacks(role: Role, needed: Role) -> Option<Refusal> {
    (role < needed).then_some(Refusal::LacksRole { needed, own: role })
}

/// The authenticated caller, by token.
pub(crate) struct Authenticated(pub(crate) Identity);

impl Authenticated {
    /// Requires a role.
    pub(crate) fn must_be(&self, role: Role) -> ApiResult<()> {
        match lacks(self.0.role, role) {
            None => Ok(()),
            Some(refusal) => Err(refusal.into()),
        }
    }
}

impl FromRequestParts<App> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let Reader(known) = Reader::from_request_parts(parts, app).await?;
        let error = || ApiError::new(Code::NoToken, "this takes a token: send it as `Authorization: Bearer TOKEN`");
        known.map(Self).ok_or_else(error)
    }
}

/// The caller of a read: by token, by session cookie, or anonymous. Writes need a token.
pub(crate) struct Reader(Option<Identity>);

impl Reader {
    /// Whether the caller may see games still being played or checked.
    pub(crate) fn is_trainer(&self) -> bool {
        self.0.as_ref().is_some_and(|identity| identity.role >= Role::Trainer)
    }
}

impl FromRequestParts<App> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let Some(token) = bearer(&parts.headers) else { return Ok(Self(signed_in(parts, app).await?)) };
        if token.len() > 200 {
            return Err(ApiError::new(Code::BadToken, "the token is not known here"));
        }
        Ok(Self(Some(app.identify(token).await?)))
    }
}

/// The identity behind a session cookie, which suffices for reads.
async fn signed_in(parts: &Parts, app: &App) -> ApiResult<Option<Identity>> {
    let is_reading = matches!(parts.method, Method::GET | Method::HEAD);
    let Some(cookie) = cookie(&parts.headers, SESSION_COOKIE).filter(|_| is_reading) else { return Ok(None) };
    let session = app.session(cookie).await?;
    let identity = |Session { account, name, role, .. }| Identity {
        account,
        name,
        role,
        token: None,
        expires: None,
        record_use: false,
    };
    Ok(session.map(identity))
}

/// A program of at least the oldest accepted version.
pub(crate) struct MinVersion;

impl FromRequestParts<App> for MinVersion {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let min = &app.settings.least_worker;
        let sent = parts.headers.get(VERSION_HEADER).and_then(|value| value.to_str().ok()).unwrap_or("0");
        if numbers(sent) >= numbers(min) {
            return Ok(Self);
        }
        let detail =
            format!("version {min} or newer is needed, this is {sent}: update the worker, then start it again");
        Err(ApiError::new(Code::TooOld, detail))
    }
}

/// Parses a version; parts that are no numbers count as 0.
fn numbers(version: &str) -> [u64; 3] {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("0.10.0") > numbers("0.9.7"));
        assert!(numbers("1.0") >= numbers("1.0.0-beta"));
        assert_eq!(numbers("nonsense"), [0, 0, 0]);
    }
}
