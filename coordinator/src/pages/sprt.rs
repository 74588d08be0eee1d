//! The calculator of sequential tests: what they say of results, and how many games they take.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};

use super::{
    page::{Page, Visitor, show},
    words::Language,
};
use crate::{
    http::answer::{Answer, Query},
    reports::sprt::{Asked, Fault, Said, calculate},
    service::Service,
};

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/sprt", get(calculator))
}

#[derive(Template)]
#[template(path = "sprt.html")]
struct SprtPage {
    page: Page,
    asked: Asked,
    fault: Option<String>,
    /// The field that is to be written otherwise; empty, if all is well.
    wrong: &'static str,
    result: Option<Said>,
}

async fn calculator(visitor: Visitor, Query(asked): Query<Asked>) -> Answer<Response> {
    let query = serde_urlencoded::to_string(&asked).unwrap_or_default();
    let (result, fault) = match calculate(&asked) {
        Ok(result) => (Some(result), None),
        Err(fault) => (None, Some(fault)),
    };
    let wrong = fault.map_or("", Fault::field);
    let fault = fault.map(|fault| fault.sentence(visitor.language == Language::Chinese));
    let is_wrong = fault.is_some();
    let json = if is_wrong { String::new() } else { format!("/api/v1/sprt?{query}") };
    let page = visitor.page("sprt", visitor.language.words().main.sprt, json);
    let mut response = show(&SprtPage { page, asked, fault, wrong, result })?;
    if is_wrong {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}
