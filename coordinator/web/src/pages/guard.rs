//! Middleware of the pages.
//!
//! It resolves the session once. Writes must come from our own pages: this module checks the origin
//! that browsers send, and `form` the CSRF token. Problems are rendered as pages.

use std::net::SocketAddr;

use askama::Template;
use axum::{
    Extension,
    extract::{ConnectInfo, OriginalUri, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header, uri::PathAndQuery},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use coordinator_core::{model::Refusal, people, reports::marks::Marks};
use protocol::api::problem::{Code, PROBLEM_TYPE};

use super::{
    engine,
    page::{Page, Visitor, show},
    words::Language,
};
use crate::{
    answer::ApiError,
    app::App,
    http::{
        cookie::{SESSION_COOKIE, cookie},
        live,
    },
    zipping,
};

/// The cookie of anonymous visitors, from which their CSRF token is derived.
pub(super) const FORM_COOKIE: &str = "chuhe_form";

/// Content security policy: own resources only, nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Resolves the visitor, and rejects requests from other sites.
pub(super) async fn identify(
    State(app): State<App>,
    Extension(language): Extension<Language>,
    OriginalUri(uri): OriginalUri,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let session = match cookie(request.headers(), SESSION_COOKIE) {
        Some(cookie) => app.session(cookie).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a session was not looked up");
            None
        }),
        None => None,
    };
    let form = match (&session, cookie(request.headers(), FORM_COOKIE)) {
        (Some(session), _) => session.form.clone(),
        (None, Some(cookie)) => people::hash_of(cookie),
        (None, None) => String::new(),
    };
    let rest = uri.path_and_query().map_or("", |it| it.as_str());
    let rest = rest.get(language.code().len() + 1..).unwrap_or_default().to_owned();
    // Read before the page's data: the page is at least as new as its marks.
    let marks = if *request.method() == Method::GET { live::marks(&app).await.ok() } else { None };
    let visitor = Visitor {
        language,
        session,
        form,
        rest,
        state: marks.map_or_else(String::new, Marks::to_text),
        server: app.settings.name.clone(),
        source: app.settings.source.clone(),
        engine: app.engine.as_ref().map(|engine| engine.address()),
        origin: origin(request.headers(), app.settings.behind_proxy),
        now: app.clock.now(),
        is_local: peer.ip().is_loopback() && !app.settings.behind_proxy,
    };
    let mut response = if is_same_origin(request.method(), request.headers()) {
        request.extensions_mut().insert(visitor.clone());
        next.run(request).await
    } else {
        ApiError::from(Refusal::ForeignForm).into_response()
    };
    response.extensions_mut().insert(visitor);
    response
}

/// The address at which a browser reaches the server. The coordinator itself speaks no TLS; a proxy
/// names its protocol.
fn origin(headers: &HeaderMap, behind_proxy: bool) -> String {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let is_host = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte));
    let host = text(header::HOST).filter(is_host).unwrap_or("127.0.0.1:7272");
    let is_http = !behind_proxy || text(HeaderName::from_static("x-forwarded-proto")) == Some("http");
    format!("{}://{host}", if is_http { "http" } else { "https" })
}

/// CSRF check: a write must come from this host, as far as the browser names its origin.
fn is_same_origin(method: &Method, headers: &HeaderMap) -> bool {
    if matches!(*method, Method::GET | Method::HEAD) {
        return true;
    }
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if site.is_some_and(|site| site != "same-origin") {
        return false;
    }
    match (text(header::ORIGIN), text(header::HOST)) {
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, origin)| origin == host),
        (Some(_), None) => false,
        // Without either header: no current browser, or one that sent `Sec-Fetch-Site`.
        (None, _) => true,
    }
}

/// Renders problems as pages, compresses, and sets the security headers.
pub(super) async fn finish(
    State(app): State<App>,
    Extension(language): Extension<Language>,
    OriginalUri(uri): OriginalUri,
    request: Request,
    next: Next,
) -> Response {
    let wants_page = *request.method() != Method::HEAD;
    let wants_zipped = wants_page && zipping::is_wanted(request.headers());
    let mut response = next.run(request).await;
    let is_problem = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == PROBLEM_TYPE);
    if is_problem && wants_page {
        response = render_problem(&app, language, &uri, response);
    }
    // Against BREACH: no compression of a page with a CSRF token that repeats the visitor's input.
    let has_secret = response.extensions().get::<Visitor>().is_none_or(|visitor| !visitor.form.is_empty());
    let repeats_input = uri.query().is_some() || !response.status().is_success();
    if wants_zipped && !(has_secret && repeats_input) {
        response = zipping::zip(response).await;
    }
    set_security_headers(&mut response);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Cookie, Accept-Encoding"));
    response
}

fn set_security_headers(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    engine::isolate(response);
}

/// Renders a problem as a page with the security headers.
pub(super) fn render_problem(app: &App, language: Language, uri: &Uri, mut response: Response) -> Response {
    let visitor = response.extensions_mut().remove::<Visitor>();
    let visitor = visitor.unwrap_or_else(|| Visitor {
        language,
        session: None,
        form: String::new(),
        rest: String::new(),
        state: String::new(),
        server: app.settings.name.clone(),
        source: app.settings.source.clone(),
        engine: None,
        origin: String::new(),
        now: app.clock.now(),
        is_local: false,
    });
    let address = uri.path_and_query().map_or_else(|| uri.path(), PathAndQuery::as_str);
    let mut page = as_page(&response, &visitor, address);
    set_security_headers(&mut page);
    page
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    page: Page,
    status: u16,
    detail: String,
}

fn as_page(response: &Response, visitor: &Visitor, address: &str) -> Response {
    let refusal = response.extensions().get().cloned().unwrap_or(Refusal::CoordinatorFailed);
    // Anonymous visitors may sign in, and continue here.
    if refusal.code() == Code::NoToken {
        let query = serde_urlencoded::to_string([("next", address)]).unwrap_or_default();
        return Redirect::to(&format!("{}?{query}", visitor.link("/sign-in"))).into_response();
    }
    let page = visitor.page("", visitor.language.words().main.error, "");
    let detail = match refusal {
        Refusal::NoAddress => page.t.main.not_found.to_owned(),
        refusal => visitor.refusal(&refusal),
    };
    let shown = show(&ErrorPage { page, status: response.status().as_u16(), detail });
    let mut page = shown.unwrap_or_else(IntoResponse::into_response);
    *page.status_mut() = response.status();
    if let Some(wait) = response.headers().get(header::RETRY_AFTER) {
        page.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    page
}

/// Sets a cookie that is hidden from scripts (`HttpOnly`) and not sent by other sites (`SameSite`).
pub(super) fn set_cookie(response: &mut Response, visitor: &Visitor, name: &str, value: &str, seconds: i64) {
    let secure = if visitor.is_local { "" } else { "; Secure" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_our_pages_send_forms() {
        let accepted = |pairs: &[_]| is_same_origin(&Method::POST, &headers(pairs));
        assert!(accepted(&[
            ("origin", "https://chuhe.test"),
            ("host", "chuhe.test"),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(!accepted(&[("origin", "https://evil.test"), ("host", "chuhe.test")]));
        assert!(!accepted(&[("origin", "null"), ("host", "chuhe.test")]));
        assert!(!accepted(&[("sec-fetch-site", "cross-site"), ("host", "chuhe.test")]));
        assert!(!accepted(&[("sec-fetch-site", "none"), ("host", "chuhe.test")]));
        assert!(is_same_origin(&Method::GET, &headers(&[("sec-fetch-site", "cross-site")])));
    }
}
