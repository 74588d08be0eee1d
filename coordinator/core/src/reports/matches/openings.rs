//! The openings of a match's pairs with their results, read from one public shard at a time.

use dataset::{Digest, Opening, shard::Shard};
use serde::Serialize;
use tokio::task::spawn_blocking;
use xiangqi::notation::Notation;

use crate::{
    games::{self, ReadError},
    model::JobId,
    objects::Kind,
    query,
    service::Service,
    store::reports::matches::{self as rows, PairShard},
};

/// The pairs of a shard.
#[derive(Clone, Debug, Serialize)]
pub struct Openings {
    /// The shard; none after the last.
    pub shard: Option<String>,
    /// Whether its games are public; otherwise there are no pairs.
    pub is_open: bool,
    /// Its pairs.
    pub pairs: Vec<Pair>,
    /// Whether more shards follow.
    pub has_more: bool,
}

/// A pair and its opening.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The number of its first game; the other is the next.
    pub game: u64,
    /// The candidate's points, from 0 to 4 halves.
    pub halves: u8,
    /// The start of the opening, unless it is the starting position.
    pub start: Option<String>,
    /// The moves of the opening, as `h2e2 h9g7`.
    pub moves: String,
    /// The moves in Chinese.
    pub chinese: String,
}

/// Reads the pairs of one of a match's shards, counted from 0.
///
/// # Errors
///
/// If the match does not exist, or a store fails.
pub async fn openings(service: &Service, job: JobId, page: i64) -> Result<Openings, ReadError> {
    let shards = service
        .report(query!(|connection| {
            rows::get(&mut connection, job).await?;
            rows::shards(&mut connection, job, page).await
        }))
        .await?;
    let has_more = shards.len() > 1;
    let Some(PairShard { hash: shard, pairs: points }) = shards.into_iter().next() else {
        return Ok(Openings { shard: None, is_open: false, pairs: Vec::new(), has_more });
    };
    let broken = |error: &dyn std::fmt::Display| {
        tracing::warn!(%error, "a shard could not be read");
        ReadError::not_found("the shard cannot be read")
    };
    let hash: Digest = shard.parse().map_err(|error: dataset::ParseDigestError| broken(&error))?;
    let is_open = games::is_open(service, hash).await?;
    let mut pairs = Vec::new();
    if is_open {
        let bytes = service.objects.get(Kind::Shard, hash).await?;
        let read = spawn_blocking(move || read(bytes.into(), &points));
        pairs = read.await.map_err(|error| broken(&error))?.map_err(|error| broken(&error))?;
    }
    Ok(Openings { shard: Some(shard), is_open, pairs, has_more })
}

fn read(bytes: Vec<u8>, points: &[u8]) -> Result<Vec<Pair>, dataset::shard::ShardError> {
    let shard = Shard::new(bytes)?;
    let mut pairs = Vec::new();
    for game in shard.records() {
        let (number, record) = game?;
        // Both games of a pair have the same opening.
        if !number.is_multiple_of(2) {
            continue;
        }
        let place = ((number - shard.header().first_game) / 2) as usize;
        let Some(&halves) = points.get(place) else { break };
        let (start, moves, chinese) = describe(&record.opening);
        pairs.push(Pair { game: number, halves, start, moves, chinese });
    }
    Ok(pairs)
}

/// Describes an opening: its start, and its moves in two notations.
fn describe(opening: &Opening) -> (Option<String>, String, String) {
    let start = (opening.start != xiangqi::Fen::start()).then(|| opening.start.to_string());
    let mut position = opening.start.position.clone();
    let (mut moves, mut chinese) = (Vec::new(), Vec::new());
    for &mv in &opening.moves {
        moves.push(mv.to_string());
        chinese.push(position.format_move(mv, Notation::ChineseSimplified));
        let _ = position.make(mv);
    }
    (start, moves.join(" "), chinese.join(" "))
}
