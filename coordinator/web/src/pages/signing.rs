//! Sign-in, sign-out, registration.

use std::net::SocketAddr;

use askama::Template;
use axum::{
    Router,
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use coordinator_core::{
    clock::SECOND,
    model::{Account, AccountId, AccountKey, AccountState, Refusal, Registration as RegistrationMode},
    ops::{
        accounts::RegisterAccount,
        sessions::{BeginSession, EndSession, LIFETIME_MS},
    },
    people::{self, passwords},
    query,
    store::{Accounts, StoreError},
};
use protocol::api::problem::Code;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use super::{
    form::{Empty, Form},
    guard::{FORM_COOKIE, set_cookie},
    page::{Page, Visitor, show},
    words::{fill, reason},
};
use crate::{
    answer::{ApiError, ApiResult, Query},
    app::App,
    http::cookie::{SESSION_COOKIE, cookie},
    limits::address_in,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/sign-in", get(sign_in_page).post(sign_in))
        .route("/sign-out", post(sign_out))
        .route("/register", get(register_page).post(register))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    page: Page,
    name: String,
    next: String,
    fault: Option<String>,
}

#[derive(Deserialize)]
struct Next {
    #[serde(default)]
    next: String,
}

/// Shows a form to an anonymous visitor, with the cookie for its CSRF check.
fn with_form(visitor: &mut Visitor, page: impl FnOnce(&Visitor) -> ApiResult<Response>) -> ApiResult<Response> {
    if !visitor.form.is_empty() {
        return page(visitor);
    }
    let secret = people::secret("")?;
    visitor.form = people::hash_of(&secret);
    let mut response = page(visitor)?;
    set_cookie(&mut response, visitor, FORM_COOKIE, &secret, 24 * 3_600);
    Ok(response)
}

async fn sign_in_page(mut visitor: Visitor, Query(next): Query<Next>) -> ApiResult<Response> {
    with_form(&mut visitor, |visitor| {
        let page = visitor.page("sign-in", visitor.language.words().account.sign_in, "");
        show(&SignInPage { page, name: String::new(), next: next.next, fault: None })
    })
}

#[derive(Clone, Deserialize)]
struct Credentials {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// The page after sign-in: one of ours, or the home page (no open redirect).
fn onward(visitor: &Visitor, next: &str) -> String {
    let is_local = next.starts_with(&visitor.link("/")) && !next.contains(['\\', '\r', '\n']) && !next.contains("//");
    if is_local { next.to_owned() } else { visitor.link("") }
}

async fn sign_in(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> ApiResult<Response> {
    let headers = request.headers().clone();
    let before = cookie(request.headers(), SESSION_COOKIE).map(ToOwned::to_owned);
    let Form(visitor, sent) = <Form<Credentials> as axum::extract::FromRequest<_>>::from_request(request, &app).await?;
    let words = &visitor.language.words().account;
    let fault = |fault: String, status| {
        let page = visitor.page("sign-in", words.sign_in, "");
        let shown = show(&SignInPage { page, name: sent.name.clone(), next: sent.next.clone(), fault: Some(fault) });
        shown.map(|shown| (status, shown).into_response())
    };
    if let Err(minutes) = check_attempts(&app, &sent.name, &headers, peer) {
        return fault(fill(words.too_often, minutes), StatusCode::TOO_MANY_REQUESTS);
    }
    let kept = find(&app, &sent.name).await?;
    let (password, hash) = (sent.password.clone(), kept.as_ref().and_then(|kept| kept.password.clone()));
    let is_right = blocking(move || passwords::verify(&password, hash.as_deref())).await?;
    let Some(kept) = kept.filter(|_| is_right) else {
        return fault(words.wrong.to_owned(), StatusCode::FORBIDDEN);
    };
    clear_attempts(&app, &sent.name, &headers, peer);
    match kept.state {
        AccountState::Active | AccountState::Quarantined => {}
        AccountState::Pending => return fault(words.pending.to_owned(), StatusCode::FORBIDDEN),
        AccountState::Blocked | AccountState::Deleted => {
            let message = kept.message.map(|why| reason(visitor.language, &why));
            return fault(message.unwrap_or_else(|| words.blocked.to_owned()), StatusCode::FORBIDDEN);
        }
    }
    begin(&app, &visitor, kept.id, before, &onward(&visitor, &sent.next)).await
}

/// Counts a password attempt. Returns the minutes to wait at the limit.
pub(super) fn check_attempts(app: &App, name: &str, headers: &HeaderMap, peer: SocketAddr) -> Result<(), i64> {
    let address = address_in(headers, peer, app.settings.behind_proxy);
    app.pages.attempts.take(name, &address, app.clock.now())
}

/// Takes a successful attempt back: only failures count.
pub(super) fn clear_attempts(app: &App, name: &str, headers: &HeaderMap, peer: SocketAddr) {
    let address = address_in(headers, peer, app.settings.behind_proxy);
    app.pages.attempts.succeed(name, &address);
}

/// Begins a session in place of the previous one, and redirects.
async fn begin(
    app: &App,
    visitor: &Visitor,
    account: AccountId,
    before: Option<String>,
    next: &str,
) -> ApiResult<Response> {
    let mut response = Redirect::to(next).into_response();
    let cookie = new_session(app, account, before).await?;
    set_cookie(&mut response, visitor, SESSION_COOKIE, &cookie, LIFETIME_MS / SECOND);
    Ok(response)
}

pub(super) async fn new_session(app: &App, account: AccountId, previous: Option<String>) -> ApiResult<String> {
    let (cookie, form) = (people::secret("")?, people::secret("")?);
    app.run(BeginSession { account, previous, cookie: cookie.clone(), form }).await?;
    Ok(cookie)
}

/// The account with this name.
pub(super) async fn find(app: &App, name: &str) -> ApiResult<Option<Account>> {
    let name = AccountKey::from(name);
    let found = app.read(query!(|connection| Accounts::on(connection).get(&name).await));
    match found.await {
        Err(StoreError::Rejected(Refusal::NoAccount { .. })) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Runs password hashing, at most four at once: argon2 needs memory and time.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    static PERMITS: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(4);
    let _permit = PERMITS.acquire().await;
    spawn_blocking(work).await.map_err(|error| StoreError::Corrupt(error.to_string()).into())
}

async fn sign_out(State(app): State<App>, request: Request) -> ApiResult<Response> {
    let session = cookie(request.headers(), SESSION_COOKIE).map(ToOwned::to_owned);
    let Form(visitor, Empty {}) = <Form<Empty> as axum::extract::FromRequest<_>>::from_request(request, &app).await?;
    if let Some(session) = session {
        app.run(EndSession { cookie: session }).await?;
    }
    let mut response = Redirect::to(&visitor.link("")).into_response();
    set_cookie(&mut response, &visitor, SESSION_COOKIE, "", 0);
    Ok(response)
}

#[derive(Template)]
#[template(path = "register.html")]
struct RegisterPage {
    page: Page,
    name: String,
    invitation: String,
    invitation_only: bool,
    approval: bool,
    fault: Option<String>,
}

#[derive(Template)]
#[template(path = "registered.html")]
struct RegisteredPage {
    page: Page,
    token: String,
    approved: bool,
}

async fn register_page(State(app): State<App>, mut visitor: Visitor) -> ApiResult<Response> {
    let mode = app.choices().await?.registration;
    with_form(&mut visitor, |visitor| show(&register_form(mode, visitor, "", "", None)))
}

fn register_form(
    mode: RegistrationMode,
    visitor: &Visitor,
    name: &str,
    invitation: &str,
    fault: Option<String>,
) -> RegisterPage {
    RegisterPage {
        page: visitor.page("register", visitor.language.words().account.register, ""),
        name: name.to_owned(),
        invitation: invitation.to_owned(),
        invitation_only: mode == RegistrationMode::Invitation,
        approval: mode == RegistrationMode::Approval,
        fault,
    }
}

#[derive(Clone, Deserialize)]
struct Registration {
    name: String,
    password: String,
    #[serde(default)]
    invitation: String,
    #[serde(default)]
    consent: String,
}

async fn register(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    form: Form<Registration>,
) -> ApiResult<Response> {
    let Form(visitor, sent) = form;
    let words = &visitor.language.words().account;
    let mode = app.choices().await?.registration;
    let fault = |fault: String| {
        let page = register_form(mode, &visitor, &sent.name, &sent.invitation, Some(fault));
        show(&page).map(|shown| (StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
    };
    if sent.consent != "CC0-1.0" {
        return fault(words.consent_needed.to_owned());
    }
    let invitation = Some(sent.invitation.trim().to_owned()).filter(|invitation| !invitation.is_empty());
    if mode == RegistrationMode::Invitation && invitation.is_none() {
        return fault(words.invitation_needed.to_owned());
    }
    app.may_register(&headers, peer)?;
    let password = sent.password.clone();
    let hash = match blocking(move || passwords::hash(&password)).await? {
        Ok(hash) => hash,
        Err(StoreError::Rejected(refusal)) => return fault(visitor.refusal(&refusal)),
        Err(other) => return Err(other.into()),
    };
    let state = mode.first_state(invitation.is_some());
    let (name, password, token) = (sent.name.clone(), Some(hash), people::new_token()?);
    let made = app.run(RegisterAccount { name, state, invitation, password, token: token.clone() }).await;
    let account = match made {
        Ok(account) => account,
        Err(StoreError::Rejected(refusal))
            if matches!(refusal.code(), Code::Invalid | Code::Conflict | Code::Forbidden) =>
        {
            return fault(visitor.refusal(&refusal));
        }
        Err(other) => return Err(ApiError::from(other)),
    };
    let approved = state == AccountState::Active;
    let mut visitor = visitor.clone();
    let mut cookie = None;
    if approved {
        let new = new_session(&app, account, None).await?;
        visitor.session = app.session(&new).await?;
        visitor.form = visitor.session.as_ref().map(|session| session.form.clone()).unwrap_or_default();
        cookie = Some(new);
    }
    let page = visitor.page("register", fill(words.registered, &sent.name), "");
    let mut response = show(&RegisteredPage { page, token, approved })?;
    if let Some(cookie) = cookie {
        set_cookie(&mut response, &visitor, SESSION_COOKIE, &cookie, LIFETIME_MS / SECOND);
    }
    Ok(response)
}
