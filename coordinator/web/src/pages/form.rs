//! Forms of the pages, with their CSRF check.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts as _, Request},
};
use coordinator_core::model::Refusal;
use protocol::api::problem::Code;
use serde::{Deserialize, de::DeserializeOwned};

use super::page::Visitor;
use crate::{
    answer::{ApiError, ApiResult},
    app::App,
};

/// Longest form: the text of a campaign.
const MAX_FORM_BYTES: usize = 256 << 10;

/// A form's visitor and its fields, after the CSRF check.
pub(crate) struct Form<T>(pub(crate) Visitor, pub(crate) T);

/// The CSRF token in the field `form`.
#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    form: String,
}

impl<T: DeserializeOwned> FromRequest<App> for Form<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, app).await?;
        let request = Request::from_parts(parts, body);
        let bytes = Bytes::from_request(request, app).await;
        let bytes = bytes.map_err(|_| ApiError::new(Code::TooLarge, "the form is too long, or broke off"))?;
        if bytes.len() > MAX_FORM_BYTES {
            return Err(Refusal::LongForm.into());
        }
        let token = serde_urlencoded::from_bytes::<Token>(&bytes).map(|token| token.form).unwrap_or_default();
        // CSRF check: the form's token must be the visitor's.
        if visitor.form.is_empty() || token != visitor.form {
            return Err(Refusal::StaleForm.into());
        }
        let sent = serde_urlencoded::from_bytes(&bytes);
        let sent = sent.map_err(|error| {
            tracing::debug!(%error, "a form could not be read");
            Refusal::UnreadableForm
        })?;
        Ok(Self(visitor, sent))
    }
}

/// A form without fields.
#[derive(Deserialize)]
pub(crate) struct Empty {}
