//! One's own account: tokens, machines, games, password.

use askama::Template;
use axum::{
    Router,
    extract::{ConnectInfo, Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use protocol::api::problem::Code;
use serde::Deserialize;

use super::{
    form::{Form, Nothing},
    guard::{SESSION_COOKIE, set_cookie},
    page::{Page, Visitor, show},
    signing::{blocking, may_try, new_session, was_right},
    words::fill,
};
use crate::{
    clock::{DAY, SECOND},
    http::answer::{Answer, Refusal},
    people::{self, passwords, sessions},
    reports::people::{self as facts, Delivery, Machine, Token},
    service::Service,
    store::Failure,
};

pub(super) fn routes() -> Router<Service> {
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
    secret: Option<String>,
    fault: Option<String>,
}

async fn me(State(service): State<Service>, visitor: Visitor) -> Answer<Response> {
    page(&service, &visitor, None, None, None).await
}

async fn page(
    service: &Service,
    visitor: &Visitor,
    notice: Option<String>,
    secret: Option<String>,
    fault: Option<String>,
) -> Answer<Response> {
    let session = visitor.must_be_known()?;
    let account = session.account;
    let (total, rank, tokens, machines, deliveries) = service
        .read(move |mut connection| {
            Box::pin(async move {
                let c = &mut connection;
                let total = people::contribution(c, account, i64::MIN).await?;
                let rank = people::rank(c, account).await?;
                let tokens = facts::tokens(c, account).await?;
                let machines = facts::machines(c, Some(account), 0).await?;
                Ok((total, rank, tokens, machines, facts::deliveries(c, account).await?))
            })
        })
        .await?;
    let words = &visitor.language.words().account;
    let page = visitor.page("me", words.my_account, "/api/v1/me").noting(notice);
    let page = page.also(words.my_tokens, "/api/v1/tokens").also(words.my_machines, "/api/v1/machines?own=true");
    let page = page.also(words.my_games, "/api/v1/deliveries");
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
        secret,
        fault,
    })
}

#[derive(Deserialize)]
struct NewToken {
    name: String,
    #[serde(default)]
    days: String,
}

async fn create_token(State(service): State<Service>, form: Form<NewToken>) -> Answer<Response> {
    let Form(visitor, wanted) = form;
    let session = visitor.must_be_known()?;
    let (now, account, role) = (service.clock.now(), session.account, session.role);
    let days = match wanted.days.trim() {
        "" => None,
        text => {
            let days = text.parse::<u16>().ok().filter(|days| *days > 0);
            Some(days.ok_or_else(|| Refusal::new(Code::Invalid, "days: a whole number from 1 to 65535"))?)
        }
    };
    let name: String = wanted.name.trim().chars().filter(|letter| !letter.is_control()).take(60).collect();
    let name = if name.is_empty() { "token".to_owned() } else { name };
    let secret = service
        .write(move |mut connection| {
            let name = name.clone();
            Box::pin(async move {
                let expires = days.map(|days| now.after(i64::from(days) * DAY));
                people::create_token(&mut connection, now, account, &name, Some(role), expires).await
            })
        })
        .await?;
    page(&service, &visitor, None, Some(secret), None).await
}

async fn revoke_token(State(service): State<Service>, Path(token): Path<i64>, form: Form<Nothing>) -> Answer<Response> {
    let Form(visitor, Nothing {}) = form;
    let (now, account) = (service.clock.now(), visitor.must_be_known()?.account);
    service
        .write(move |mut connection| {
            Box::pin(async move { people::revoke_token(&mut connection, now, Some(account), token).await })
        })
        .await?;
    Ok(Redirect::to(&visitor.link("/me")).into_response())
}

#[derive(Deserialize)]
struct NewPassword {
    #[serde(default)]
    old: String,
    new: String,
}

async fn change_password(
    State(service): State<Service>,
    ConnectInfo(peer): ConnectInfo<std::net::SocketAddr>,
    headers: HeaderMap,
    form: Form<NewPassword>,
) -> Answer<Response> {
    let Form(visitor, sent) = form;
    let session = visitor.must_be_known()?.clone();
    let words = &visitor.language.words().account;
    let (now, account) = (service.clock.now(), session.account);
    if let Err(minutes) = may_try(&service, &session.name, &headers, peer) {
        let fault = fill(words.too_often, minutes);
        return Ok(
            (StatusCode::TOO_MANY_REQUESTS, page(&service, &visitor, None, None, Some(fault)).await?).into_response()
        );
    }
    let name = session.name.clone();
    let kept = service
        .read(move |mut connection| {
            let name = name.clone();
            Box::pin(async move { passwords::find(&mut connection, &name).await })
        })
        .await?;
    let known = kept.and_then(|kept| kept.password);
    let is_right = blocking(move || passwords::verify(&sent.old, known.as_deref())).await?;
    if is_right {
        was_right(&service, &session.name, &headers, peer);
    }
    let hash = if is_right { blocking(move || passwords::hash(&sent.new)).await? } else { Ok(String::new()) };
    let fault = match hash {
        Ok(hash) if is_right => {
            service
                .write(move |mut connection| {
                    let hash = hash.clone();
                    Box::pin(async move { passwords::set(&mut connection, now, account, &hash, Some(account)).await })
                })
                .await?;
            // All sessions ended, this one too: it goes on as a new one.
            let cookie = new_session(&service, account, None).await?;
            let mut visitor = visitor;
            visitor.session = service.session(&cookie).await?;
            visitor.form = visitor.session.as_ref().map(|session| session.form.clone()).unwrap_or_default();
            let mut shown = page(&service, &visitor, Some(words.password_changed.to_owned()), None, None).await?;
            set_cookie(&mut shown, &visitor, SESSION_COOKIE, &cookie, sessions::LASTS / SECOND);
            return Ok(shown);
        }
        Ok(_) => words.wrong.to_owned(),
        Err(Failure::Refused(problem)) => visitor.refused(&problem),
        Err(other) => return Err(other.into()),
    };
    let shown = page(&service, &visitor, None, None, Some(fault)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response())
}
