//! Requests of trainers.

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::Body as HttpBody,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use coordinator_core::{
    model::{NetState, NewNet, Training},
    objects::Kind,
    ops::trainings::{AbandonTraining, ClaimTraining, CompleteTraining, RecordTrainingFile, RenewTraining},
    people::{hash_of, secret},
    query,
    rules::{nets::architecture_line, trainings::Uploaded},
    store::{StoreError, Trainings},
};
use nnue::{Net, architecture::Sizes};
use protocol::{
    api::{
        MAX_NET_BYTES, NET_TYPE,
        problem::Code,
        training::{Abandon, Accepted, Claim, Completion, Offer, Progress},
        work::{Renewed, Role},
    },
    is_name,
    net::NetManifest,
    recipe::Inputs,
};
use tokio::task::spawn_blocking;

use super::{
    auth::Authenticated,
    body::{collect, require_type, verify_hash},
};
use crate::{
    answer::{ApiError, ApiResult, Body, Path},
    app::App,
    limits::permits::Permit,
};

/// Longest plot of the loss, in bytes.
const MAX_CURVES_BYTES: u64 = 4 << 20;

pub(super) async fn claim(
    State(app): State<App>,
    caller: Authenticated,
    Body(claim): Body<Claim>,
) -> ApiResult<Json<Offer>> {
    caller.must_be(Role::Trainer)?;
    if !is_name(&claim.name) {
        return Err(ApiError::new(Code::Invalid, format!("{:?} is no name of a trainer", claim.name)));
    }
    let offer = app.run(ClaimTraining { account: caller.0.account, claim, token: secret("")? }).await?;
    Ok(Json(offer))
}

pub(super) async fn progress(
    State(app): State<App>,
    caller: Authenticated,
    Path(token): Path<String>,
    Body(progress): Body<Progress>,
) -> ApiResult<Json<Renewed>> {
    caller.must_be(Role::Trainer)?;
    let renewed = app.run(RenewTraining { account: caller.0.account, token, progress }).await?;
    Ok(Json(renewed))
}

pub(super) async fn net(
    State(app): State<App>,
    caller: Authenticated,
    Path(token): Path<String>,
    Extension(permit): Extension<Arc<Permit>>,
    headers: HeaderMap,
    body: HttpBody,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Trainer)?;
    require_type(&headers, NET_TYPE)?;
    require_training(&app, &caller, &token).await?;
    permit.exempt_from_byte_limits();
    let bytes = collect(&app, &headers, body, MAX_NET_BYTES, &permit).await?;
    verify_hash(&headers, &bytes)?;
    let checked = bytes.clone();
    let checked = spawn_blocking(move || Net::from_bytes(&checked).map(drop)).await;
    match checked {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(ApiError::new(Code::BadNet, format!("the body is no net: {error}"))),
        Err(_) => return Err(ApiError::new(Code::BadNet, "the body is no net that can be read")),
    }
    let hash = app.objects.put(Kind::Net, bytes).await?;
    uploaded(&app, &caller, token, Uploaded::Net, hash).await
}

pub(super) async fn curves(
    State(app): State<App>,
    caller: Authenticated,
    Path(token): Path<String>,
    Extension(permit): Extension<Arc<Permit>>,
    headers: HeaderMap,
    body: HttpBody,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Trainer)?;
    require_type(&headers, "image/svg+xml")?;
    require_training(&app, &caller, &token).await?;
    permit.exempt_from_byte_limits();
    let bytes = collect(&app, &headers, body, MAX_CURVES_BYTES, &permit).await?;
    verify_hash(&headers, &bytes)?;
    let hash = app.objects.put(Kind::Curves, bytes).await?;
    uploaded(&app, &caller, token, Uploaded::Curves, hash).await
}

/// The training of a token.
async fn find(app: &App, token: &str) -> ApiResult<Training> {
    let hash = hash_of(token);
    let found = app.read(query!(|connection| Trainings::on(connection).by_token(hash).await));
    Ok(found.await?)
}

async fn require_training(app: &App, caller: &Authenticated, token: &str) -> ApiResult<()> {
    find(app, token).await?.owned_by(caller.0.account).and_then(Training::leased).map_err(StoreError::from)?;
    Ok(())
}

async fn uploaded(
    app: &App,
    caller: &Authenticated,
    token: String,
    kind: Uploaded,
    hash: dataset::Digest,
) -> ApiResult<StatusCode> {
    app.run(RecordTrainingFile { account: caller.0.account, token, file: kind, hash }).await?;
    Ok(StatusCode::CREATED)
}

pub(super) async fn complete(
    State(app): State<App>,
    caller: Authenticated,
    Path(token): Path<String>,
    Body(completion): Body<Completion>,
) -> ApiResult<Json<Accepted>> {
    caller.must_be(Role::Trainer)?;
    let manifest = NetManifest::from_text(&completion.manifest)
        .map_err(|error| ApiError::new(Code::Invalid, format!("`manifest`: {error}")))?;
    let hash: dataset::Digest = manifest
        .net
        .to_string()
        .parse()
        .map_err(|_| ApiError::new(Code::Invalid, "`manifest`: its net has no name"))?;
    let bytes = app.objects.length(Kind::Net, hash).await?;
    let account = caller.0.account;
    let sizes = manifest.architecture;
    let built = Sizes::new(sizes.width as usize, sizes.first as usize, sizes.second as usize, sizes.stacks as usize)
        .map_err(|error| ApiError::new(Code::Invalid, format!("`manifest`: {error}")))?;
    let inputs = match sizes.inputs {
        Inputs::Kings => nnue::architecture::Inputs::Kings,
        Inputs::KingsAttackers => nnue::architecture::Inputs::KingsAttackers,
    };
    let architecture = architecture_line(built.with_inputs(inputs));
    // The generation and the champion of a training never change.
    let training = find(&app, &token).await?.owned_by(account).map_err(StoreError::from)?;
    let net = NewNet {
        hash,
        name: manifest.name,
        state: NetState::Candidate,
        bytes,
        architecture,
        manifest: Some(completion.manifest),
        campaign: Some((training.campaign, training.generation)),
        parent: training.champion,
    };
    app.run(CompleteTraining { account, token, net }).await?;
    Ok(Json(Accepted { net: hash }))
}

pub(super) async fn abandon(
    State(app): State<App>,
    caller: Authenticated,
    Path(token): Path<String>,
    Body(abandon): Body<Abandon>,
) -> ApiResult<StatusCode> {
    caller.must_be(Role::Trainer)?;
    app.run(AbandonTraining { account: caller.0.account, token, abandon }).await?;
    Ok(StatusCode::NO_CONTENT)
}
