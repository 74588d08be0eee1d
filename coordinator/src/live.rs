//! What people see of a match while it is played.
//!
//! Only the last sight of each watched match is held, in memory, and checked before anybody sees it: the moves must be
//! legal. A worker's word is shown and nothing more: games count when they are delivered and proved. A sight is of the
//! match that a maintainer marked, while that is played, and of no other: as long as anybody watches, the database is
//! asked which one that is.
//!
//! Of several coordinators each has only what workers told it: who watches at another sees nothing. Nothing hangs on it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dataset::{MOST_SCORE, Reason};
use protocol::api::{problem::Code, work::Live};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use xiangqi::{
    Color, Fen, Move, Position,
    notation::Notation,
    rules::{Game, Outcome},
};

use crate::{
    clock::Time,
    service::Service,
    store::{Connection, Failure},
    work::watching::{self, Scene},
};

/// A match is heard of no more often than this, in milliseconds: a second, less what lines add and take away.
const EVERY: i64 = 800;
/// So many matches are remembered.
const MOST_MATCHES: usize = 4;
/// So many people are told at the same time as something is seen; the others may ask again.
const MOST_WATCHERS: usize = 500;
/// How often the database is asked which match is marked, while anybody watches.
const ASKED_EVERY: Duration = Duration::from_secs(5);
/// So many moves of what an engine expects are shown.
const MOST_EXPECTED: usize = 40;

/// All boards.
#[derive(Debug)]
pub struct Boards {
    /// By match.
    seen: Mutex<BTreeMap<i64, Seen>>,
    /// What is to be seen, and what was seen of it last.
    sight: watch::Sender<Sight>,
    watchers: Arc<Semaphore>,
    /// Whether a task asks which match is marked.
    is_asking: Mutex<bool>,
}

/// The match that is to be seen, and what was seen of it last, as JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// The match, if one is marked and played.
    pub watched: Option<i64>,
    board: Arc<Value>,
}

impl Sight {
    /// What was seen last; null, if nothing was of this match.
    #[must_use]
    pub fn board(&self) -> &Value {
        if self.watched.is_some_and(|job| self.board["match"] == job) { &self.board } else { &Value::Null }
    }
}

/// The match that is marked, if it is still played.
pub(crate) async fn marked(connection: &mut Connection<'_>) -> Result<Option<i64>, Failure> {
    let Some(watched) = watching::watched(connection).await? else { return Ok(None) };
    let query = "SELECT id FROM jobs WHERE id = $1 AND state <> 'closed'";
    Ok(sqlx::query_scalar(query).bind(watched.job).fetch_optional(connection.raw()).await?)
}

/// What is to be seen now, as the database says which match that is.
pub(crate) async fn sight(service: &Service) -> Result<Sight, Failure> {
    let marked = service.read(|mut connection| Box::pin(async move { marked(&mut connection).await })).await?;
    service.live.only(marked);
    Ok(service.live.sight.borrow().clone())
}

/// Asks which match is marked, as long as anybody watches.
async fn keep_asking(service: Service) {
    let mut stopping = service.stopping.clone();
    loop {
        if let Err(error) = sight(&service).await {
            tracing::warn!(%error, "which match is shown live was not read");
        }
        tokio::select! {
            () = tokio::time::sleep(ASKED_EVERY) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if service.live.may_end() {
            return;
        }
    }
}

#[derive(Debug)]
struct Seen {
    at: Time,
    game: u64,
    said: Said,
}

/// What each side's engine said last in the game: score for itself, depth, speed, expected line.
type Said = [Option<Value>; 2];

impl Default for Boards {
    fn default() -> Self {
        let watchers = Arc::new(Semaphore::new(MOST_WATCHERS));
        Self { seen: Mutex::default(), sight: watch::Sender::default(), watchers, is_asking: Mutex::default() }
    }
}

impl Boards {
    /// Shows what a worker sees.
    ///
    /// # Errors
    ///
    /// If it comes too soon after the last, or cannot be.
    pub fn show(&self, now: Time, scene: &Scene, live: &Live) -> Result<(), Failure> {
        let wrong = |detail: &str| Failure::refused(Code::Invalid, detail);
        if !scene.games.contains(&live.game) {
            return Err(Failure::refused(Code::WrongGames, "the game is not of this lease"));
        }
        let mut said = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(before) = seen.get(&scene.job) {
                let is_new = before.game != live.game || live.end.is_some();
                if !is_new && (0..EVERY).contains(&(now.0 - before.at.0)) {
                    return Err(Failure::refused(Code::TooMany, "once a second is often enough"));
                }
            }
            let before = seen.remove(&scene.job).filter(|before| before.game == live.game);
            let said = before.map_or_else(Said::default, |before| before.said);
            seen.insert(scene.job, Seen { at: now, game: live.game, said: said.clone() });
            while seen.len() > MOST_MATCHES {
                let oldest = seen.iter().min_by_key(|(_, seen)| seen.at).map(|(job, _)| *job);
                oldest.and_then(|job| seen.remove(&job));
            }
            said
        };
        if live.moves.len() > Live::MOST_TEXT || live.variation.len() > Live::MOST_TEXT || live.start.len() > 200 {
            return Err(wrong("that is longer than games are"));
        }
        let shown = board(now, scene, live, &mut said).ok_or_else(|| wrong("the moves are not those of a game"))?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.get_mut(&scene.job).filter(|seen| seen.game == live.game) {
            seen.said = said;
        }
        drop(seen);
        self.sight.send_replace(Sight { watched: Some(scene.job), board: Arc::new(shown) });
        Ok(())
    }

    /// Only this match is to be seen from now on, or none.
    pub fn only(&self, job: Option<i64>) {
        self.sight.send_if_modified(|sight| {
            let is_other = sight.watched != job;
            if is_other {
                *sight = Sight { watched: job, board: Arc::default() };
            }
            is_other
        });
    }

    /// Tells what is seen as it is seen, if there is a place.
    #[must_use]
    pub fn watch(&self, service: &Service) -> Option<(watch::Receiver<Sight>, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.watchers).try_acquire_owned().ok()?;
        let receiver = self.sight.subscribe();
        if self.begin() {
            tokio::spawn(keep_asking(service.clone()));
        }
        Some((receiver, place))
    }

    /// Whether whoever asks is to do so from now on: nobody else does.
    fn begin(&self) -> bool {
        !std::mem::replace(&mut *self.is_asking.lock().unwrap_or_else(PoisonError::into_inner), true)
    }

    /// Whether whoever asks may stop: nobody watches.
    fn may_end(&self) -> bool {
        let mut is_asking = self.is_asking.lock().unwrap_or_else(PoisonError::into_inner);
        *is_asking = self.sight.receiver_count() > 0;
        !*is_asking
    }
}

/// What a worker sees as everybody is told, with what both sides said last; none if it cannot be.
fn board(now: Time, scene: &Scene, live: &Live, said: &mut Said) -> Option<Value> {
    let header = &scene.header;
    let start: Fen = live.start.parse().ok()?;
    let mut game = Game::new(start, header.rules);
    let mut texts = Texts::default();
    for text in live.moves.split(' ').filter(|text| !text.is_empty()) {
        let mv: Move = text.parse().ok()?;
        let before = game.position().clone();
        game.push(mv).ok()?;
        texts.add(&before, mv);
        if game.len() > header.settings.ply_cap as usize {
            return None;
        }
    }
    let mut expected = Texts::default();
    let mut position = game.position().clone();
    for text in live.variation.split(' ').filter(|text| !text.is_empty()).take(MOST_EXPECTED) {
        let mv: Move = text.parse().ok()?;
        if !position.is_legal(mv) {
            return None;
        }
        expected.add(&position, mv);
        let _ = position.make(mv);
    }
    let end = match &live.end {
        None => Value::Null,
        Some((outcome, reason)) => {
            let (outcome, reason): (Outcome, Reason) = (outcome.parse().ok()?, reason.parse().ok()?);
            json!({ "outcome": outcome.name(), "reason": reason.name() })
        }
    };
    if live.score.is_some_and(|score| score.abs() > MOST_SCORE) {
        return None;
    }
    let opponent = header.opponent?;
    let turn = game.position().turn();
    // Of a game that is over nobody says anything any more.
    if live.depth > 0 && live.end.is_none() {
        said[turn.index()] = Some(json!({ "score": live.score, "depth": live.depth,
            "nodes_per_second": live.nodes_per_second, "variation": expected.json() }));
    }
    let side = |side: Color| {
        // In even games the run's own net is Red.
        let own = (side == Color::Red) == live.game.is_multiple_of(2);
        let (net, soft, hard) = if own {
            (header.net, header.settings.soft_nodes, header.settings.hard_nodes)
        } else {
            (opponent.net, opponent.soft_nodes, opponent.hard_nodes)
        };
        json!({ "net": net, "name": scene.names[usize::from(!own)], "nodes": live.nodes[side.index()],
                "soft_nodes": soft, "hard_nodes": hard, "said": said[side.index()],
                "remaining": live.remaining.map(|left| left[side.index()]) })
    };
    Some(json!({
        "match": scene.job, "game": live.game, "pair": live.game / 2, "at": now.0,
        "rules": header.rules.name(), "start": game.start().to_string(), "fen": game.fen().to_string(),
        "red": side(Color::Red), "black": side(Color::Black),
        "turn": if turn == Color::Red { "red" } else { "black" },
        "moves": texts.json(), "score": live.score, "depth": live.depth,
        "nodes_per_second": live.nodes_per_second, "variation": expected.json(), "end": end,
        "in_check": game.position().in_check(), "clock": header.clock,
    }))
}

/// Moves as people write them.
#[derive(Default)]
struct Texts {
    uci: Vec<String>,
    wxf: Vec<String>,
    chinese: Vec<String>,
}

impl Texts {
    fn add(&mut self, position: &Position, mv: Move) {
        self.uci.push(mv.to_string());
        self.wxf.push(position.format_move(mv, Notation::Wxf));
        self.chinese.push(position.format_move(mv, Notation::ChineseSimplified));
    }

    fn json(&self) -> Value {
        json!({ "uci": self.uci, "wxf": self.wxf, "chinese": self.chinese })
    }
}
