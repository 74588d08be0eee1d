//! Requests of workers.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Extension, Json,
    body::Body as HttpBody,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use coordinator_core::{
    model::{AccountId, AccountState, LeaseToken, Refusal, Registration as RegistrationMode},
    objects::Kind,
    ops::{
        accounts::RegisterAccount,
        leases::{AcquireLease, Caller, ReleaseLease, RenewLease},
        uploads::{ReceiveUpload, expectation},
        workers::{RegisterWorker, ReportFailure},
    },
    people::new_token,
    query,
    rules::granting,
    store::{Accounts, Shards},
    validator::random,
};
use dataset::{Digest, delivery, shard::Shard};
use protocol::api::{
    MAX_SHARD_BYTES, SHA256_HEADER, SHARD_TYPE,
    problem::Code,
    work::{
        Answer as WorkAnswer, Ask, Failure as Report, GiveBack, Machine, Me, Receipt, ReceiptStatus, Renew, Renewed,
        Server, Worker,
    },
};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    auth::{Authenticated, MinVersion},
    body::{collect, require_type, verify_hash},
};
use crate::{
    answer::{ApiError, ApiResult, Body, Path},
    app::App,
    limits::{network_in, permits::Permit},
};

pub(super) async fn server(State(app): State<App>) -> ApiResult<Json<Server>> {
    let settings = &app.settings;
    Ok(Json(Server {
        name: settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        least_worker: settings.least_worker.clone(),
        time: app.clock.now().seconds(),
        invitation_only: app.choices().await?.registration == RegistrationMode::Invitation,
        licence: "CC0-1.0".to_owned(),
        mirror: settings.mirror.clone(),
    }))
}

pub(super) async fn me(State(app): State<App>, caller: Authenticated) -> ApiResult<Json<Me>> {
    let (account, today) = (caller.0.account, app.clock.now().day());
    let (today, total, rank) = app
        .read(query!(|connection| {
            let mut accounts = Accounts::on(connection);
            let today = accounts.contribution(account, today).await?;
            let total = accounts.contribution(account, i64::MIN).await?;
            Ok((today, total, accounts.rank(account).await?))
        }))
        .await?;
    let page = format!("/people/{}", caller.0.name);
    Ok(Json(Me { account: caller.0.name, role: caller.0.role, today, total, rank, page }))
}

/// A request for an account.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Registration {
    name: String,
    /// The licence of contributed games: it must be the server's.
    licence: String,
    #[serde(default)]
    invitation: Option<String>,
}

/// The account's first token, shown once.
#[derive(Clone, Serialize)]
pub(super) struct Registered {
    account: String,
    token: String,
    approved: bool,
}

pub(super) async fn register_account(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Body(wanted): Body<Registration>,
) -> ApiResult<(StatusCode, Json<Registered>)> {
    if wanted.licence != "CC0-1.0" {
        return Err(ApiError::new(Code::Invalid, "games are contributed under CC0-1.0: say so in `licence`"));
    }
    let registration = app.choices().await?.registration;
    if registration == RegistrationMode::Invitation && wanted.invitation.is_none() {
        return Err(ApiError::new(Code::Forbidden, "accounts are by invitation: send one in `invitation`"));
    }
    app.may_register(&headers, peer)?;
    let state = registration.first_state(wanted.invitation.is_some());
    let (name, invitation, token) = (wanted.name.clone(), wanted.invitation, new_token()?);
    app.run(RegisterAccount { name, state, invitation, password: None, token: token.clone() }).await?;
    let registered = Registered { account: wanted.name, token, approved: state == AccountState::Active };
    Ok((StatusCode::CREATED, Json(registered)))
}

pub(super) async fn register(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    caller: Authenticated,
    _new: MinVersion,
    Body(machine): Body<Machine>,
) -> ApiResult<Json<Worker>> {
    let network = Some(network_in(&headers, peer, app.settings.behind_proxy));
    let (account, token) = (caller.0.account, caller.0.token);
    let worker = app.run(RegisterWorker { account, token, machine, network }).await?;
    Ok(Json(Worker { worker: worker.0 }))
}

pub(super) async fn ask(
    State(app): State<App>,
    caller: Authenticated,
    _new: MinVersion,
    Body(ask): Body<Ask>,
) -> ApiResult<Json<WorkAnswer>> {
    if ask.nonce.is_empty() || ask.nonce.len() > 64 {
        return Err(ApiError::new(Code::Invalid, "`nonce` must have 1 to 64 characters"));
    }
    if ask.acknowledged.len() > Ask::MAX_ACKNOWLEDGED {
        return Err(ApiError::new(Code::Invalid, format!("`heard` names more than {} shards", Ask::MAX_ACKNOWLEDGED)));
    }
    let caller = Caller { account: caller.0.account, token: caller.0.token, draw: random() };
    let policy = app.policy();
    Ok(Json(app.run(AcquireLease { caller, ask, policy }).await?))
}

pub(super) async fn renew(
    State(app): State<App>,
    caller: Authenticated,
    Path(lease): Path<String>,
    Body(renew): Body<Renew>,
) -> ApiResult<Json<Renewed>> {
    let (account, lease) = (caller.0.account, LeaseToken(lease));
    let fleet = app.policy().fleet.active;
    Ok(Json(app.run(RenewLease { account, lease, finished: renew.finished, fleet }).await?))
}

pub(super) async fn give_back(
    State(app): State<App>,
    caller: Authenticated,
    Path(lease): Path<String>,
    Body(back): Body<GiveBack>,
) -> ApiResult<StatusCode> {
    let (account, lease) = (caller.0.account, LeaseToken(lease));
    app.run(ReleaseLease { account, lease, from: back.from }).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn fail(
    State(app): State<App>,
    caller: Authenticated,
    Body(report): Body<Report>,
) -> ApiResult<StatusCode> {
    app.run(ReportFailure { account: caller.0.account, report }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Receives games. They are checked against the lease, stored and recorded before the response:
/// accepted means durable.
pub(super) async fn receive(
    State(app): State<App>,
    caller: Authenticated,
    Path((lease, first)): Path<(String, u64)>,
    Extension(permit): Extension<Arc<Permit>>,
    headers: HeaderMap,
    body: HttpBody,
) -> ApiResult<impl IntoResponse> {
    require_type(&headers, SHARD_TYPE)?;
    let (account, token, lease) = (caller.0.account, caller.0.token, LeaseToken(lease));
    let wanted = lease.clone();
    let expected = app.read(query!(|connection| expectation(connection, account, token, &wanted, first).await)).await?;
    require_room(&app, account, &headers).await?;
    let left = match remaining_quota(&app, account).await {
        // Idempotent retry: the response to the upload that filled the quota was lost.
        Err(_) if was_received(&app, &headers).await? => None,
        left => left?,
    };
    let bytes = match left {
        Some(left) if left < MAX_SHARD_BYTES => collect(&app, &headers, body, left, &permit)
            .await
            .map_err(|error| if error.0.code() == Code::TooLarge { beyond_quota(&app, left) } else { error })?,
        _ => collect(&app, &headers, body, MAX_SHARD_BYTES, &permit).await?,
    };
    let hash = verify_hash(&headers, &bytes)?;
    let (checked, terms) = (bytes.clone(), expected.clone());
    let totals = spawn_blocking(move || {
        // A partial upload is allowed: any whole number of units from the lease's first game.
        let rejected = |refusal: delivery::Refusal| (Code::from_name(refusal.code()), refusal.to_string());
        let found = Shard::new(&checked[..]).map_or(0, |shard| shard.games());
        let max = terms.games.end - terms.games.start;
        let count = if found == 0 || found > max || found % terms.unit != 0 { max } else { found };
        let games = terms.games.start..terms.games.start + count;
        delivery::precheck(&checked, &terms.header, games).map_err(rejected)
    })
    .await
    .map_err(|_| Refusal::CoordinatorFailed)?;
    let totals = match totals {
        Ok(totals) => totals,
        Err((code, detail)) => return Err(wrong_games(&app, hash, code, detail).await?),
    };
    let (length, games, positions) = (bytes.len() as u64, totals.games, totals.positions);
    // Refused uploads are not stored.
    if !expected.is_repeated(hash, first, games)? {
        app.objects.put(Kind::Shard, bytes).await?;
    }
    let upload = ReceiveUpload { account, token, lease, hash, bytes: length, first, games, positions };
    let (status, notices) = app.run(upload).await?;
    let code = if status == ReceiptStatus::Received { StatusCode::CREATED } else { StatusCode::OK };
    Ok((code, Json(Receipt { status, shard: hash, notices })))
}

/// Refuses an upload of an account that fills the backlog of validation, unless it is a repetition.
async fn require_room(app: &App, account: AccountId, headers: &HeaderMap) -> ApiResult<()> {
    let uploads = app.read(query!(|connection| Shards::on(connection).waiting_of(account).await)).await?;
    let max_waiting = app.policy().max_waiting;
    if granting::may_upload(app.settings.most_waiting, max_waiting, uploads) || was_received(app, headers).await? {
        return Ok(());
    }
    Err(Refusal::UploadsWaiting { uploads }.into())
}

/// The error for games that are not the lease's: they may be another lease's.
async fn wrong_games(app: &App, hash: Digest, code: Code, detail: String) -> ApiResult<ApiError> {
    if is_known(app, hash).await? {
        let detail = format!("the shard {hash} was uploaded before, for another lease: {detail}");
        return Ok(ApiError::new(Code::Replayed, detail));
    }
    Ok(ApiError::new(code, detail))
}

/// Whether the announced body was received before.
async fn was_received(app: &App, headers: &HeaderMap) -> ApiResult<bool> {
    let announced = headers.get(SHA256_HEADER).and_then(|value| value.to_str().ok()?.parse::<Digest>().ok());
    match announced {
        Some(hash) => is_known(app, hash).await,
        None => Ok(false),
    }
}

/// Whether such a shard was received before, for any lease.
async fn is_known(app: &App, hash: Digest) -> ApiResult<bool> {
    Ok(app.read(query!(|connection| Shards::on(connection).is_known(hash).await)).await?)
}

/// Bytes left of an account's quota; none without a quota. A full quota is an error.
async fn remaining_quota(app: &App, account: AccountId) -> ApiResult<Option<u64>> {
    let Some(quota) = app.settings.quota_bytes else { return Ok(None) };
    let used = app.read(query!(|connection| Accounts::on(connection).stored_bytes(account).await)).await?;
    match quota.saturating_sub(used) {
        0 => Err(beyond_quota(app, 0)),
        left => Ok(Some(left)),
    }
}

fn beyond_quota(app: &App, left: u64) -> ApiError {
    let quota = app.settings.quota_bytes.unwrap_or_default();
    let detail = format!("an account's games may take {quota} bytes here, and {left} of these are left");
    ApiError::new(Code::Quota, detail).retry_after(3_600)
}
