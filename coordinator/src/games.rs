//! Games as people and programs look at them: read from shards, or pasted and judged, with all that is told of them.

pub(crate) mod judge;
pub(crate) mod story;

use dataset::{Digest, Header, Record, shard::Shard};
use protocol::api::problem::Code;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use xiangqi::{Color, Piece};

use crate::{
    http::answer::{Answer, Refusal},
    objects::Kind,
    service::Service,
    store::{Connection, Outcome},
    timed,
};
use story::Story;

/// So many shards, or games of a shard, are listed at once.
pub(crate) const PAGE: usize = 100;

/// A game that was kept.
pub(crate) struct Kept {
    pub(crate) shard: Digest,
    pub(crate) number: u64,
    /// The numbers of the shard's games.
    pub(crate) numbers: std::ops::Range<u64>,
    pub(crate) header: Header,
    pub(crate) digest: Digest,
    pub(crate) story: Story,
    /// What plays each side; none is the plain evaluation.
    pub(crate) players: [Player; 2],
    /// The job it was played for.
    pub(crate) job: Option<i64>,
}

/// Who played a side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Player {
    pub(crate) net: Option<Digest>,
    pub(crate) name: Option<String>,
}

impl Player {
    /// What it is called.
    pub(crate) fn label(&self) -> String {
        match (&self.name, &self.net) {
            (Some(name), _) => name.clone(),
            (None, Some(net)) => net.to_string()[..12].to_owned(),
            (None, None) => "plain".to_owned(),
        }
    }
}

/// A game of a shard in a list.
pub(crate) struct Listed {
    pub(crate) number: u64,
    pub(crate) outcome: xiangqi::rules::Outcome,
    pub(crate) reason: dataset::Reason,
    pub(crate) plies: usize,
}

/// The character of a piece, as it is printed on it.
pub(crate) const fn character(piece: Piece) -> char {
    const RED: [char; 7] = ['俥', '傌', '炮', '兵', '仕', '相', '帥'];
    const BLACK: [char; 7] = ['車', '馬', '砲', '卒', '士', '象', '將'];
    match piece.color() {
        Color::Red => RED[piece.kind().index()],
        Color::Black => BLACK[piece.kind().index()],
    }
}

/// A shard as it lies in the store, if whoever asks may see it.
async fn shard(service: &Service, name: &str, is_trainer: bool) -> Answer<(Digest, Shard<Vec<u8>>)> {
    let hash: Digest = name.parse().map_err(|error| Refusal::new(Code::NotFound, format!("{error}")))?;
    if !is_trainer && !is_open(service, hash).await? {
        return Err(Refusal::new(Code::NotFound, "there is no such shard, or its games are still being checked"));
    }
    let bytes = service.objects.get(Kind::Shard, hash).await?;
    let shard = Shard::new(bytes.into()).map_err(|error| unreadable(&error))?;
    Ok((hash, shard))
}

fn unreadable(error: &dyn std::fmt::Display) -> Refusal {
    tracing::warn!(%error, "a shard could not be read");
    Refusal::new(Code::NotFound, "the shard cannot be read")
}

/// Whether everybody may see a shard's games: nobody plays them any more, and no audit hangs on them.
pub(crate) async fn is_open(service: &Service, shard: Digest) -> Answer<bool> {
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

/// A game of a shard.
pub(crate) async fn read(service: &Service, name: &str, number: u64, is_trainer: bool) -> Answer<Kept> {
    let (hash, shard) = shard(service, name, is_trainer).await?;
    let header = shard.header().clone();
    let numbers = header.first_game..header.first_game.saturating_add(shard.games());
    if !numbers.contains(&number) {
        let detail = format!("the shard has the games {} to {}", numbers.start, numbers.end.saturating_sub(1));
        return Err(Refusal::new(Code::NotFound, detail));
    }
    let told = spawn_blocking(move || {
        let record = shard.game(number).map_err(|error| unreadable(&error))?;
        let told = Story::of_record(&record).ok_or_else(|| unreadable(&"a move is not legal"))?;
        Ok::<(Record, Story), Refusal>((record, told))
    });
    let (record, story) = told.await.map_err(|error| unreadable(&error))??;
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

async fn name_of(connection: &mut Connection<'_>, net: Digest) -> Outcome<Option<String>> {
    let query = "SELECT name FROM nets WHERE hash = $1";
    Ok(sqlx::query_scalar(query).bind(net.to_string()).fetch_optional(connection.raw()).await?)
}

/// What a shard's games are a function of, its numbers, and a page of its games: those that ended for a reason, if one is
/// given, after so many of them.
pub(crate) async fn list(
    service: &Service,
    name: &str,
    reason: Option<String>,
    skip: usize,
    is_trainer: bool,
) -> Answer<(Digest, Header, Vec<Listed>, usize)> {
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
        Ok::<_, Refusal>((games, found))
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

/// The shards of a job that count, or of all jobs, the newest first, before one of them. Who sees all sees those that are
/// still to be played again.
pub(crate) async fn shards(
    connection: &mut Connection<'_>,
    sees_all: bool,
    job: Option<i64>,
    before: Option<i64>,
) -> Outcome<Vec<ListedShard>> {
    // What is still to be played again is not spoken of: who reads there what others claim, or that they have claimed
    // it, knows an audit when he gets one.
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
    /// It, for programs.
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
    /// All of it, for programs.
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
            let key = format!("{}_player", story::word(side));
            value[key] = json;
        }
        value
    }

    /// Its tags in PGN.
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
