//! Requests of maintainers: campaigns, nets, matches, accounts, events.

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{delete, get, post},
};
use coordinator_core::{
    clock::DAY,
    matches,
    model::{AccountChange, AccountState, CampaignCommand, CampaignKey, JobId, TokenId, WorkerId},
    ops::{
        accounts::{ChangeAccount, DeleteAccount, Invite},
        campaigns::{CommandCampaign, CreateCampaign, RollBackCampaign},
        disputes::{SetQuarantine, set_quarantine},
        matches::{BeginRatings, BeginTimedMatch},
        tokens::{CreateToken, RevokeToken},
        workers::{BlockWorker, TrustWorker},
    },
    people::{new_token, secret},
    query, ratings,
    reports::{self, log, net, people},
    timed,
};
use protocol::api::{problem::Code, work::Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::auth::Authenticated;
use crate::{
    answer::{ApiError, ApiResult, Body, Path, Query, Text},
    app::App,
};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/campaigns", get(campaigns_list).post(create_campaign))
        .route("/campaigns/{name}", get(campaign))
        .route("/campaigns/{name}/commands", post(command))
        .route("/campaigns/{name}/rollback", post(roll_back))
        .route("/campaigns/{name}/ratings", post(rate))
        .route("/campaigns/{name}/strength", get(strength))
        .route("/matches/timed", post(begin_timed))
        .route("/matches/{job}", get(match_standing))
        .route("/nets", get(nets_list))
        .route("/events", get(events))
        .route("/workers", get(workers))
        .route("/workers/{worker}/block", post(block_worker))
        .route("/workers/{worker}/trust", post(trust_worker))
        .route("/people", get(ranking))
        .route("/tokens", get(tokens).post(create_token))
        .route("/tokens/{token}", delete(revoke_token))
        .route("/invitations", post(invite))
        .route("/accounts", get(accounts))
        .route("/accounts/{name}", post(set_account).delete(delete_account))
        .route("/accounts/{name}/quarantine", post(quarantine_account).delete(lift_quarantine))
}

/// Runs a read and responds with its JSON.
macro_rules! read {
    ($app:expr, |$connection:ident| $report:expr) => {
        $app.report(query!(|connection| {
            let $connection = &mut connection;
            $report.await
        }))
        .await
        .map(|report| Json(json!(report)))
        .map_err(ApiError::from)
    };
}

async fn campaigns_list(State(app): State<App>) -> ApiResult<Json<Value>> {
    read!(app, |c| reports::campaigns(c))
}

async fn nets_list(State(app): State<App>) -> ApiResult<Json<Value>> {
    read!(app, |c| net::list(c, None, 1_000))
}

async fn ranking(State(app): State<App>) -> ApiResult<Json<Value>> {
    read!(app, |c| people::ranking(c, 0, 1_000))
}

/// A page of a list.
#[derive(Deserialize)]
struct Page {
    /// Only events older than this one.
    before: Option<i64>,
}

async fn events(State(app): State<App>, Query(page): Query<Page>, caller: Authenticated) -> ApiResult<Json<Value>> {
    caller.must_be(Role::Maintainer)?;
    read!(app, |c| log::before(c, page.before.unwrap_or(i64::MAX)))
}

async fn workers(State(app): State<App>, caller: Authenticated) -> ApiResult<Json<Value>> {
    let own = (caller.0.role < Role::Maintainer).then_some(caller.0.account);
    read!(app, |c| people::workers(c, own))
}

async fn accounts(State(app): State<App>, caller: Authenticated) -> ApiResult<Json<Value>> {
    caller.must_be(Role::Maintainer)?;
    read!(app, |c| people::all_accounts(c))
}

async fn tokens(State(app): State<App>, caller: Authenticated) -> ApiResult<Json<Value>> {
    let account = caller.0.account;
    read!(app, |c| people::all_tokens(c, account))
}

async fn match_standing(State(app): State<App>, Path(job): Path<JobId>) -> ApiResult<Json<Value>> {
    let standing = app.report(query!(|connection| matches::standing(&mut connection, job).await)).await?;
    Ok(Json(json!(standing)))
}

async fn campaign(State(app): State<App>, Path(name): Path<String>) -> ApiResult<Response> {
    let name = CampaignKey::from(name);
    let (changed, report) = app.report(query!(|connection| reports::campaign(&mut connection, &name).await)).await?;
    let mut response = Json(report).into_response();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{changed}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

async fn create_campaign(
    State(app): State<App>,
    caller: Authenticated,
    Text(text): Text,
) -> ApiResult<(StatusCode, Json<Value>)> {
    caller.must_be(Role::Maintainer)?;
    let (campaign, _) = app.run(CreateCampaign { text, by: Some(caller.0.account) }).await?;
    Ok((StatusCode::CREATED, Json(json!({ "campaign": campaign }))))
}

/// A command to a campaign.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandBody {
    command: CampaignCommand,
}

async fn command(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    headers: HeaderMap,
    Body(body): Body<CommandBody>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;

    // If-Match: optimistic concurrency.
    let seen = headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
    let seen = seen.map(|tag| tag.trim_matches('"').parse::<i64>()).transpose();
    let seen = seen.map_err(|_| ApiError::new(Code::BadRequest, "`If-Match` is no tag of a campaign"))?;
    let (campaign, by) = (name.into(), Some(caller.0.account));
    let now = app.clock.now();
    app.run(CommandCampaign::prepare(&app.store, campaign, body.command, seen, by, now).await?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The order of rating matches between a campaign's champions.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rate {
    /// Pairs of games per match.
    #[serde(default = "default_pairs")]
    pairs: u32,
    /// The nodes of a search; by default those of the campaign's gate.
    nodes: Option<u64>,
}

const fn default_pairs() -> u32 {
    ratings::DEFAULT_PAIRS
}

async fn rate(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    Body(rate): Body<Rate>,
) -> ApiResult<(StatusCode, Json<Value>)> {
    caller.must_be(Role::Maintainer)?;
    let plan = ratings::Plan { pairs: rate.pairs, nodes: rate.nodes };
    let (bench_signature, by) = (app.settings.bench_signature, Some(caller.0.account));
    let jobs = app.run(BeginRatings { campaign: name.into(), plan, bench_signature, by }).await?;
    Ok((StatusCode::CREATED, Json(json!({ "jobs": jobs }))))
}

async fn begin_timed(
    State(app): State<App>,
    caller: Authenticated,
    Body(plan): Body<timed::Plan>,
) -> ApiResult<(StatusCode, Json<Value>)> {
    caller.must_be(Role::Maintainer)?;
    let (bench_signature, by) = (app.settings.bench_signature, Some(caller.0.account));
    let job = app.run(BeginTimedMatch { plan, bench_signature, by }).await?;
    Ok((StatusCode::CREATED, Json(json!({ "job": job }))))
}

async fn strength(State(app): State<App>, Path(name): Path<String>) -> ApiResult<Json<Value>> {
    let name = CampaignKey::from(name);
    let history = app.report(query!(|connection| ratings::history(&mut connection, &name).await)).await?;
    Ok(Json(history))
}

/// The reason of an action.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Why {
    reason: String,
    /// Optimistic concurrency: the champion that the caller saw; no other is rolled back.
    #[serde(default)]
    champion: Option<String>,
}

async fn roll_back(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    Body(why): Body<Why>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;
    let (campaign, by) = (name.into(), Some(caller.0.account));
    app.run(RollBackCampaign { campaign, seen: why.champion, reason: why.reason, by }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The message to a blocked worker; none unblocks it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    message: Option<String>,
}

async fn block_worker(
    State(app): State<App>,
    caller: Authenticated,
    Path(worker): Path<WorkerId>,
    Body(block): Body<Message>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;
    let (message, by) = (block.message, Some(caller.0.authority()));
    app.run(BlockWorker { worker, message, by }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Trust in a worker: its results settle disputes.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trust {
    trusted: bool,
}

async fn trust_worker(
    State(app): State<App>,
    caller: Authenticated,
    Path(worker): Path<WorkerId>,
    Body(trust): Body<Trust>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;
    let (is_trusted, by) = (trust.trusted, Some(caller.0.authority()));
    app.run(TrustWorker { worker, is_trusted, by }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A request for a token.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    name: String,
    role: Option<Role>,
    /// Days until it expires; never by default.
    days: Option<u32>,
}

async fn create_token(
    State(app): State<App>,
    caller: Authenticated,
    Body(wanted): Body<NewToken>,
) -> ApiResult<(StatusCode, Json<Value>)> {
    let (account, own) = (caller.0.account.into(), caller.0.role);
    let role = wanted.role.unwrap_or(own);
    let expires = wanted.days.map(|days| app.clock.now().after(i64::from(days) * DAY));
    let (name, role, by, secret) = (wanted.name, Some(role), Some(caller.0.authority()), new_token()?);
    app.run(CreateToken { account, name, role, expires, by, secret: secret.clone() }).await?;
    Ok((StatusCode::CREATED, Json(json!({ "token": secret }))))
}

async fn revoke_token(
    State(app): State<App>,
    caller: Authenticated,
    Path(token): Path<TokenId>,
) -> ApiResult<StatusCode> {
    app.run(RevokeToken { by: Some(caller.0.authority()), token }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A request for an invitation.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Invitation {
    role: Role,
}

async fn invite(
    State(app): State<App>,
    caller: Authenticated,
    Body(wanted): Body<Invitation>,
) -> ApiResult<(StatusCode, Json<Value>)> {
    caller.must_be(Role::Maintainer.max(wanted.role))?;
    let secret = secret("invitation_")?;
    let (by, rights) = (caller.0.account.into(), Some(caller.0.authority()));
    app.run(Invite { by, role: wanted.role, rights, secret: secret.clone() }).await?;
    Ok((StatusCode::CREATED, Json(json!({ "invitation": secret }))))
}

/// A change of an account.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    role: Option<Role>,
    /// `active` or `blocked`.
    state: Option<String>,
    message: Option<String>,
}

async fn set_account(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    Body(change): Body<Change>,
) -> ApiResult<StatusCode> {
    caller.must_be(if change.role.is_some() { Role::Admin } else { Role::Maintainer })?;
    let state = match change.state.map(|word| word.parse()) {
        None => None,
        Some(Ok(state @ (AccountState::Active | AccountState::Blocked))) => Some(state),
        Some(_) => return Err(ApiError::new(Code::Invalid, "`state` must be active or blocked")),
    };
    let changes = change.role.map(AccountChange::Role).into_iter().chain(state.map(AccountChange::State));
    let (account, changes, by) = (name.into(), changes.collect(), Some(caller.0.authority()));
    app.run(ChangeAccount { account, changes, message: change.message, by }).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn delete_account(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
) -> ApiResult<StatusCode> {
    let own = name.eq_ignore_ascii_case(&caller.0.name);
    if !own {
        caller.must_be(Role::Admin)?;
    }
    app.run(DeleteAccount { account: name.into(), by: Some(caller.0.authority()) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn quarantine_account(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    Body(why): Body<Why>,
) -> ApiResult<StatusCode> {
    change_quarantine(app, caller, name, why, true).await
}

async fn lift_quarantine(
    State(app): State<App>,
    caller: Authenticated,
    Path(name): Path<String>,
    Body(why): Body<Why>,
) -> ApiResult<StatusCode> {
    change_quarantine(app, caller, name, why, false).await
}

async fn change_quarantine(
    app: App,
    caller: Authenticated,
    name: String,
    why: Why,
    begins: bool,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Maintainer)?;
    let (account, by) = (name.into(), Some(caller.0.authority()));
    let change = SetQuarantine { account, begins, by, reason: why.reason.as_str().into() };
    set_quarantine(&app.store, app.clock.now(), change).await?;
    Ok(StatusCode::NO_CONTENT)
}
