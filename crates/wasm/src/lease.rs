//! Games of a lease, played and encoded as a worker's are.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use dataset::{Book, Digest, Header, Record, shard::ShardWriter};
use engine::{Evaluation, published};
use nnue::{Kernel, Net};
use protocol::api::work::{Answer, Lease, Work};
use selfplay::selfplay::{Players, Run};
use serde::Serialize;

use crate::imports;

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::new()) };
}

/// The lease, its player and its files.
struct State {
    nets: BTreeMap<Digest, Arc<Net>>,
    /// Files that are no nets.
    books: BTreeMap<Digest, Vec<u8>>,
    lease: Option<Lease>,
    play: Option<Play>,
    /// The finished games of a lease, from its first one on.
    records: Vec<Record>,
}

/// The player of a lease.
struct Play {
    run: Run,
    players: Players,
}

/// The part of an answer to a request for leases that a page needs. Numbers of more than 53 bits
/// are not for JavaScript.
#[derive(Serialize)]
#[serde(tag = "work", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "one is made at a time")]
enum Summary {
    Wait {
        seconds: u32,
        reason: String,
    },
    Games {
        token: String,
        first: String,
        games: u64,
        seconds: u32,
        is_match: bool,
        nets: Vec<Digest>,
        books: Vec<Digest>,
    },
}

impl State {
    const fn new() -> Self {
        Self { nets: BTreeMap::new(), books: BTreeMap::new(), lease: None, play: None, records: Vec::new() }
    }

    fn take(&mut self, answer: &[u8]) -> Result<Summary, String> {
        let answer: Answer = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
        let lease = match answer.work {
            Work::Wait { seconds, reason } => return Ok(Summary::Wait { seconds, reason }),
            Work::Games(lease) => lease,
        };
        let terms = &lease.terms;
        if terms.clock.is_some() {
            return Err("the games are under a clock".to_owned());
        }
        if Header::from_bytes(&terms.to_bytes()).ok().as_ref() != Some(terms) {
            return Err("the terms are not allowed".to_owned());
        }
        let built_in = Digest::from(*published::net().hash().as_bytes());
        let summary = Summary::Games {
            token: lease.token.clone(),
            first: terms.first_game.to_string(),
            games: lease.games,
            seconds: lease.seconds,
            is_match: terms.opponent.is_some(),
            nets: lease.nets().filter(|net| *net != built_in && !self.nets.contains_key(net)).collect(),
            books: terms.openings.book.into_iter().filter(|book| !self.books.contains_key(book)).collect(),
        };
        (self.lease, self.play) = (Some(lease), None);
        self.records.clear();
        Ok(summary)
    }

    fn evaluation(&self, net: Option<Digest>) -> Result<Evaluation, String> {
        let kernel = Kernel::best();
        let Some(hash) = net else { return Ok(Evaluation::Plain) };
        if hash == Digest::from(*published::net().hash().as_bytes()) {
            return Ok(published::evaluation(kernel));
        }
        let net = self.nets.get(&hash).ok_or_else(|| format!("the net {hash} is missing"))?;
        Ok(Evaluation::Net(Arc::clone(net), kernel))
    }

    /// Makes the player of the lease.
    fn prepare(&self) -> Result<Play, String> {
        let terms = &self.lease.as_ref().ok_or("there is no lease")?.terms;
        let opponent = terms.opponent.map(|opponent| self.evaluation(opponent.net)).transpose()?;
        let book = terms.openings.book.map(|hash| {
            let bytes = self.books.get(&hash).ok_or_else(|| format!("the book {hash} is missing"))?;
            Book::from_bytes(bytes, terms.rules).map_err(|error| error.to_string())
        });
        let run = Run::from_header(terms, self.evaluation(terms.net)?, opponent, book.transpose()?)
            .map_err(|error| error.to_string())?;
        Ok(Play { players: run.players(), run })
    }

    /// Plays the next game. Returns its nodes, none if it was stopped.
    fn play_next(&mut self) -> Result<Option<u64>, String> {
        let mut play = match self.play.take() {
            Some(play) => play,
            None => self.prepare()?,
        };
        let number = play.run.first.wrapping_add(self.records.len() as u64);
        let finished = play.run.game_while(&mut play.players, number, &mut || !imports::is_stopped());
        self.play = Some(play);
        let finished = finished.map_err(|error| error.to_string())?;
        Ok(finished.map(|finished| {
            self.records.push(finished.record);
            finished.nodes
        }))
    }

    fn shard(&self) -> Result<Vec<u8>, String> {
        let lease = self.lease.as_ref().ok_or("there is no lease")?;
        let mut writer = ShardWriter::new(Vec::new(), lease.terms.clone()).map_err(|error| error.to_string())?;
        // Half a pair of a match counts for nothing.
        let half = if lease.terms.opponent.is_some() { self.records.len() % 2 } else { 0 };
        for record in &self.records[..self.records.len() - half] {
            writer.add(record).map_err(|error| error.to_string())?;
        }
        writer.finish().map(|(bytes, _)| bytes).map_err(|error| error.to_string())
    }
}

/// Reads the answer to a request for leases; returns its summary as JSON.
pub(crate) fn take(answer: &[u8]) -> Result<String, String> {
    let summary = STATE.with_borrow_mut(|state| state.take(answer))?;
    serde_json::to_string(&summary).map_err(|error| error.to_string())
}

/// Keeps a net or a book for leases; returns its hash.
pub(crate) fn keep_net(bytes: &[u8]) -> Result<String, String> {
    let net = Net::from_bytes(bytes).map_err(|error| error.to_string())?;
    let hash = Digest::from(*net.hash().as_bytes());
    STATE.with_borrow_mut(|state| state.nets.insert(hash, Arc::new(net)));
    Ok(hash.to_string())
}

/// Keeps a book for leases; returns its hash.
pub(crate) fn keep_book(bytes: Vec<u8>) -> String {
    let hash = Digest::of(&bytes);
    STATE.with_borrow_mut(|state| state.books.insert(hash, bytes));
    hash.to_string()
}

/// Plays the next game of the lease. Returns its nodes; none if it was stopped.
pub(crate) fn play() -> Result<Option<u64>, String> {
    STATE.with_borrow_mut(State::play_next)
}

/// Returns the shard of the games played so far.
pub(crate) fn shard() -> Result<Vec<u8>, String> {
    STATE.with_borrow(State::shard)
}
