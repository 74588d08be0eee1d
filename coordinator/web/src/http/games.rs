//! Games by their shards, and the arbiter's verdict on any position.

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use coordinator_core::{
    games::{
        self,
        judge::{JudgeQuery, judge_games},
    },
    model::JobId,
    query,
};
use protocol::api::problem::Code;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use xiangqi::notation::Notation;

use super::auth::Reader;
use crate::{
    answer::{ApiError, ApiResult, Path, Query},
    app::App,
};

/// A filter of the list of shards.
#[derive(Deserialize)]
pub(super) struct OfJob {
    job: Option<JobId>,
    before: Option<i64>,
}

pub(super) async fn shards(State(app): State<App>, Query(of): Query<OfJob>, reader: Reader) -> ApiResult<Json<Value>> {
    let trainer = reader.is_trainer();
    let shards =
        app.report(query!(|connection| games::shards(&mut connection, trainer, of.job, of.before).await)).await?;
    Ok(Json(shards.iter().map(games::ListedShard::json).collect()))
}

/// A filter of the list of a shard's games.
#[derive(Deserialize)]
pub(super) struct OfShard {
    reason: Option<String>,
    #[serde(default)]
    skip: usize,
}

pub(super) async fn of_shard(
    State(app): State<App>,
    Path(shard): Path<String>,
    Query(of): Query<OfShard>,
    reader: Reader,
) -> ApiResult<Json<Value>> {
    let trainer = reader.is_trainer();
    let (shard, header, listed, found) = games::list(&app, &shard, of.reason, of.skip, trainer).await?;
    let listed: Vec<_> = listed
        .iter()
        .map(|game| {
            json!({ "game": game.number, "outcome": game.outcome.name(), "reason": game.reason.name(),
                    "plies": game.plies })
        })
        .collect();
    Ok(Json(json!({ "shard": shard, "header": header, "found": found, "games": listed })))
}

pub(super) async fn game(
    State(app): State<App>,
    Path((shard, number)): Path<(String, u64)>,
    reader: Reader,
) -> ApiResult<Json<Value>> {
    let trainer = reader.is_trainer();
    Ok(Json(games::read(&app, &shard, number, trainer).await?.json()))
}

/// The notation of the moves.
#[derive(Deserialize)]
pub(super) struct Written {
    notation: Option<String>,
}

pub(super) async fn pgn(
    State(app): State<App>,
    Path((shard, number)): Path<(String, u64)>,
    Query(written): Query<Written>,
    reader: Reader,
) -> ApiResult<Response> {
    let notation = match written.notation.as_deref() {
        None => Notation::Uci,
        Some(name) => name.parse().map_err(|error| ApiError::new(Code::Invalid, format!("{error}")))?,
    };
    let trainer = reader.is_trainer();
    let kept = games::read(&app, &shard, number, trainer).await?;
    let text = kept.pgn(&app.settings.name, notation).to_string();
    let name = format!("attachment; filename=\"{}-{number}.pgn\"", &kept.shard.to_string()[..12]);
    let headers = [
        (header::CONTENT_TYPE, "application/x-chess-pgn; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, text).into_response())
}

pub(super) async fn judgement(Query(query): Query<JudgeQuery>) -> ApiResult<Json<Value>> {
    let judged = query.judge().map_err(|wrong| ApiError::new(Code::Invalid, wrong.sentence(false)))?;
    Ok(Json(judged.json()))
}

/// The rules of a file.
#[derive(Deserialize)]
pub(super) struct Rules {
    #[serde(default)]
    rules: String,
}

pub(super) async fn judgements(Query(query): Query<Rules>, body: Bytes) -> ApiResult<Json<Value>> {
    let judging = spawn_blocking(move || judge_games(&body, &query.rules).map(|list| list.json()));
    let judged = judging.await.map_err(|_| ApiError::new(Code::Internal, "the judging was aborted"))?;
    judged.map(Json).map_err(|wrong| ApiError::new(Code::Invalid, wrong.sentence(false)))
}
