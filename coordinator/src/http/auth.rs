//! Who asks.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, Method, header, request::Parts},
};
use protocol::api::{
    VERSION_HEADER,
    problem::{Code, Problem},
    work::Role,
};

use super::answer::{Answer, Refusal};
use crate::{
    pages::{SESSION_COOKIE, cookie},
    people::{Identity, sessions::Session},
    service::Service,
};

/// The token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

/// Somebody with a token.
pub(crate) struct Sender(pub(crate) Identity);

impl Sender {
    /// Refuses whoever may not do what this role may.
    pub(crate) fn must_be(&self, role: Role) -> Answer<()> {
        match Service::lacks(self.0.role, role) {
            None => Ok(()),
            Some(detail) => Err(Refusal::new(Code::Forbidden, detail)),
        }
    }
}

impl FromRequestParts<Service> for Sender {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Answer<Self> {
        let Reader(known) = Reader::from_request_parts(parts, service).await?;
        let refusal = || Refusal::new(Code::NoToken, "this takes a token: send it as `Authorization: Bearer TOKEN`");
        known.map(Self).ok_or_else(refusal)
    }
}

/// Whoever reads: somebody with a token, somebody who signed in to the pages, or nobody who is known. To change something
/// takes a token.
pub(crate) struct Reader(Option<Identity>);

impl Reader {
    /// Whether whoever reads may see games that are still played or checked.
    pub(crate) fn is_trainer(&self) -> bool {
        self.0.as_ref().is_some_and(|identity| identity.role >= Role::Trainer)
    }
}

impl FromRequestParts<Service> for Reader {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Answer<Self> {
        let Some(token) = bearer(&parts.headers) else { return Ok(Self(signed_in(parts, service).await?)) };
        if token.len() > 200 {
            return Err(Refusal::new(Code::BadToken, "the token is not known here"));
        }
        Ok(Self(Some(service.identify(token).await?)))
    }
}

/// Whoever signed in to the pages: they may read here what stands there.
async fn signed_in(parts: &Parts, service: &Service) -> Answer<Option<Identity>> {
    let is_reading = matches!(parts.method, Method::GET | Method::HEAD);
    let Some(cookie) = cookie(&parts.headers, SESSION_COOKIE).filter(|_| is_reading) else { return Ok(None) };
    let session = service.session(cookie).await?;
    let identity = |Session { account, name, role, .. }| Identity { account, name, role, token: 0, note_use: false };
    Ok(session.map(identity))
}

/// A program that is new enough to work with.
pub(crate) struct NewEnough;

impl FromRequestParts<Service> for NewEnough {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Answer<Self> {
        let least = &service.settings.least_worker;
        let said = parts.headers.get(VERSION_HEADER).and_then(|value| value.to_str().ok()).unwrap_or("0");
        if numbers(said) >= numbers(least) {
            return Ok(Self);
        }
        let detail =
            format!("version {least} or newer is needed, this is {said}: update the worker, then start it again");
        Err(Refusal(Problem::new(Code::TooOld, detail), None))
    }
}

/// A version as numbers: what is not one counts as 0.
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
