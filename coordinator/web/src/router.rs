//! All routes of a coordinator: the API, the pages, and what every response carries.

use axum::{
    Router,
    http::{HeaderName, HeaderValue, header},
};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::{answer, app::App, http, pages};

/// The routes of a coordinator.
pub fn router(app: App) -> Router {
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
    };
    Router::new()
        .merge(http::routes(&app))
        .merge(pages::routes(&app))
        .fallback(pages::no_address)
        .method_not_allowed_fallback(answer::method_not_allowed)
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "same-origin"))
        .with_state(app)
}
