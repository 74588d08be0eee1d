//! The pages' data as JSON: read only, also with the session cookie of the pages.

use axum::{
    Json, Router,
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
    routing::get,
};
use coordinator_core::{
    model::{AccountId, CampaignKey, JobId, RulingId, Setting},
    query,
    reports::{campaign, data, matches, net, overview, people, sprt, trust},
    store::{Rulings, StoreError},
};
use protocol::api::{problem::Code, work::Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{auth::Authenticated, files};
use crate::{
    answer::{ApiError, ApiResult, Path, Query},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/overview", get(overview_report))
        .route("/campaigns/{name}/progress", get(campaign_progress))
        .route("/matches", get(matches_list))
        .route("/matches/{job}/details", get(match_details))
        .route("/matches/{job}/workers", get(match_workers))
        .route("/matches/{job}/openings", get(match_openings))
        .route("/nets/{hash}/card", get(net_card))
        .route("/curves/{hash}", get(files::curves))
        .route("/data", get(data_report))
        .route("/machines", get(machines))
        .route("/people/{name}", get(person))
        .route("/people/{name}/own", get(person_own))
        .route("/sprt", get(sprt_report))
        .route("/settings", get(settings))
        .route("/failures", get(failures))
        .route("/audits", get(audits))
        .route("/trust", get(trust_report))
        .route("/deliveries", get(deliveries))
        .route("/rulings/{ruling}", get(ruling))
}

/// Runs a read and responds with its JSON.
macro_rules! read {
    ($app:expr, |$connection:ident| $report:expr) => {{
        let report = $app.report(query!(|connection| {
            let $connection = &mut connection;
            $report.await
        }));
        Ok(Json(json!(report.await?)))
    }};
}

async fn overview_report(State(app): State<App>) -> ApiResult<Json<Value>> {
    let now = app.clock.now();
    read!(app, |c| overview::overview(c, now))
}

async fn campaign_progress(State(app): State<App>, Path(name): Path<String>) -> ApiResult<Json<Value>> {
    let name = CampaignKey::from(name);
    let report = app.report(query!(|connection| campaign::progress(&mut connection, &name).await));
    Ok(Json(json!(report.await?)))
}

/// The certificate of a ruling, for anyone to verify.
async fn ruling(State(app): State<App>, Path(ruling): Path<RulingId>) -> ApiResult<Response> {
    let found = app.read(query!(|connection| Rulings::on(connection).certificate(ruling).await));
    let none = || ApiError::new(Code::NotFound, format!("there is no ruling {ruling}"));
    let certificate = found.await?.ok_or_else(none)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], certificate).into_response())
}

async fn matches_list(State(app): State<App>, Query(page): Query<Page>) -> ApiResult<Json<Value>> {
    read!(app, |c| matches::list(c, page.page))
}

async fn match_details(State(app): State<App>, Path(job): Path<JobId>) -> ApiResult<Json<Value>> {
    Ok(Json(json!(matches::details(&app, &app.pages.matches, job).await?)))
}

async fn match_workers(
    State(app): State<App>,
    Path(job): Path<JobId>,
    Query(page): Query<Page>,
) -> ApiResult<Json<Value>> {
    let page = usize::try_from(page.page).unwrap_or_default();
    Ok(Json(json!(matches::all_workers(&app, &app.pages.matches, job, page).await?)))
}

async fn match_openings(
    State(app): State<App>,
    Path(job): Path<JobId>,
    Query(page): Query<Page>,
) -> ApiResult<Json<Value>> {
    Ok(Json(json!(matches::openings(&app, job, page.page).await?)))
}

async fn net_card(State(app): State<App>, Path(hash): Path<String>) -> ApiResult<Json<Value>> {
    let report = app.report(query!(|connection| net::card(&mut connection, &hash).await));
    Ok(Json(json!(report.await?)))
}

async fn data_report(State(app): State<App>, Query(page): Query<Page>) -> ApiResult<Json<Value>> {
    let now = app.clock.now();
    read!(app, |c| data::data(c, now, page.page))
}

/// A page of rows, counted from 0.
#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    page: i64,
    /// Only the caller's own rows, whatever its role.
    #[serde(default)]
    own: bool,
}

/// The filter of a caller: maintainers see all accounts, others their own.
fn own(caller: &Authenticated) -> Option<AccountId> {
    (caller.0.role < Role::Maintainer).then_some(caller.0.account)
}

async fn machines(State(app): State<App>, caller: Authenticated, Query(page): Query<Page>) -> ApiResult<Json<Value>> {
    let own = if page.own { Some(caller.0.account) } else { own(&caller) };
    read!(app, |c| people::machines(c, own, page.page))
}

async fn person(State(app): State<App>, Path(name): Path<String>) -> ApiResult<Json<Value>> {
    let report = app.report(query!(|connection| people::person(&mut connection, &name).await));
    Ok(Json(json!(report.await?.2)))
}

/// The private part of a person's page.
async fn person_own(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    Query(page): Query<Page>,
) -> ApiResult<Json<Value>> {
    let now = app.clock.now();
    let (viewer, is_maintainer) = (caller.0.account, caller.0.role >= Role::Maintainer);
    let report = app.report(query!(|connection| {
        let c = &mut connection;
        let (account, state, _) = people::person(c, &name).await?;
        if account != viewer && !is_maintainer {
            return Err(StoreError::rejected(Code::Forbidden, "only this person and maintainers see this"));
        }
        let days = people::days(c, account, now).await?;
        Ok(json!({ "state": state, "days": days, "machines": people::machines(c, Some(account), page.page).await? }))
    }));
    Ok(Json(report.await?))
}

async fn sprt_report(Query(query): Query<sprt::SprtQuery>) -> ApiResult<Json<Value>> {
    match sprt::calculate(&query) {
        Ok(report) => Ok(Json(json!(report))),
        Err(fault) => Err(ApiError::new(Code::Invalid, fault.sentence(false))),
    }
}

async fn settings(State(app): State<App>, caller: Authenticated) -> ApiResult<Json<Value>> {
    caller.must_be(Role::Maintainer)?;
    let (chosen, it) = (app.choices().await?, &app.settings);
    let chosen: serde_json::Map<_, _> =
        Setting::ALL.iter().map(|&key| (key.name().to_owned(), chosen.value(key).into())).collect();
    Ok(Json(json!({
        "chosen": chosen, "name": it.name, "least_worker": it.least_worker, "bench_signature": it.bench_signature,
        "source": it.source, "mirror": it.mirror, "least_free_bytes": it.least_free_bytes, "most_waiting": it.most_waiting,
        "quota_bytes": it.quota_bytes, "most_requests": it.most_requests,
        "requests_per_second": it.requests_per_second, "burst": it.burst, "behind_proxy": it.behind_proxy,
    })))
}

async fn failures(State(app): State<App>, caller: Authenticated, Query(page): Query<Page>) -> ApiResult<Json<Value>> {
    let own = own(&caller);
    read!(app, |c| people::failures(c, own, page.page))
}

async fn audits(State(app): State<App>, caller: Authenticated, Query(page): Query<Page>) -> ApiResult<Json<Value>> {
    caller.must_be(Role::Maintainer)?;
    read!(app, |c| people::audits(c, page.page))
}

async fn trust_report(State(app): State<App>, caller: Authenticated) -> ApiResult<Json<Value>> {
    caller.must_be(Role::Maintainer)?;
    let now = app.clock.now();
    read!(app, |c| trust::trust(c, now))
}

async fn deliveries(State(app): State<App>, caller: Authenticated, Query(page): Query<Page>) -> ApiResult<Json<Value>> {
    let account = caller.0.account;
    read!(app, |c| people::deliveries(c, account, page.page))
}
