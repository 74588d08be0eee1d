//! Forms: what pages send, with the token that only our own pages have.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts as _, Request},
};
use protocol::api::problem::Code;
use serde::{Deserialize, de::DeserializeOwned};

use super::page::Visitor;
use crate::{
    http::answer::{Answer, Refusal},
    service::Service,
};

/// No form of ours is longer: the text of a campaign is.
const MOST_BYTES: usize = 256 << 10;

/// What is said of a form that lacks a field, or has something else in it: no page of ours sends such.
pub(super) const UNREADABLE: &str = "a field of the form is missing or cannot be read: load its page again";

/// What a form of ours sent, and who.
pub(crate) struct Form<T>(pub(crate) Visitor, pub(crate) T);

/// The token that every form carries in the field `form`.
#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    form: String,
}

impl<T: DeserializeOwned> FromRequest<Service> for Form<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, service: &Service) -> Answer<Self> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, service).await?;
        let request = Request::from_parts(parts, body);
        let bytes = Bytes::from_request(request, service).await;
        let bytes = bytes.map_err(|_| Refusal::new(Code::TooLarge, "the form is too long, or broke off"))?;
        if bytes.len() > MOST_BYTES {
            return Err(Refusal::new(Code::TooLarge, "the form is too long"));
        }
        let token = serde_urlencoded::from_bytes::<Token>(&bytes).map(|token| token.form).unwrap_or_default();
        if visitor.form.is_empty() || token != visitor.form {
            let detail = "the form is out of date, or cookies are switched off: load its page again";
            return Err(Refusal::new(Code::Forbidden, detail));
        }
        let sent = serde_urlencoded::from_bytes(&bytes);
        let sent = sent.map_err(|error| {
            tracing::debug!(%error, "a form could not be read");
            Refusal::new(Code::BadRequest, UNREADABLE)
        })?;
        Ok(Self(visitor, sent))
    }
}

/// A form that says nothing but that it was sent.
#[derive(Deserialize)]
pub(crate) struct Nothing {}
