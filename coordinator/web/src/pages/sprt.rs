//! The SPRT calculator: its verdict on results, and the expected number of games.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use coordinator_core::reports::sprt::{Fault, SprtQuery, SprtReport, calculate};

use super::{
    page::{Page, Visitor, show},
    words::Language,
};
use crate::{
    answer::{ApiResult, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new().route("/sprt", get(calculator))
}

#[derive(Template)]
#[template(path = "sprt.html")]
struct SprtPage {
    page: Page,
    query: SprtQuery,
    fault: Option<String>,
    /// The invalid field; empty if all are valid.
    wrong: &'static str,
    result: Option<SprtReport>,
}

async fn calculator(visitor: Visitor, Query(query): Query<SprtQuery>) -> ApiResult<Response> {
    let address = serde_urlencoded::to_string(&query).unwrap_or_default();
    let (result, fault) = match calculate(&query) {
        Ok(result) => (Some(result), None),
        Err(fault) => (None, Some(fault)),
    };
    let wrong = fault.map_or("", Fault::field);
    let fault = fault.map(|fault| fault.sentence(visitor.language == Language::Chinese));
    let is_wrong = fault.is_some();
    let json = if is_wrong { String::new() } else { format!("/api/v1/sprt?{address}") };
    let page = visitor.page("sprt", visitor.language.words().main.sprt, json);
    let mut response = show(&SprtPage { page, query, fault, wrong, result })?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}
