//! What workers ask.

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
    MOST_SHARD_BYTES, SHA256_HEADER, SHARD_TYPE,
    problem::{Code, Problem},
    work::{
        Answer as WorkAnswer, Ask, Failure as Report, GiveBack, Machine, Me, Receipt, ReceiptStatus, Renew, Renewed,
        Server, Worker,
    },
};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    answer::{Answer, Body, Refusal, busy},
    auth::{NewEnough, Sender},
    limits::may_register,
    places::Place,
};
use crate::{
    choices::Registration as Who,
    objects::Kind,
    people,
    service::Service,
    store::Failure,
    validator::random,
    work::{
        leases,
        leasing::{self, Asker},
        notices,
        receiving::{self, Upload},
    },
};

pub(super) async fn server(State(service): State<Service>) -> Answer<Json<Server>> {
    let settings = &service.settings;
    Ok(Json(Server {
        name: settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        least_worker: settings.least_worker.clone(),
        time: service.clock.now().seconds(),
        invitation_only: service.choices().await?.registration == Who::Invitation,
        licence: "CC0-1.0".to_owned(),
        mirror: settings.mirror.clone(),
    }))
}

pub(super) async fn me(State(service): State<Service>, sender: Sender) -> Answer<Json<Me>> {
    let (account, today) = (sender.0.account, service.clock.now().day());
    let (today, total, rank) = service
        .read(move |mut connection| {
            Box::pin(async move {
                let today = people::contribution(&mut connection, account, today).await?;
                let total = people::contribution(&mut connection, account, i64::MIN).await?;
                Ok((today, total, people::rank(&mut connection, account).await?))
            })
        })
        .await?;
    let page = format!("/people/{}", sender.0.name);
    Ok(Json(Me { account: sender.0.name, role: sender.0.role, today, total, rank, page }))
}

/// Somebody wants an account.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Registration {
    name: String,
    /// That games are contributed under this licence: it must be the server's.
    licence: String,
    #[serde(default)]
    invitation: Option<String>,
}

/// The account's first token; it is shown once.
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
) -> Answer<(StatusCode, Json<Registered>)> {
    if wanted.licence != "CC0-1.0" {
        return Err(Refusal::new(Code::Invalid, "games are contributed under CC0-1.0: say so in `licence`"));
    }
    let registration = service.choices().await?.registration;
    if registration == Who::Invitation && wanted.invitation.is_none() {
        return Err(Refusal::new(Code::Forbidden, "accounts are by invitation: send one in `invitation`"));
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
    sender: Sender,
    _new: NewEnough,
    Body(machine): Body<Machine>,
) -> Answer<Json<Worker>> {
    let (now, account) = (service.clock.now(), sender.0.account);
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
    sender: Sender,
    _new: NewEnough,
    Body(ask): Body<Ask>,
) -> Answer<Json<WorkAnswer>> {
    if ask.nonce.is_empty() || ask.nonce.len() > 64 {
        return Err(Refusal::new(Code::Invalid, "`nonce` must have 1 to 64 characters"));
    }
    if ask.heard.len() > Ask::MOST_HEARD {
        return Err(Refusal::new(Code::Invalid, format!("`heard` names more than {} shards", Ask::MOST_HEARD)));
    }
    let (now, policy) = (service.clock.now(), service.policy());
    let asker = Asker { account: sender.0.account, draw: random() };
    let answer = service
        .write(move |mut connection| {
            let (ask, policy) = (ask.clone(), policy.clone());
            Box::pin(async move {
                let work = leasing::ask(&mut connection, now, asker, &ask, &policy).await?;
                Ok(WorkAnswer { work, notices: notices::waiting(&mut connection, ask.worker).await? })
            })
        })
        .await?;
    Ok(Json(answer))
}

pub(super) async fn renew(
    State(service): State<Service>,
    sender: Sender,
    Path(lease): Path<String>,
    Body(renew): Body<Renew>,
) -> Answer<Json<Renewed>> {
    let (now, account) = (service.clock.now(), sender.0.account);
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
    sender: Sender,
    Path(lease): Path<String>,
    Body(back): Body<GiveBack>,
) -> Answer<StatusCode> {
    let account = sender.0.account;
    service
        .write(move |mut connection| {
            let lease = lease.clone();
            Box::pin(async move { leases::give_back(&mut connection, account, &lease, back.from).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn fail(
    State(service): State<Service>,
    sender: Sender,
    Body(report): Body<Report>,
) -> Answer<StatusCode> {
    let (now, account) = (service.clock.now(), sender.0.account);
    service
        .write(move |mut connection| {
            let report = report.clone();
            Box::pin(async move { people::report_failure(&mut connection, now, account, &report).await })
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Games arrive: checked against the lease, stored, noted, and only then answered.
pub(super) async fn receive(
    State(service): State<Service>,
    sender: Sender,
    Path((lease, first)): Path<(String, u64)>,
    Extension(place): Extension<Arc<Place>>,
    headers: HeaderMap,
    body: HttpBody,
) -> Answer<impl IntoResponse> {
    of_type(&headers, SHARD_TYPE)?;
    let account = sender.0.account;
    let token = lease.clone();
    let expected = service
        .read(move |mut connection| {
            let token = token.clone();
            Box::pin(async move { receiving::expectation(&mut connection, account, &token, first).await })
        })
        .await?;
    let left = match left_of_quota(&service, account).await {
        // Somebody did not hear the answer to what filled it.
        Err(_) if is_there_already(&service, &headers).await? => None,
        left => left?,
    };
    let bytes = match left {
        Some(left) if left < MOST_SHARD_BYTES => collect(&service, &headers, body, left, &place)
            .await
            .map_err(|refusal| if refusal.0.code == Code::TooLarge { beyond_quota(&service, left) } else { refusal })?,
        _ => collect(&service, &headers, body, MOST_SHARD_BYTES, &place).await?,
    };
    let hash = same_hash(&headers, &bytes)?;
    let looked_at = bytes.clone();
    let totals = spawn_blocking(move || {
        // How many games there are is the sender's to say: the lease's, or the first of them.
        let refused = |refusal: delivery::Refusal| (Code::from_name(refusal.code()), refusal.to_string());
        let found = Shard::new(&looked_at[..]).map_or(0, |shard| shard.games());
        let most = expected.games.end - expected.games.start;
        let count = if found == 0 || found > most || found % expected.unit != 0 { most } else { found };
        let games = expected.games.start..expected.games.start + count;
        delivery::at_the_door(&looked_at, &expected.header, games).map_err(refused)
    })
    .await
    .map_err(|_| Refusal::new(Code::Internal, "the coordinator failed: its log says why"))?;
    let totals = match totals {
        Ok(totals) => totals,
        Err((code, detail)) => return Err(not_those(&service, hash, code, detail).await?),
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
                Ok((status, notices::waiting(&mut connection, worker).await?))
            })
        })
        .await?;
    let code = if status == ReceiptStatus::Received { StatusCode::CREATED } else { StatusCode::OK };
    Ok((code, Json(Receipt { status, shard: hash, notices })))
}

/// Why games are not those of the lease: it may be that they were another's.
async fn not_those(service: &Service, hash: Digest, code: Code, detail: String) -> Answer<Refusal> {
    if is_known(service, hash).await? {
        let detail = format!("the shard {hash} was uploaded before, for another lease: {detail}");
        return Ok(Refusal::new(Code::Replayed, detail));
    }
    Ok(Refusal::new(code, detail))
}

/// Whether a body that is still to come was taken in before.
async fn is_there_already(service: &Service, headers: &HeaderMap) -> Answer<bool> {
    let said = headers.get(SHA256_HEADER).and_then(|value| value.to_str().ok()?.parse::<Digest>().ok());
    match said {
        Some(said) => is_known(service, said).await,
        None => Ok(false),
    }
}

/// Whether such a shard was taken in before, for whatever lease.
async fn is_known(service: &Service, hash: Digest) -> Answer<bool> {
    let known =
        service.read(move |mut connection| Box::pin(async move { receiving::is_known(&mut connection, hash).await }));
    Ok(known.await?)
}

/// How many bytes of games an account may still bring here; any if none. Nothing is left: it is refused.
async fn left_of_quota(service: &Service, account: i64) -> Answer<Option<u64>> {
    let Some(quota) = service.settings.quota_bytes else { return Ok(None) };
    let used = service
        .read(move |mut connection| {
            Box::pin(async move {
                let query = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM shards
                             WHERE account = $1 AND object = 'present'";
                let used: i64 = sqlx::query_scalar(query).bind(account).fetch_one(connection.raw()).await?;
                Ok::<_, Failure>(used as u64)
            })
        })
        .await?;
    match quota.saturating_sub(used) {
        0 => Err(beyond_quota(service, 0)),
        left => Ok(Some(left)),
    }
}

fn beyond_quota(service: &Service, left: u64) -> Refusal {
    let quota = service.settings.quota_bytes.unwrap_or_default();
    let detail = format!("an account's games may take {quota} bytes here, and {left} of these are left");
    Refusal(Problem::new(Code::Quota, detail), Some(3_600))
}

/// Refuses a body of another type.
pub(super) fn of_type(headers: &HeaderMap, wanted: &str) -> Answer<()> {
    let found = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    if found == wanted {
        return Ok(());
    }
    Err(Refusal::new(Code::WrongType, format!("the body is of type {found:?}; it must be {wanted}")))
}

/// Takes in the body of a request that was let in, which has no place inside while the body comes.
pub(super) async fn collect(
    service: &Service,
    headers: &HeaderMap,
    body: HttpBody,
    most: u64,
    place: &Place,
) -> Answer<Bytes> {
    place.leave();
    let bytes = read_body(headers, body, most, place).await?;
    if place.enter_again().await { Ok(bytes) } else { Err(busy(service.clock.now())) }
}

/// Takes a body in, and stops where it grows too large.
pub(super) async fn read_body(headers: &HeaderMap, body: HttpBody, most: u64, place: &Place) -> Answer<Bytes> {
    let too_large = || Refusal::new(Code::TooLarge, format!("the body has more than {most} bytes"));
    let said = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|said| said > most) {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(said.unwrap_or(0).min(64 << 10) as usize);
    let mut stream = body.into_data_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Refusal::new(Code::Truncated, "the body broke off"))?;
        if (bytes.len() + chunk.len()) as u64 > most {
            return Err(too_large());
        }
        if !place.hold(chunk.len()) {
            let detail = "too much is on its way at the same time: send it again later";
            return Err(Refusal(Problem::new(Code::TooMany, detail), Some(10)));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.into())
}

/// The hash of a body, which must be the one that was said.
pub(super) fn same_hash(headers: &HeaderMap, bytes: &[u8]) -> Answer<Digest> {
    let said = headers.get(SHA256_HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let said: Digest =
        said.parse().map_err(|error| Refusal::new(Code::BadHash, format!("the header {SHA256_HEADER}: {error}")))?;
    let found = Digest::of(bytes);
    if found == said {
        return Ok(found);
    }
    Err(Refusal::new(Code::BadHash, format!("the body's SHA-256 is {found}; {said} was said")))
}
