//! Requests of workers.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Extension, Json,
    body::{Body as HttpBody, Bytes},
    extract::{ConnectInfo, Path, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use dataset::{Digest, delivery, shard::Shard};
use futures_util::StreamExt as _;
use protocol::api::{
    MAX_SHARD_BYTES, SHA256_HEADER, SHARD_TYPE,
    problem::{Code, Problem},
    work::{
        Answer as WorkAnswer, Ask, Failure as Report, GiveBack, Machine, Me, Receipt, ReceiptStatus, Renew, Renewed,
        Server, Worker,
    },
};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    answer::{ApiError, ApiResult, Body, busy},
    auth::{Authenticated, MinVersion},
    limits::may_register,
    permits::Permit,
};
use crate::{
    choices::Registration as RegistrationMode,
    objects::Kind,
    people,
    service::Service,
    store::StoreError,
    validator::random,
    work::{
        leases,
        leasing::{self, Caller},
        notices,
        receiving::{self, Upload},
    },
};

pub(super) async fn server(State(service): State<Service>) -> ApiResult<Json<Server>> {
    let settings = &service.settings;
    Ok(Json(Server {
        name: settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        least_worker: settings.least_worker.clone(),
        time: service.clock.now().seconds(),
        invitation_only: service.choices().await?.registration == RegistrationMode::Invitation,
        licence: "CC0-1.0".to_owned(),
        mirror: settings.mirror.clone(),
    }))
}

pub(super) async fn me(State(service): State<Service>, caller: Authenticated) -> ApiResult<Json<Me>> {
    let (account, today) = (caller.0.account, service.clock.now().day());
    let (today, total, rank) = service
        .read(move |mut connection| {
            Box::pin(async move {
                let today = people::contribution(&mut connection, account, today).await?;
                let total = people::contribution(&mut connection, account, i64::MIN).await?;
                Ok((today, total, people::rank(&mut connection, account).await?))
            })
        })
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
    State(service): State<Service>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Body(wanted): Body<Registration>,
) -> ApiResult<(StatusCode, Json<Registered>)> {
    if wanted.licence != "CC0-1.0" {
        return Err(ApiError::new(Code::Invalid, "games are contributed under CC0-1.0: say so in `licence`"));
    }
    let registration = service.choices().await?.registration;
    if registration == RegistrationMode::Invitation && wanted.invitation.is_none() {
        return Err(ApiError::new(Code::Forbidden, "accounts are by invitation: send one in `invitation`"));
    }
    let now = service.clock.now();
    may_register(&service, &headers, peer)?;
    let state = registration.first_state(wanted.invitation.is_some());
    let (name, invitation) = (wanted.name.clone(), wanted.invitation);
    let token = service
        .write(move |mut connection| {
            let (name, invitation) = (name.clone(), invitation.clone());
            Box::pin(async move {
                let c = &mut connection;
                let account = people::register(c, now, &name, state, invitation.as_deref()).await?;
                people::create_token(c, now, account, "first", None, None).await
            })
        })
        .await?;
    let registered = Registered { account: wanted.name, token, approved: state == "active" };
    Ok((StatusCode::CREATED, Json(registered)))
}

pub(super) async fn register(
    State(service): State<Service>,
    caller: Authenticated,
    _new: MinVersion,
    Body(machine): Body<Machine>,
) -> ApiResult<Json<Worker>> {
    let (now, account) = (service.clock.now(), caller.0.account);
    let worker = service
        .write(move |mut connection| {
            let machine = machine.clone();
            Box::pin(async move { people::register_worker(&mut connection, now, account, &machine).await })
        })
        .await?;
    Ok(Json(Worker { worker }))
}

pub(super) async fn ask(
    State(service): State<Service>,
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
    let (now, policy) = (service.clock.now(), service.policy());
    let caller = Caller { account: caller.0.account, draw: random() };
    let answer = service
        .write(move |mut connection| {
            let (ask, policy) = (ask.clone(), policy.clone());
            Box::pin(async move {
                let work = leasing::acquire(&mut connection, now, caller, &ask, &policy).await?;
                Ok(WorkAnswer { work, notices: notices::unacknowledged(&mut connection, ask.worker).await? })
            })
        })
        .await?;
    Ok(Json(answer))
}

pub(super) async fn renew(
    State(service): State<Service>,
    caller: Authenticated,
    Path(lease): Path<String>,
    Body(renew): Body<Renew>,
) -> ApiResult<Json<Renewed>> {
    let (now, account) = (service.clock.now(), caller.0.account);
    let renewed = service
        .write(move |mut connection| {
            let lease = lease.clone();
            Box::pin(async move { leases::renew(&mut connection, now, account, &lease, renew.finished).await })
        })
        .await?;
    Ok(Json(renewed))
}

pub(super) async fn give_back(
    State(service): State<Service>,
    caller: Authenticated,
    Path(lease): Path<String>,
    Body(back): Body<GiveBack>,
) -> ApiResult<StatusCode> {
    let account = caller.0.account;
    service
        .write(move |mut connection| {
            let lease = lease.clone();
            Box::pin(async move { leases::release(&mut connection, account, &lease, back.from).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn fail(
    State(service): State<Service>,
    caller: Authenticated,
    Body(report): Body<Report>,
) -> ApiResult<StatusCode> {
    let (now, account) = (service.clock.now(), caller.0.account);
    service
        .write(move |mut connection| {
            let report = report.clone();
            Box::pin(async move { people::report_failure(&mut connection, now, account, &report).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Receives games. They are checked against the lease, stored and recorded before the response:
/// accepted means durable.
pub(super) async fn receive(
    State(service): State<Service>,
    caller: Authenticated,
    Path((lease, first)): Path<(String, u64)>,
    Extension(permit): Extension<Arc<Permit>>,
    headers: HeaderMap,
    body: HttpBody,
) -> ApiResult<impl IntoResponse> {
    require_type(&headers, SHARD_TYPE)?;
    let account = caller.0.account;
    let token = lease.clone();
    let expected = service
        .read(move |mut connection| {
            let token = token.clone();
            Box::pin(async move { receiving::expectation(&mut connection, account, &token, first).await })
        })
        .await?;
    let left = match remaining_quota(&service, account).await {
        // Idempotent retry: the response to the upload that filled the quota was lost.
        Err(_) if was_received(&service, &headers).await? => None,
        left => left?,
    };
    let bytes = match left {
        Some(left) if left < MAX_SHARD_BYTES => collect(&service, &headers, body, left, &permit)
            .await
            .map_err(|error| if error.0.code == Code::TooLarge { beyond_quota(&service, left) } else { error })?,
        _ => collect(&service, &headers, body, MAX_SHARD_BYTES, &permit).await?,
    };
    let hash = verify_hash(&headers, &bytes)?;
    let checked = bytes.clone();
    let totals = spawn_blocking(move || {
        // A partial upload is allowed: any whole number of units from the lease's first game.
        let rejected = |refusal: delivery::Refusal| (Code::from_name(refusal.code()), refusal.to_string());
        let found = Shard::new(&checked[..]).map_or(0, |shard| shard.games());
        let max = expected.games.end - expected.games.start;
        let count = if found == 0 || found > max || found % expected.unit != 0 { max } else { found };
        let games = expected.games.start..expected.games.start + count;
        delivery::precheck(&checked, &expected.header, games).map_err(rejected)
    })
    .await
    .map_err(|_| ApiError::new(Code::Internal, "the coordinator failed: its log says why"))?;
    let totals = match totals {
        Ok(totals) => totals,
        Err((code, detail)) => return Err(wrong_games(&service, hash, code, detail).await?),
    };
    let length = bytes.len() as u64;
    service.objects.put(Kind::Shard, bytes).await?;
    let upload =
        Upload { token: lease, account, hash, bytes: length, first, games: totals.games, positions: totals.positions };
    let now = service.clock.now();
    let (status, notices) = service
        .write(move |mut connection| {
            let upload = upload.clone();
            Box::pin(async move {
                let status = receiving::receive(&mut connection, now, &upload).await?;
                let worker = leases::worker_of_lease(&mut connection, &upload.token).await?;
                Ok((status, notices::unacknowledged(&mut connection, worker).await?))
            })
        })
        .await?;
    let code = if status == ReceiptStatus::Received { StatusCode::CREATED } else { StatusCode::OK };
    Ok((code, Json(Receipt { status, shard: hash, notices })))
}

/// The error for games that are not the lease's: they may be another lease's.
async fn wrong_games(service: &Service, hash: Digest, code: Code, detail: String) -> ApiResult<ApiError> {
    if is_known(service, hash).await? {
        let detail = format!("the shard {hash} was uploaded before, for another lease: {detail}");
        return Ok(ApiError::new(Code::Replayed, detail));
    }
    Ok(ApiError::new(code, detail))
}

/// Whether the announced body was received before.
async fn was_received(service: &Service, headers: &HeaderMap) -> ApiResult<bool> {
    let announced = headers.get(SHA256_HEADER).and_then(|value| value.to_str().ok()?.parse::<Digest>().ok());
    match announced {
        Some(hash) => is_known(service, hash).await,
        None => Ok(false),
    }
}

/// Whether such a shard was received before, for any lease.
async fn is_known(service: &Service, hash: Digest) -> ApiResult<bool> {
    let known =
        service.read(move |mut connection| Box::pin(async move { receiving::is_known(&mut connection, hash).await }));
    Ok(known.await?)
}

/// Bytes left of an account's quota; none without a quota. A full quota is an error.
async fn remaining_quota(service: &Service, account: i64) -> ApiResult<Option<u64>> {
    let Some(quota) = service.settings.quota_bytes else { return Ok(None) };
    let used = service
        .read(move |mut connection| {
            Box::pin(async move {
                let query = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM shards
                             WHERE account = $1 AND object = 'present'";
                let used: i64 = sqlx::query_scalar(query).bind(account).fetch_one(connection.raw()).await?;
                Ok::<_, StoreError>(used as u64)
            })
        })
        .await?;
    match quota.saturating_sub(used) {
        0 => Err(beyond_quota(service, 0)),
        left => Ok(Some(left)),
    }
}

fn beyond_quota(service: &Service, left: u64) -> ApiError {
    let quota = service.settings.quota_bytes.unwrap_or_default();
    let detail = format!("an account's games may take {quota} bytes here, and {left} of these are left");
    ApiError(Problem::new(Code::Quota, detail), Some(3_600))
}

/// Rejects a body of another type.
pub(super) fn require_type(headers: &HeaderMap, wanted: &str) -> ApiResult<()> {
    let found = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    if found == wanted {
        return Ok(());
    }
    Err(ApiError::new(Code::WrongType, format!("the body is of type {found:?}; it must be {wanted}")))
}

/// Reads an admitted request's body, without a permit while it arrives.
pub(super) async fn collect(
    service: &Service,
    headers: &HeaderMap,
    body: HttpBody,
    max: u64,
    permit: &Permit,
) -> ApiResult<Bytes> {
    permit.release();
    let bytes = read_body(headers, body, max, permit).await?;
    if permit.reacquire().await { Ok(bytes) } else { Err(busy(service.clock.now())) }
}

/// Reads a body up to `max` bytes.
pub(super) async fn read_body(headers: &HeaderMap, body: HttpBody, max: u64, permit: &Permit) -> ApiResult<Bytes> {
    let too_large = || ApiError::new(Code::TooLarge, format!("the body has more than {max} bytes"));
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max) {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(announced.unwrap_or(0).min(64 << 10) as usize);
    let mut stream = body.into_data_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| ApiError::new(Code::Truncated, "the body broke off"))?;
        if (bytes.len() + chunk.len()) as u64 > max {
            return Err(too_large());
        }
        if !permit.reserve(chunk.len()) {
            let detail = "too much is on its way at the same time: send it again later";
            return Err(ApiError(Problem::new(Code::TooMany, detail), Some(10)));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.into())
}

/// Computes the hash of a body, which must be the announced one.
pub(super) fn verify_hash(headers: &HeaderMap, bytes: &[u8]) -> ApiResult<Digest> {
    let announced = headers.get(SHA256_HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let announced: Digest = announced
        .parse()
        .map_err(|error| ApiError::new(Code::BadHash, format!("the header {SHA256_HEADER}: {error}")))?;
    let found = Digest::of(bytes);
    if found == announced {
        return Ok(found);
    }
    Err(ApiError::new(Code::BadHash, format!("the body's SHA-256 is {found}; {announced} was announced")))
}
