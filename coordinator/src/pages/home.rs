//! The home page: what runs, how fast, and how strong it became.

use askama::Template;
use axum::{Router, extract::State, response::Response, routing::get};

use super::page::{Page, Visitor, show};
use crate::{http::answer::Answer, service::Service};

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/", get(home))
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    page: Page,
}

async fn home(State(_service): State<Service>, visitor: Visitor) -> Answer<Response> {
    show(&HomePage { page: visitor.page("home", visitor.server.clone(), "/api/v1/overview") })
}
