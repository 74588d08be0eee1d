//! Administration: users, audits and disputes, events, settings.

use std::sync::Arc;

use askama::Template;
use axum::{
    Router,
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use coordinator_core::{
    model::{AccountChange, AccountKey, AccountState, Authority, EventId, Refusal, Registration, Setting, WorkerId},
    ops::{
        accounts::{ChangeAccount, DeleteAccount, Invite},
        disputes::{SetQuarantine, set_quarantine},
        settings::ChangeSetting,
        workers::{BlockWorker, TrustWorker},
    },
    people, query,
    reports::{
        log::{self, LoggedEvent},
        people::{self as facts, Account, Audits},
    },
};
use protocol::api::work::Role;
use serde::Deserialize;

use super::{
    form::Form,
    format,
    page::{Page, Visitor, show},
    words::{fill, state},
    workers::{Part, Parts},
};
use crate::{
    answer::{ApiResult, Path, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/admin", get(users))
        .route("/admin/users/{name}", post(change_user))
        .route("/admin/workers/{worker}", post(change_worker))
        .route("/admin/invitations", post(invite))
        .route("/admin/audits", get(audits))
        .route("/admin/events", get(events))
        .route("/admin/settings", get(settings))
        .route("/admin/settings/{key}", post(change_setting))
}

#[derive(Template)]
#[template(path = "admin_users.html")]
struct UsersPage {
    page: Page,
    tab: &'static str,
    users: Vec<Account>,
    parts: Parts,
}

async fn users(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    users_page(&app, &visitor, part, None).await
}

async fn users_page(app: &App, visitor: &Visitor, part: Part, notice: Option<String>) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let number = i64::from(part.page);
    let users = app.report(query!(|connection| facts::accounts(&mut connection, number).await)).await?;
    let page =
        visitor.page("admin", visitor.language.words().data_and_admin.users, "/api/v1/accounts").with_notice(notice);
    let parts = Parts::around(part, users.len());
    show(&UsersPage { page, tab: "users", users, parts })
}

#[derive(Clone, Deserialize)]
struct UserChange {
    action: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    reason: String,
}

async fn change_user(State(app): State<App>, Path(name): Path<String>, form: Form<UserChange>) -> ApiResult<Response> {
    let Form(visitor, change) = form;
    let by = visitor.must_be(Role::Maintainer)?.authority();
    if matches!(change.action.as_str(), "role" | "delete") {
        visitor.must_be(Role::Admin)?;
    }
    apply(&app, &name, change, by).await?;
    Ok(Redirect::to(&visitor.link("/admin")).into_response())
}

async fn apply(app: &App, name: &str, change: UserChange, by: Authority) -> ApiResult<()> {
    let (account, by) = (AccountKey::from(name), Some(by));
    let reason = Some(change.reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let why = || reason.clone().ok_or(Refusal::NoReason);
    let set = |change, message| ChangeAccount { account: account.clone(), changes: vec![change], message, by };
    match change.action.as_str() {
        "approve" => app.run(set(AccountChange::State(AccountState::Active), None)).await?,
        "block" => app.run(set(AccountChange::State(AccountState::Blocked), Some(why()?))).await?,
        "role" => {
            let role = change.role.parse().map_err(|_| Refusal::NoRole)?;
            app.run(set(AccountChange::Role(role), None)).await?;
        }
        "delete" => app.run(DeleteAccount { account, by }).await?,
        "quarantine" => quarantine(app, account, why()?, by, true).await?,
        "lift" => quarantine(app, account, why()?, by, false).await?,
        _ => return Err(Refusal::NoAction.into()),
    }
    Ok(())
}

/// Begins or lifts the quarantine of an account.
async fn quarantine(app: &App, account: AccountKey, why: String, by: Option<Authority>, begins: bool) -> ApiResult<()> {
    let change = SetQuarantine { account, begins, by, reason: why.as_str().into() };
    set_quarantine(&app.store, app.clock.now(), change).await?;
    Ok(())
}

#[derive(Clone, Deserialize)]
struct WorkerChange {
    action: String,
    #[serde(default)]
    message: String,
}

async fn change_worker(
    State(app): State<App>,
    Path(worker): Path<WorkerId>,
    form: Form<WorkerChange>,
) -> ApiResult<Response> {
    let Form(visitor, change) = form;
    let by = Some(visitor.must_be(Role::Maintainer)?.authority());
    let message = Some(change.message.trim().to_owned()).filter(|message| !message.is_empty());
    match change.action.as_str() {
        "block" if message.is_none() => return Err(Refusal::NoMessage.into()),
        "block" => app.run(BlockWorker { worker, message, by }).await?,
        "unblock" => app.run(BlockWorker { worker, message: None, by }).await?,
        "trust" => app.run(TrustWorker { worker, is_trusted: true, by }).await?,
        "distrust" => app.run(TrustWorker { worker, is_trusted: false, by }).await?,
        _ => return Err(Refusal::NoAction.into()),
    }
    Ok(Redirect::to(&visitor.link("/workers")).into_response())
}

#[derive(Deserialize)]
struct Invitation {
    role: Role,
}

async fn invite(State(app): State<App>, form: Form<Invitation>) -> ApiResult<Response> {
    let Form(visitor, Invitation { role }) = form;
    let session = visitor.must_be(Role::Maintainer.max(role))?;
    let (by, rights) = (session.account.into(), Some(session.authority()));
    let secret = people::secret("invitation_")?;
    app.run(Invite { by, role, rights, secret: secret.clone() }).await?;
    let notice = fill(visitor.language.words().data_and_admin.invitation_made, secret);
    users_page(&app, &visitor, Part { page: 0 }, Some(notice)).await
}

#[derive(Template)]
#[template(path = "admin_audits.html")]
struct AuditsPage {
    page: Page,
    tab: &'static str,
    audits: Audits,
    parts: Parts,
}

async fn audits(State(app): State<App>, visitor: Visitor, Query(part): Query<Part>) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let number = i64::from(part.page);
    let audits = app.report(query!(|connection| facts::audits(&mut connection, number).await)).await?;
    let page =
        visitor.page("admin", visitor.language.words().data_and_admin.audits, format!("/api/v1/audits?page={number}"));
    let parts = Parts::around(part, audits.open.len());
    show(&AuditsPage { page, tab: "audits", audits, parts })
}

#[derive(Template)]
#[template(path = "admin_events.html")]
struct EventsPage {
    page: Page,
    tab: &'static str,
    events: Vec<LoggedEvent>,
    older: Option<EventId>,
}

#[derive(Deserialize)]
struct Older {
    before: Option<i64>,
}

async fn events(State(app): State<App>, visitor: Visitor, Query(older): Query<Older>) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let before = older.before.unwrap_or(i64::MAX);
    let events = app.report(query!(|connection| log::before(&mut connection, before).await)).await?;
    let json = older.before.map_or("/api/v1/events".to_owned(), |before| format!("/api/v1/events?before={before}"));
    let older = events.last().filter(|_| events.len() == 100).map(|event| event.event);
    let page = visitor.page("admin", visitor.language.words().data_and_admin.events, json);
    show(&EventsPage { page, tab: "events", events, older })
}

#[derive(Template)]
#[template(path = "admin_settings.html")]
struct SettingsPage {
    page: Page,
    tab: &'static str,
    choices: Vec<Choice>,
    settings: Vec<(&'static str, String)>,
}

/// A setting that administrators change.
struct Choice {
    key: &'static str,
    value: String,
    /// The current value as a label.
    shown: String,
    about: &'static str,
    /// The allowed words; none for a number up to `max`.
    words: Vec<&'static str>,
    max: u32,
}

async fn settings(State(app): State<App>, visitor: Visitor) -> ApiResult<Response> {
    settings_page(&app, &visitor, None).await
}

async fn settings_page(app: &App, visitor: &Visitor, notice: Option<String>) -> ApiResult<Response> {
    visitor.must_be(Role::Maintainer)?;
    let choices = app.choices().await?;
    let it = &app.settings;
    let words = &visitor.language.words().main;
    let river = &visitor.language.words().data_and_admin;
    let yes = |is: bool| if is { words.yes } else { words.no }.to_owned();
    let choice = |key: Setting| {
        let value = choices.value(key);
        let (shown, about, words, max) = match key {
            Setting::Registration => {
                let words = Registration::ALL.iter().map(|mode| mode.name()).collect();
                (state(visitor.language, &value), river.about_registration, words, 0)
            }
            Setting::AuditPercent => (format!("{value}\u{202f}%"), river.about_audit_percent, Vec::new(), 100),
            Setting::KeepDays => {
                let shown = choices.keep_days.map_or(river.for_ever.to_owned(), |_| value.clone());
                (shown, river.about_keep_days, Vec::new(), 36_500)
            }
        };
        Choice { key: key.name(), value, shown, about, words, max }
    };
    let settings = vec![
        ("name", it.name.clone()),
        ("least_worker", it.least_worker.clone()),
        ("bench_signature", it.bench_signature.to_string()),
        ("source", it.source.clone().unwrap_or_else(|| words.none.to_owned())),
        ("mirror", it.mirror.clone().unwrap_or_else(|| words.none.to_owned())),
        ("least_free_bytes", format::bytes(it.least_free_bytes as i64)),
        ("most_waiting", format::number(it.most_waiting)),
        ("quota_bytes", it.quota_bytes.map_or_else(|| words.none.to_owned(), |quota| format::bytes(quota as i64))),
        ("most_requests", it.most_requests.to_string()),
        ("requests_per_second", it.requests_per_second.to_string()),
        ("burst", it.burst.to_string()),
        ("behind_proxy", yes(it.behind_proxy)),
    ];
    let page = visitor.page("admin", river.settings, "/api/v1/settings").with_notice(notice);
    show(&SettingsPage { page, tab: "settings", choices: Setting::ALL.iter().copied().map(choice).collect(), settings })
}

#[derive(Clone, Deserialize)]
struct SettingChange {
    value: String,
}

async fn change_setting(
    State(app): State<App>,
    Path(key): Path<String>,
    form: Form<SettingChange>,
) -> ApiResult<Response> {
    let Form(visitor, SettingChange { value }) = form;
    let by = visitor.must_be(Role::Admin)?.account;
    let key: Setting = key.parse().map_err(|_| Refusal::NoSetting)?;
    let defaults = Arc::clone(&app.settings);
    app.run(ChangeSetting { defaults, setting: key, value, by: Some(by) }).await?;
    let notice = fill(visitor.language.words().data_and_admin.setting_changed, state(visitor.language, key.name()));
    settings_page(&app, &visitor, Some(notice)).await
}
