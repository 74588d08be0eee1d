//! The visitor's own account: tokens, machines, games, password.

use askama::Template;
use axum::{
    Router,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use coordinator_core::{
    clock::{DAY, SECOND},
    model::TokenId,
    ops::{
        accounts::SetPassword,
        sessions::LIFETIME_MS,
        tokens::{CreateToken, RevokeToken},
    },
    people::{self, passwords},
    query,
    reports::people::{self as facts, Delivery, Machine, Token},
    store::{Accounts, StoreError},
};
use serde::Deserialize;

use super::{
    form::{Empty, Form},
    guard::set_cookie,
    page::{Page, Visitor, show},
    signing::{self, blocking, check_attempts, clear_attempts, new_session},
    words::fill,
    workers::{Part, Parts},
};
use crate::{
    answer::{ApiResult, Path, Query},
    app::App,
    http::cookie::SESSION_COOKIE,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/me", get(me))
        .route("/me/tokens", post(create_token))
        .route("/me/tokens/{token}/revoke", post(revoke_token))
        .route("/me/password", post(change_password))
}

#[derive(Template)]
#[template(path = "me.html")]
struct MePage {
    page: Page,
    name: String,
    role: &'static str,
    rank: Option<i64>,
    games: i64,
    positions: i64,
    tokens: Vec<Token>,
    machines: Vec<Machine>,
    deliveries: Vec<Delivery>,
    parts: Parts,
    outcome: FormOutcome,
}

async fn me(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    page(&app, &visitor, part.page, FormOutcome::default()).await
}

/// The outcome of the last form: a notice, a new secret, or an error.
#[derive(Default)]
struct FormOutcome {
    notice: Option<String>,
    secret: Option<String>,
    fault: Option<String>,
    /// Whether the new token's days are invalid, and the form as sent.
    token_fault: bool,
    token: NewToken,
}

async fn page(app: &App, visitor: &Visitor, part: u32, outcome: FormOutcome) -> ApiResult<Response> {
    let session = visitor.must_be_signed_in()?;
    let account = session.account;
    let number = i64::from(part);
    let (total, rank, tokens, machines, deliveries) = app
        .report(query!(|connection| {
            let c = &mut connection;
            let mut accounts = Accounts::on(c.reborrow());
            let total = accounts.contribution(account, i64::MIN).await?;
            let rank = accounts.rank(account).await?;
            let tokens = facts::tokens(c, account, number * facts::ROWS, facts::ROWS).await?;
            let machines = facts::machines(c, Some(account), number).await?;
            Ok((total, rank, tokens, machines, facts::deliveries(c, account, number).await?))
        }))
        .await?;
    let words = &visitor.language.words().account;
    let page = visitor.page("me", words.my_account, "/api/v1/me").with_notice(outcome.notice.clone());
    let page = page.with_json(words.my_tokens, "/api/v1/tokens");
    let page = page.with_json(words.my_machines, format!("/api/v1/machines?own=true&page={number}"));
    let page = page.with_json(words.my_games, format!("/api/v1/deliveries?page={number}"));
    let rows = tokens.len().max(machines.len()).max(deliveries.len());
    show(&MePage {
        page,
        name: session.name.clone(),
        role: session.role.name(),
        rank: rank.map(|rank| rank as i64),
        games: total.games as i64,
        positions: total.positions as i64,
        tokens,
        machines,
        deliveries,
        parts: Parts::around(Part { page: part }, rows),
        outcome,
    })
}

#[derive(Default, Deserialize)]
struct NewToken {
    name: String,
    #[serde(default)]
    days: String,
}

async fn create_token(State(app): State<App>, form: Form<NewToken>) -> ApiResult<Response> {
    let Form(visitor, wanted) = form;
    let session = visitor.must_be_signed_in()?;
    let days = match wanted.days.trim() {
        "" => None,
        text => {
            let Some(days) = text.parse::<u16>().ok().filter(|days| *days > 0) else {
                let outcome = FormOutcome { token_fault: true, token: wanted, ..FormOutcome::default() };
                return Ok((StatusCode::UNPROCESSABLE_ENTITY, page(&app, &visitor, 0, outcome).await?).into_response());
            };
            Some(days)
        }
    };
    let name: String = wanted.name.trim().chars().filter(|letter| !letter.is_control()).take(60).collect();
    let name = if name.is_empty() { "token".to_owned() } else { name };
    let expires = days.map(|days| app.clock.now().after(i64::from(days) * DAY));
    let (account, role, secret) = (session.account.into(), Some(session.role), people::new_token()?);
    let by = Some(session.authority());
    app.run(CreateToken { account, name, role, expires, by, secret: secret.clone() }).await?;
    page(&app, &visitor, 0, FormOutcome { secret: Some(secret), ..FormOutcome::default() }).await
}

async fn revoke_token(State(app): State<App>, Path(token): Path<TokenId>, form: Form<Empty>) -> ApiResult<Response> {
    let Form(visitor, Empty {}) = form;
    let by = Some(visitor.must_be_signed_in()?.authority());
    app.run(RevokeToken { by, token }).await?;
    Ok(Redirect::to(&visitor.link("/me")).into_response())
}

#[derive(Deserialize)]
struct NewPassword {
    #[serde(default)]
    old: String,
    new: String,
}

async fn change_password(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<std::net::SocketAddr>,
    headers: HeaderMap,
    form: Form<NewPassword>,
) -> ApiResult<Response> {
    let Form(visitor, sent) = form;
    let session = visitor.must_be_signed_in()?.clone();
    let words = &visitor.language.words().account;
    let account = session.account;
    if let Err(minutes) = check_attempts(&app, &session.name, &headers, peer) {
        let fault = fill(words.too_often, minutes);
        return Ok((
            StatusCode::TOO_MANY_REQUESTS,
            page(&app, &visitor, 0, FormOutcome { fault: Some(fault), ..FormOutcome::default() }).await?,
        )
            .into_response());
    }
    let known = signing::find(&app, &session.name).await?.and_then(|kept| kept.password);
    let is_right = blocking(move || passwords::verify(&sent.old, known.as_deref())).await?;
    if is_right {
        clear_attempts(&app, &session.name, &headers, peer);
    }
    let hash = if is_right { blocking(move || passwords::hash(&sent.new)).await? } else { Ok(String::new()) };
    let fault = match hash {
        Ok(hash) if is_right => {
            app.run(SetPassword { account: account.into(), hash, by: Some(account) }).await?;
            // The password change ended all sessions: this visitor gets a new one.
            let cookie = new_session(&app, account, None).await?;
            let mut visitor = visitor;
            visitor.session = app.session(&cookie).await?;
            visitor.form = visitor.session.as_ref().map(|session| session.form.clone()).unwrap_or_default();
            let mut shown = page(
                &app,
                &visitor,
                0,
                FormOutcome { notice: Some(words.password_changed.to_owned()), ..FormOutcome::default() },
            )
            .await?;
            set_cookie(&mut shown, &visitor, SESSION_COOKIE, &cookie, LIFETIME_MS / SECOND);
            return Ok(shown);
        }
        Ok(_) => words.wrong.to_owned(),
        Err(StoreError::Rejected(refusal)) => visitor.refusal(&refusal),
        Err(other) => return Err(other.into()),
    };
    let shown = page(&app, &visitor, 0, FormOutcome { fault: Some(fault), ..FormOutcome::default() }).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
}
