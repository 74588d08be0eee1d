//! Games for people and programs: read from shards, or pasted and judged, with their analysis.

mod error;

pub mod judge;
pub mod story;

use dataset::{Digest, Header, Record, pgn::PgnGame, shard::Shard};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use xiangqi::{Color, notation::Notation};

pub use crate::store::reports::games::{ListedShard, PAGE, shards};
use crate::{
    model::{JobId, JobKind, Refusal},
    objects::Kind,
    query,
    service::Service,
    store::{Nets, StoreError, reports::games as rows},
};
pub use error::ReadError;
use story::Story;

/// A stored game.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct Kept {
    pub shard: Digest,
    pub number: u64,
    /// The numbers of the shard's games.
    pub numbers: std::ops::Range<u64>,
    pub header: Header,
    pub record: Record,
    pub story: Story,
    /// The players of both sides; none is the plain evaluation.
    pub players: [Player; 2],
    /// The job of the game.
    pub job: Option<JobId>,
}

/// The player of a side.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names say what each is")]
pub struct Player {
    pub net: Option<Digest>,
    pub name: Option<String>,
}

impl Player {
    /// Name or shortened hash, for people.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.name, &self.net) {
            (Some(name), _) => name.clone(),
            (None, Some(net)) => net.to_string()[..12].to_owned(),
            (None, None) => "plain".to_owned(),
        }
    }
}

/// A game in a shard's list.
#[allow(missing_docs, reason = "the names say what each is")]
pub struct Listed {
    pub number: u64,
    pub outcome: xiangqi::rules::Outcome,
    pub reason: dataset::Reason,
    pub plies: usize,
}

/// Reads a shard from the store, if the caller may see it.
async fn shard(service: &Service, name: &str, is_trainer: bool) -> Result<(Digest, Shard<Vec<u8>>), ReadError> {
    let hash: Digest = name.parse().map_err(|error| ReadError::not_found(format!("{error}")))?;
    if !is_trainer && !is_open(service, hash).await? {
        return Err(StoreError::from(Refusal::NoShard).into());
    }
    let bytes = service.objects.get(Kind::Shard, hash).await?;
    let shard = Shard::new(bytes.into()).map_err(|error| unreadable(&error))?;
    Ok((hash, shard))
}

fn unreadable(error: &dyn std::fmt::Display) -> ReadError {
    tracing::warn!(%error, "a shard could not be read");
    ReadError::not_found("the shard cannot be read")
}

/// Whether a shard's games are public: no audit depends on them, and the job is closed or the
/// worker trusted. Games of trusted workers are never audited, so they may be seen at once.
pub async fn is_open(service: &Service, shard: Digest) -> Result<bool, ReadError> {
    let is_public = service.report(query!(|connection| rows::is_public(&mut connection, shard).await));
    Ok(is_public.await?)
}

/// Reads a game of a shard.
pub async fn read(service: &Service, name: &str, number: u64, is_trainer: bool) -> Result<Kept, ReadError> {
    let (hash, shard) = shard(service, name, is_trainer).await?;
    let header = shard.header().clone();
    let numbers = header.first_game..header.first_game.saturating_add(shard.games());
    if !numbers.contains(&number) {
        let detail = format!("the shard has the games {} to {}", numbers.start, numbers.end.saturating_sub(1));
        return Err(ReadError::not_found(detail));
    }
    let reading = spawn_blocking(move || {
        let record = shard.game(number).map_err(|error| unreadable(&error))?;
        let story = Story::of_record(&record).ok_or_else(|| unreadable(&"a move is not legal"))?;
        Ok::<(Record, Story), ReadError>((record, story))
    });
    let (record, story) = reading.await.map_err(|error| unreadable(&error))??;
    let nets = Color::ALL.map(|side| story::net_of(&header, number, side));
    let (names, job) = service
        .report(query!(|connection| {
            let mut names = [None, None];
            for (name, net) in names.iter_mut().zip(nets) {
                if let Some(net) = net {
                    *name = Nets::on(connection.reborrow()).find_name(&net.to_string()).await?;
                }
            }
            Ok((names, rows::job_of(&mut connection, hash).await?))
        }))
        .await?;
    let [red, black] = names;
    let players = [Player { net: nets[0], name: red }, Player { net: nets[1], name: black }];
    Ok(Kept { shard: hash, number, numbers, record, header, story, players, job })
}

/// Lists a page of a shard's games, filtered by reason and skipping the first `skip`. Also returns
/// the shard's hash and header, and the number of games found.
pub async fn list(
    service: &Service,
    name: &str,
    reason: Option<String>,
    skip: usize,
    is_trainer: bool,
) -> Result<(Digest, Header, Vec<Listed>, usize), ReadError> {
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
        Ok::<_, ReadError>((games, found))
    });
    let (games, found) = listing.await.map_err(|error| unreadable(&error))??;
    Ok((hash, header, games, found))
}

impl ListedShard {
    /// JSON for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let parsed = |text: &Option<String>| {
            text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or(Value::Null)
        };
        json!({ "shard": self.hash, "first": self.first, "games": self.games, "positions": self.positions,
                "outcomes": parsed(&self.outcomes), "reasons": parsed(&self.reasons), "open": self.is_open,
                "unprovable": self.kind == JobKind::Timed })
    }
}

impl Kept {
    /// JSON for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut value = self.story.json();
        value["shard"] = json!(self.shard);
        value["game"] = json!(self.number);
        value["job"] = json!(self.job);
        value["seed"] = json!(self.header.seed_of(self.number));
        value["digest"] = json!(self.record.digest());
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

    /// As PGN, with the names that the server knows.
    pub fn pgn(&self, server: &str, notation: Notation) -> PgnGame {
        let mut game = PgnGame::of_record(&self.header, self.number, &self.record, notation);
        let kind = game.tag("Event").unwrap_or_default();
        let job = self.job.map_or_else(String::new, |job| format!(" {job}"));
        let event = format!("{server}: {kind}{job}");
        let [red, black] = [0, 1].map(|side: usize| self.players[side].label());
        for (name, value) in [("Event", event), ("Red", red), ("Black", black), ("Shard", self.shard.to_string())] {
            game.set_tag(name, value);
        }
        game
    }
}
