//! A lease that is being played.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    sync::Arc,
    time::Duration,
};

use dataset::{Header, Record};
use protocol::api::work::Lease;
use selfplay::selfplay::Run;
use serde::{Deserialize, Serialize};

use crate::{
    journal::{Journal, shard_of},
    outbox::{Label, Parcel},
};

/// A lease as it lies on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    /// Whose it is.
    pub(crate) server: String,
    /// When it is over, in seconds since 1970, as this machine's clock says.
    pub(crate) until: u64,
    pub(crate) lease: Lease,
}

/// A lease under way.
#[derive(Debug)]
pub(crate) struct Job {
    /// What its files are called.
    pub(crate) name: String,
    pub(crate) saved: Saved,
    /// What plays its games; none if nothing of it will be played here.
    pub(crate) run: Option<Arc<Run>>,
    /// How many threads it may have: each needs memory.
    pub(crate) seats: usize,
    /// Why these are fewer than there are cores, in one sentence.
    pub(crate) idle: Option<String>,
    /// Numbers of games that nobody has begun.
    pub(crate) open: BTreeSet<u64>,
    pub(crate) at_hand: BTreeSet<u64>,
    pub(crate) finished: BTreeMap<u64, Record>,
    /// Finished games that could not be written down yet.
    pub(crate) unwritten: BTreeSet<u64>,
    pub(crate) journal: Journal,
    /// When it was taken on, by the worker's clock.
    pub(crate) since: Duration,
    /// When others may be given its games.
    pub(crate) due: Duration,
    /// A lease is renewed once at most.
    pub(crate) renewed: bool,
}

impl Job {
    pub(crate) const fn header(&self) -> &Header {
        &self.saved.lease.terms
    }

    pub(crate) fn numbers(&self) -> Range<u64> {
        self.saved.lease.numbers()
    }

    pub(crate) const fn is_match(&self) -> bool {
        self.header().opponent.is_some()
    }

    /// The word for what is played.
    pub(crate) fn kind(&self) -> &'static str {
        match (self.header().clock, self.is_match()) {
            (Some(_), _) => "timed match",
            (None, true) => "match",
            (None, false) => "self-play",
        }
    }

    /// Nobody has anything to do with it any more.
    pub(crate) fn is_over(&self) -> bool {
        self.open.is_empty() && self.at_hand.is_empty()
    }

    /// Begins no more of its games.
    pub(crate) fn close(&mut self) {
        self.open.clear();
    }

    /// A game was played to its end.
    pub(crate) fn add(&mut self, number: u64, record: Record) {
        self.at_hand.remove(&number);
        self.finished.insert(number, record);
        self.unwritten.insert(number);
    }

    /// Writes down what is not yet.
    pub(crate) fn write_down(&mut self) -> io::Result<()> {
        while let Some(&number) = self.unwritten.first() {
            if let Some(record) = self.finished.get(&number) {
                self.journal.add(&self.saved.lease.terms, number, record)?;
            }
            self.unwritten.remove(&number);
        }
        Ok(())
    }

    /// What is handed in of it: its games up to the first that is not finished; of a match whole pairs alone. The rest is
    /// given back.
    pub(crate) fn parcel(&self) -> io::Result<Parcel> {
        let Range { start, end } = self.numbers();
        let mut until = (start..end).find(|number| !self.finished.contains_key(number)).unwrap_or(end);
        if self.is_match() {
            until -= (until - start) % 2;
        }
        let shard = if until > start {
            shard_of(self.header(), self.finished.range(start..until).map(|(_, record)| record))?
        } else {
            Vec::new()
        };
        let label = Label {
            server: self.saved.server.clone(),
            lease: self.saved.lease.token.clone(),
            first: start,
            games: until - start,
            sha256: (!shard.is_empty()).then(|| dataset::Digest::of(&shard)),
            give_back: (until < end).then_some(until),
            until: self.saved.until,
        };
        Ok(Parcel { label, shard })
    }
}
