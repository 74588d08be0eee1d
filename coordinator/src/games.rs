//! Games for people and programs: read from shards, or pasted and judged, with their analysis.

pub(crate) mod judge;
pub(crate) mod story;

use dataset::{Digest, Header, Record, shard::Shard};
use protocol::api::problem::Code;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use xiangqi::Color;

use crate::{
    http::answer::{ApiError, ApiResult},
    objects::Kind,
    service::Service,
    store::{Connection, StoreError},
    timed,
};
use story::Story;

/// Shards, or games of a shard, per page.
pub(crate) const PAGE: usize = 100;

/// A stored game.
pub(crate) struct Kept {
    pub(crate) shard: Digest,
    pub(crate) number: u64,
    /// The numbers of the shard's games.
    pub(crate) numbers: std::ops::Range<u64>,
    pub(crate) header: Header,
    pub(crate) digest: Digest,
    pub(crate) story: Story,
    /// The players of both sides; none is the plain evaluation.
    pub(crate) players: [Player; 2],
    /// The job of the game.
    pub(crate) job: Option<i64>,
}

/// The player of a side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Player {
    pub(crate) net: Option<Digest>,
    pub(crate) name: Option<String>,
}

impl Player {
    /// Name or shortened hash, for people.
    pub(crate) fn label(&self) -> String {
        match (&self.name, &self.net) {
            (Some(name), _) => name.clone(),
            (None, Some(net)) => net.to_string()[..12].to_owned(),
            (None, None) => "plain".to_owned(),
        }
    }
}

/// A game in a shard's list.
pub(crate) struct Listed {
    pub(crate) number: u64,
    pub(crate) outcome: xiangqi::rules::Outcome,
    pub(crate) reason: dataset::Reason,
    pub(crate) plies: usize,
}

/// Reads a shard from the store, if the caller may see it.
async fn shard(service: &Service, name: &str, is_trainer: bool) -> ApiResult<(Digest, Shard<Vec<u8>>)> {
    let hash: Digest = name.parse().map_err(|error| ApiError::new(Code::NotFound, format!("{error}")))?;
    if !is_trainer && !is_open(service, hash).await? {
        return Err(ApiError::new(Code::NotFound, "there is no such shard, or its games are still being checked"));
    }
    let bytes = service.objects.get(Kind::Shard, hash).await?;
    let shard = Shard::new(bytes.into()).map_err(|error| unreadable(&error))?;
    Ok((hash, shard))
}

fn unreadable(error: &dyn std::fmt::Display) -> ApiError {
    tracing::warn!(%error, "a shard could not be read");
    ApiError::new(Code::NotFound, "the shard cannot be read")
}

/// Whether a shard's games are public: the job is closed, and no audit depends on them.
pub(crate) async fn is_open(service: &Service, shard: Digest) -> ApiResult<bool> {
    let open = service
        .read(move |mut connection| {
            Box::pin(async move {
                // Frozen into a training set, and in no audit or dispute.
                let query = "SELECT COUNT(*) FROM shards JOIN jobs ON jobs.id = shards.job
                             WHERE shards.hash = $1 AND shards.state = 'validated' AND jobs.state = 'closed'
                             AND shards.audit NOT IN ('wanted', 'leased')";
                let open: i64 = sqlx::query_scalar(query).bind(shard.to_string()).fetch_one(connection.raw()).await?;
                Ok(open > 0)
            })
        })
        .await?;
    Ok(open)
}

/// Reads a game of a shard.
pub(crate) async fn read(service: &Service, name: &str, number: u64, is_trainer: bool) -> ApiResult<Kept> {
    let (hash, shard) = shard(service, name, is_trainer).await?;
    let header = shard.header().clone();
    let numbers = header.first_game..header.first_game.saturating_add(shard.games());
    if !numbers.contains(&number) {
        let detail = format!("the shard has the games {} to {}", numbers.start, numbers.end.saturating_sub(1));
        return Err(ApiError::new(Code::NotFound, detail));
    }
    let reading = spawn_blocking(move || {
        let record = shard.game(number).map_err(|error| unreadable(&error))?;
        let story = Story::of_record(&record).ok_or_else(|| unreadable(&"a move is not legal"))?;
        Ok::<(Record, Story), ApiError>((record, story))
    });
    let (record, story) = reading.await.map_err(|error| unreadable(&error))??;
    let nets = Color::ALL.map(|side| story::net_of(&header, number, side));
    let (names, job) = service
        .read(move |mut connection| {
            Box::pin(async move {
                let mut names = [None, None];
                for (name, net) in names.iter_mut().zip(nets) {
                    if let Some(net) = net {
                        *name = name_of(&mut connection, net).await?;
                    }
                }
                let query = "SELECT job FROM shards WHERE hash = $1 ORDER BY id LIMIT 1";
                let job: Option<i64> =
                    sqlx::query_scalar(query).bind(hash.to_string()).fetch_optional(connection.raw()).await?;
                Ok((names, job))
            })
        })
        .await?;
    let [red, black] = names;
    let players = [Player { net: nets[0], name: red }, Player { net: nets[1], name: black }];
    Ok(Kept { shard: hash, number, numbers, digest: record.digest(), header, story, players, job })
}

async fn name_of(connection: &mut Connection<'_>, net: Digest) -> Result<Option<String>, StoreError> {
    let query = "SELECT name FROM nets WHERE hash = $1";
    Ok(sqlx::query_scalar(query).bind(net.to_string()).fetch_optional(connection.raw()).await?)
}

/// Lists a page of a shard's games, filtered by reason and skipping the first `skip`. Also returns
/// the shard's hash and header, and the number of games found.
pub(crate) async fn list(
    service: &Service,
    name: &str,
    reason: Option<String>,
    skip: usize,
    is_trainer: bool,
) -> ApiResult<(Digest, Header, Vec<Listed>, usize)> {
    let (hash, shard) = shard(service, name, is_trainer).await?;
    let header = shard.header().clone();
    let listing = spawn_blocking(move || {
        let mut found = 0;
        let mut games = Vec::new();
        for game in shard.records() {
            let (number, record) = game.map_err(|error| unreadable(&error))?;
            if reason.as_ref().is_some_and(|reason| record.reason.name() != reason) {
                continue;
            }
            found += 1;
            if found > skip && games.len() < PAGE {
                let plies = record.opening.moves.len() + record.moves.len();
                games.push(Listed { number, outcome: record.outcome, reason: record.reason, plies });
            }
        }
        Ok::<_, ApiError>((games, found))
    });
    let (games, found) = listing.await.map_err(|error| unreadable(&error))??;
    Ok((hash, header, games, found))
}

/// A shard of a job in a list.
#[derive(sqlx::FromRow)]
pub(crate) struct ListedShard {
    pub(crate) id: i64,
    pub(crate) hash: String,
    pub(crate) first: i64,
    pub(crate) games: i64,
    pub(crate) positions: i64,
    pub(crate) outcomes: Option<String>,
    pub(crate) reasons: Option<String>,
    pub(crate) is_open: i64,
    pub(crate) kind: String,
}

/// Lists the validated shards of a job, or of all jobs, newest first, before a given one.
/// `sees_all` includes shards still under audit.
pub(crate) async fn shards(
    connection: &mut Connection<'_>,
    sees_all: bool,
    job: Option<i64>,
    before: Option<i64>,
) -> Result<Vec<ListedShard>, StoreError> {
    // Shards under audit are hidden: a worker that saw them could recognise an audit lease.
    let of_job = "SELECT shards.id, hash, first, games, positions, outcomes, reasons,
                         CASE WHEN object = 'present' THEN 1 ELSE 0 END AS is_open, jobs.kind AS kind
                  FROM shards JOIN jobs ON jobs.id = shards.job
                  WHERE shards.state = 'validated' AND shards.job = $1 AND shards.id < $2
                  AND ($4 <> 0 OR (jobs.state = 'closed' AND audit NOT IN ('wanted', 'leased')))
                  ORDER BY shards.id DESC LIMIT $3";
    let of_all = "SELECT shards.id, hash, first, games, positions, outcomes, reasons, 1 AS is_open,
                         jobs.kind AS kind
                  FROM shards JOIN jobs ON jobs.id = shards.job
                  WHERE shards.state = 'validated' AND $1 < 0 AND shards.id < $2 AND jobs.state = 'closed'
                  AND audit NOT IN ('wanted', 'leased') AND object = 'present'
                  ORDER BY shards.id DESC LIMIT $3";
    let query = sqlx::query_as(if job.is_some() { of_job } else { of_all });
    let mut query = query.bind(job.unwrap_or(-1)).bind(before.unwrap_or(i64::MAX)).bind(PAGE as i64);
    if job.is_some() {
        query = query.bind(i64::from(sees_all));
    }
    Ok(query.fetch_all(connection.raw()).await?)
}

impl ListedShard {
    /// JSON for programs.
    pub(crate) fn json(&self) -> Value {
        let parsed = |text: &Option<String>| {
            text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or(Value::Null)
        };
        json!({ "shard": self.hash, "first": self.first, "games": self.games, "positions": self.positions,
                "outcomes": parsed(&self.outcomes), "reasons": parsed(&self.reasons), "open": self.is_open != 0,
                "unprovable": self.kind == timed::KIND })
    }
}

impl Kept {
    /// JSON for programs.
    pub(crate) fn json(&self) -> Value {
        let mut value = self.story.json();
        value["shard"] = json!(self.shard);
        value["game"] = json!(self.number);
        value["job"] = json!(self.job);
        value["seed"] = json!(self.header.seed_of(self.number));
        value["digest"] = json!(self.digest);
        if let Some(clock) = self.header.clock {
            value["clock"] = json!(clock);
            value["unprovable"] = json!(true);
        }
        for side in Color::ALL {
            let player = &self.players[side.index()];
            let json = json!({ "net": player.net, "name": player.label() });
            let key = format!("{}_player", story::side_name(side));
            value[key] = json;
        }
        value
    }

    /// PGN tags.
    pub(crate) fn tags(&self, server: &str) -> Vec<(String, String)> {
        let kind = match (self.header.clock, self.header.opponent) {
            (Some(_), _) => "timed match (unprovable)",
            (None, Some(_)) => "match",
            (None, None) => "self-play",
        };
        let event = match self.job {
            Some(job) => format!("{server}: {kind} {job}"),
            None => format!("{server}: {kind}"),
        };
        let reason = self.story.end.as_ref().map_or("", |end| end.reason.name());
        let [red, black] = [0, 1].map(|side: usize| self.players[side].label());
        let clock = self.header.clock.map(|clock| ("TimeControl", clock.time.to_string()));
        let tags = [
            ("Game", "Chinese Chess".to_owned()),
            ("Event", event),
            ("Round", self.number.to_string()),
            ("Red", red),
            ("Black", black),
            ("Rules", self.header.rules.name().to_owned()),
            ("Termination", reason.to_owned()),
            ("Shard", self.shard.to_string()),
        ];
        tags.into_iter().chain(clock).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
