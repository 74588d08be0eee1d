//! What people see of a match while it is played.
//!
//! Only the last sight of each watched match is held, in memory, and checked before anybody sees it: the moves must be
//! legal. A worker's word is shown and nothing more: games count when they are delivered and proved. Behind one load
//! balancer each coordinator shows what it was told.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
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

use crate::{clock::Time, store::Failure, work::watching::Scene};

/// A match is heard of no more often than this, in milliseconds: a second, less what lines add and take away.
const EVERY: i64 = 800;
/// So many matches are remembered.
const MOST_MATCHES: usize = 4;
/// So many people are told at the same time as something is seen; the others may ask again.
const MOST_WATCHERS: usize = 500;
/// So many moves of what an engine expects are shown.
const MOST_EXPECTED: usize = 40;

/// All boards.
#[derive(Debug)]
pub struct Boards {
    /// By match.
    seen: Mutex<BTreeMap<i64, Seen>>,
    /// What was seen last, as JSON.
    last: watch::Sender<Arc<Value>>,
    watchers: Arc<Semaphore>,
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
        let (last, _) = watch::channel(Arc::new(Value::Null));
        Self { seen: Mutex::default(), last, watchers: Arc::new(Semaphore::new(MOST_WATCHERS)) }
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
        self.last.send_replace(Arc::new(shown));
        Ok(())
    }

    /// What was seen last; nothing, if nothing is watched any more.
    #[must_use]
    pub fn last(&self) -> Arc<Value> {
        Arc::clone(&self.last.borrow())
    }

    /// Nothing of this match is to be seen any more.
    pub fn clear(&self, job: i64) {
        if self.last.borrow()["match"] == job {
            self.last.send_replace(Arc::new(Value::Null));
        }
    }

    /// Tells what is seen as it is seen, if there is a place.
    #[must_use]
    pub fn watch(&self) -> Option<(watch::Receiver<Arc<Value>>, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.watchers).try_acquire_owned().ok()?;
        Some((self.last.subscribe(), place))
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
