//! Live view of a match.
//!
//! Only the last snapshot of each watched match is held, in memory. It is checked first: the moves
//! must be legal. A snapshot decides nothing: games count once delivered and proved. Only the match
//! that a maintainer marked is shown, while it is played. The database is polled for it while there
//! are viewers.
//!
//! Best effort: each of several coordinators shows only what its own workers sent.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use coordinator_core::{
    clock::Time,
    model::JobId,
    ops::live::{Scene, marked},
    query,
    service::Service,
    store::StoreError,
};
use dataset::{MAX_SCORE, Reason};
use protocol::api::{problem::Code, work::Live};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use xiangqi::{
    Color, Fen, Move, Position,
    notation::Notation,
    rules::{Game, Outcome},
};

/// Minimum of milliseconds between two updates of a match: one second, less the jitter of lines.
const MIN_UPDATE_INTERVAL_MS: i64 = 800;
/// Matches in memory.
const MAX_MATCHES: usize = 4;
/// Viewers at the same time; others are asked to retry.
const MAX_VIEWERS: usize = 500;
/// Polling interval for the marked match, while there are viewers.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Moves shown of an engine's expected line.
const MAX_VARIATION_MOVES: usize = 40;

/// The boards of all live matches.
#[derive(Debug)]
pub struct Boards {
    /// The last update by match.
    updates: Mutex<BTreeMap<i64, Update>>,
    /// The marked match and its last board.
    snapshot: watch::Sender<Snapshot>,
    viewers: Arc<Semaphore>,
    /// Whether a task polls for the marked match.
    is_polling: Mutex<bool>,
}

/// The marked match, and its last board as JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The match, if one is marked and being played.
    pub watched: Option<JobId>,
    board: Arc<Value>,
}

impl Snapshot {
    /// The last board; null if there is none of this match.
    #[must_use]
    pub fn board(&self) -> &Value {
        if self.watched.is_some_and(|job| self.board["match"] == job.0) { &self.board } else { &Value::Null }
    }
}

/// The current snapshot, after a look at the database.
pub(crate) async fn snapshot(service: &Service, boards: &Boards) -> Result<Snapshot, StoreError> {
    let marked = service.read(query!(|connection| marked(&mut connection).await)).await?;
    boards.select(marked);
    Ok(boards.snapshot.borrow().clone())
}

/// Polls for the marked match while there are viewers.
async fn poll_marked_match(service: Service, boards: Arc<Boards>) {
    let mut stopping = service.stopping.clone();
    loop {
        if let Err(error) = snapshot(&service, &boards).await {
            tracing::warn!(%error, "the marked match could not be read");
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        if boards.stop_polling() {
            return;
        }
    }
}

#[derive(Debug)]
struct Update {
    at: Time,
    game: u64,
    engines: Engines,
}

/// The last report of each side's engine in the game: score for itself, depth, speed, expected
/// line.
type Engines = [Option<Value>; 2];

impl Default for Boards {
    fn default() -> Self {
        let viewers = Arc::new(Semaphore::new(MAX_VIEWERS));
        Self { updates: Mutex::default(), snapshot: watch::Sender::default(), viewers, is_polling: Mutex::default() }
    }
}

impl Boards {
    /// Shows a worker's live position.
    ///
    /// # Errors
    ///
    /// If it comes too soon after the last one, or is not valid.
    pub fn show(&self, now: Time, scene: &Scene, live: &Live) -> Result<(), StoreError> {
        let wrong = |detail: &str| StoreError::rejected(Code::Invalid, detail);
        if !scene.games.contains(&live.game) {
            return Err(StoreError::rejected(Code::WrongGames, "the game is not of this lease"));
        }
        let mut engines = {
            let mut updates = self.updates.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(before) = updates.get(&scene.job.0) {
                let is_new = before.game != live.game || live.end.is_some();
                if !is_new && (0..MIN_UPDATE_INTERVAL_MS).contains(&(now.0 - before.at.0)) {
                    return Err(StoreError::rejected(Code::TooMany, "once a second is often enough"));
                }
            }
            let before = updates.remove(&scene.job.0).filter(|before| before.game == live.game);
            let engines = before.map_or_else(Engines::default, |before| before.engines);
            updates.insert(scene.job.0, Update { at: now, game: live.game, engines: engines.clone() });
            while updates.len() > MAX_MATCHES {
                let oldest = updates.iter().min_by_key(|(_, update)| update.at).map(|(job, _)| *job);
                oldest.and_then(|job| updates.remove(&job));
            }
            engines
        };
        if live.moves.len() > Live::MAX_TEXT_BYTES
            || live.variation.len() > Live::MAX_TEXT_BYTES
            || live.start.len() > 200
        {
            return Err(wrong("that is longer than games are"));
        }
        let shown = board(now, scene, live, &mut engines).ok_or_else(|| wrong("the moves are not those of a game"))?;
        let mut updates = self.updates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(update) = updates.get_mut(&scene.job.0).filter(|update| update.game == live.game) {
            update.engines = engines;
        }
        drop(updates);
        self.snapshot.send_replace(Snapshot { watched: Some(scene.job), board: Arc::new(shown) });
        Ok(())
    }

    /// Selects the match to show, or none.
    pub fn select(&self, job: Option<JobId>) {
        self.snapshot.send_if_modified(|snapshot| {
            let is_other = snapshot.watched != job;
            if is_other {
                *snapshot = Snapshot { watched: job, board: Arc::default() };
            }
            is_other
        });
    }

    /// Subscribes a viewer; none at the limit.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>, service: &Service) -> Option<(watch::Receiver<Snapshot>, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&self.viewers).try_acquire_owned().ok()?;
        let receiver = self.snapshot.subscribe();
        if self.start_polling() {
            tokio::spawn(poll_marked_match(service.clone(), Arc::clone(self)));
        }
        Some((receiver, permit))
    }

    /// Whether the caller is to start polling: no task does yet.
    fn start_polling(&self) -> bool {
        !std::mem::replace(&mut *self.is_polling.lock().unwrap_or_else(PoisonError::into_inner), true)
    }

    /// Whether polling stops: there are no viewers.
    fn stop_polling(&self) -> bool {
        let mut is_polling = self.is_polling.lock().unwrap_or_else(PoisonError::into_inner);
        *is_polling = self.snapshot.receiver_count() > 0;
        !*is_polling
    }
}

/// The board for viewers, with the last reports of both engines; none if the update is not valid.
fn board(now: Time, scene: &Scene, live: &Live, engines: &mut Engines) -> Option<Value> {
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
    for text in live.variation.split(' ').filter(|text| !text.is_empty()).take(MAX_VARIATION_MOVES) {
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
    if live.score.is_some_and(|score| score.abs() > MAX_SCORE) {
        return None;
    }
    let opponent = header.opponent?;
    let turn = game.position().turn();
    // Engines report nothing about a finished game.
    if live.depth > 0 && live.end.is_none() {
        engines[turn.index()] = Some(json!({ "score": live.score, "depth": live.depth,
            "nodes_per_second": live.nodes_per_second, "variation": expected.json() }));
    }
    let side = |side: Color| {
        // In even games, net A plays Red.
        let own = (side == Color::Red) == live.game.is_multiple_of(2);
        let (net, soft, hard) = if own {
            (header.net, header.settings.soft_nodes, header.settings.hard_nodes)
        } else {
            (opponent.net, opponent.soft_nodes, opponent.hard_nodes)
        };
        json!({ "net": net, "name": scene.names[usize::from(!own)], "nodes": live.nodes[side.index()],
                "soft_nodes": soft, "hard_nodes": hard, "said": engines[side.index()],
                "remaining": live.remaining.map(|left| left[side.index()]) })
    };
    Some(json!({
        "match": scene.job.0, "game": live.game, "pair": live.game / 2, "at": now.0,
        "rules": header.rules.name(), "start": game.start().to_string(), "fen": game.fen().to_string(),
        "red": side(Color::Red), "black": side(Color::Black),
        "turn": if turn == Color::Red { "red" } else { "black" },
        "moves": texts.json(), "score": live.score, "depth": live.depth,
        "nodes_per_second": live.nodes_per_second, "variation": expected.json(), "end": end,
        "in_check": game.position().in_check(), "clock": header.clock,
    }))
}

/// Moves in the notations of people.
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
