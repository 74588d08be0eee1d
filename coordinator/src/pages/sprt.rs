//! The calculator of sequential tests: what they say of results, and how many games they take.

use askama::Template;
use axum::{Router, extract::Query, response::Response, routing::get};

use super::page::{Page, Visitor, show};
use crate::{
    http::answer::Answer,
    reports::sprt::{Asked, Said, calculate},
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
    result: Option<Said>,
}

async fn calculator(visitor: Visitor, Query(asked): Query<Asked>) -> Answer<Response> {
    let query = serde_urlencoded::to_string(&asked).unwrap_or_default();
    let page = visitor.page("sprt", visitor.language.words().main.sprt, format!("/api/v1/sprt?{query}"));
    let (result, fault) = match calculate(&asked) {
        Ok(result) => (Some(result), None),
        Err(fault) => (None, Some(fault)),
    };
    show(&SprtPage { page, asked, fault, result })
}
