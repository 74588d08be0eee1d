//! A lease that is being played.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    sync::Arc,
    time::Duration,
};

use dataset::{Digest, Header, NewFile, Record};
use protocol::api::work::Lease;
use selfplay::selfplay::Run;
use serde::{Deserialize, Serialize};

use crate::{
    journal::{Journal, shard_of},
    outbox::{Label, Parcel},
    speed::Speed,
    state::Folder,
};

/// A lease as it lies on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Whose it is.
    pub(crate) server: String,
    /// When it is over, in seconds since 1970, as this machine's clock says.
    pub(crate) until: u64,
    /// A lease is renewed once at most.
    #[serde(default)]
    pub(crate) renewed: bool,
    /// Nothing more of it is played: what is finished is handed in, and the rest is given back.
    #[serde(default)]
    pub(crate) closed: bool,
    pub(crate) lease: Lease,
}

impl Saved {
    /// Writes it down, in the place of what was known of it before.
    pub(crate) fn keep(&self, folder: &Folder, name: &str) -> io::Result<()> {
        NewFile::replace(folder.lease(name), &serde_json::to_vec(self)?)
    }
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
    /// How fast its games are played.
    pub(crate) speed: Speed,
    pub(crate) journal: Journal,
    /// When it was taken on, by the worker's clock.
    pub(crate) since: Duration,
    /// When others may be given its games.
    pub(crate) due: Duration,
    /// So many finished games were not enough for the server to renew it.
    pub(crate) shown: usize,
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

    /// Begins no more of its games, but for those whose partner in a match was begun: half a pair is worth nothing.
    pub(crate) fn close(&mut self) {
        let Self { at_hand, finished, .. } = &*self;
        let begun = |number: &u64| at_hand.contains(&(number ^ 1)) || finished.contains_key(&(number ^ 1));
        let kept = self.open.iter().copied().filter(|number| self.is_match() && begun(number)).collect();
        self.open = kept;
    }

    /// Plays no more of it, and gives up what is at hand.
    pub(crate) fn abandon(&mut self) {
        self.open.clear();
        self.at_hand.clear();
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

    /// What is handed in of it, with the names of the parcels: one for each run of finished games without a gap, and, if
    /// anything is missing between or behind them, one that gives it back. That goes last: the server takes all games that
    /// it has not received by then for others.
    pub(crate) fn parcels(&self) -> io::Result<Vec<(String, Parcel)>> {
        let runs = self.runs();
        let mut parcels = Vec::with_capacity(runs.len() + 1);
        for run in &runs {
            let header = Header { first_game: run.start, ..self.header().clone() };
            let shard = shard_of(&header, self.finished.range(run.clone()).map(|(_, record)| record))?;
            let label = Label { sha256: Some(Digest::of(&shard)), ..self.label(run.clone()) };
            parcels.push((format!("{}-{}", self.name, run.start), Parcel { label, shard }));
        }
        if let Some(missing) = self.first_missing(&runs) {
            let label = Label { give_back: Some(missing), ..self.label(missing..missing) };
            parcels.push((format!("{}-back", self.name), Parcel { label, shard: Vec::new() }));
        }
        Ok(parcels)
    }

    fn label(&self, games: Range<u64>) -> Label {
        Label {
            server: self.saved.server.clone(),
            lease: self.saved.lease.token.clone(),
            first: games.start,
            games: games.end - games.start,
            sha256: None,
            give_back: None,
            until: self.saved.until,
        }
    }

    /// The finished games without their gaps; of a match whole pairs alone.
    fn runs(&self) -> Vec<Range<u64>> {
        let unit = if self.is_match() { 2 } else { 1 };
        let start = self.numbers().start;
        let is_whole = |first: &u64| {
            (first - start).is_multiple_of(unit) && (*first..first + unit).all(|game| self.finished.contains_key(&game))
        };
        let mut runs: Vec<Range<u64>> = Vec::new();
        for first in self.finished.keys().copied().filter(is_whole) {
            match runs.last_mut() {
                Some(run) if run.end == first => run.end += unit,
                _ => runs.push(first..first + unit),
            }
        }
        runs
    }

    fn first_missing(&self, runs: &[Range<u64>]) -> Option<u64> {
        let Range { start, end } = self.numbers();
        let missing = runs.first().filter(|run| run.start == start).map_or(start, |run| run.end);
        (missing < end).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use dataset::{Adjudication, GameSettings, OpeningPolicy, Opponent, shard::Shard};
    use xiangqi::rules::RuleSet;

    use super::*;

    /// A lease of the games 10 to 19, of which these are finished.
    fn job(folder: &std::path::Path, is_match: bool, finished: &[u64]) -> Job {
        let terms = Header {
            bench_signature: engine::bench::SIGNATURE,
            net: None,
            opponent: is_match.then_some(Opponent { net: None, soft_nodes: None, hard_nodes: 50 }),
            clock: None,
            rules: RuleSet::Cxr,
            settings: GameSettings {
                hash_mebibytes: 1,
                soft_nodes: None,
                hard_nodes: 50,
                adjudication: Adjudication::default(),
                ply_cap: 40,
            },
            openings: OpeningPolicy { book: None, plies: 8, filter: None },
            seed: 3,
            first_game: 10,
        };
        let opponent = is_match.then_some(engine::Evaluation::Plain);
        let run = Run::from_header(&terms, engine::Evaluation::Plain, opponent, None).unwrap();
        let mut players = run.players();
        let play = |&number: &u64| (number, run.game(&mut players, number).unwrap().record);
        let finished: BTreeMap<u64, Record> = finished.iter().map(play).collect();
        let lease = Lease { token: "token".to_owned(), terms, games: 10, seconds: 900, live: false };
        let (journal, _) = Journal::open(&folder.join("games"), &lease.terms).unwrap();
        Job {
            name: "name".to_owned(),
            run: None,
            seats: 1,
            idle: None,
            open: lease.numbers().filter(|number| !finished.contains_key(number)).collect(),
            at_hand: BTreeSet::new(),
            finished,
            unwritten: BTreeSet::new(),
            speed: Speed::default(),
            journal,
            since: Duration::ZERO,
            due: Duration::ZERO,
            shown: 0,
            saved: Saved { server: "server".to_owned(), until: 0, renewed: false, closed: false, lease },
        }
    }

    /// Whether it is a match, what is finished, the runs of that (first and count), and what is the first to be given back.
    type Case = (bool, &'static [u64], &'static [(u64, u64)], Option<u64>);

    #[test]
    fn every_finished_game_is_handed_in_whatever_is_missing_between() {
        let folder = tempfile::tempdir().unwrap();
        let cases: [Case; 7] = [
            (false, &[], &[], Some(10)),
            (false, &[10, 11, 12], &[(10, 3)], Some(13)),
            (false, &[11, 12, 15, 19], &[(11, 2), (15, 1), (19, 1)], Some(10)),
            (false, &[10, 12, 13], &[(10, 1), (12, 2)], Some(11)),
            (false, &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19], &[(10, 10)], None),
            (true, &[10, 11, 13, 14, 16, 17, 18, 19], &[(10, 2), (16, 4)], Some(12)),
            (true, &[11, 12], &[], Some(10)),
        ];
        for (is_match, finished, runs, missing) in cases {
            let mut parcels = job(folder.path(), is_match, finished).parcels().unwrap();
            // What gives back is handed out last.
            let names: Vec<_> = parcels.iter().map(|(name, _)| name.clone()).collect();
            assert!(names.is_sorted(), "{names:?}");
            if missing.is_some() {
                let (name, back) = parcels.pop().unwrap();
                assert_eq!((name.as_str(), back.label.give_back, back.label.games), ("name-back", missing, 0));
            }
            let sent: Vec<_> = parcels.iter().map(|(_, Parcel { label, .. })| (label.first, label.games)).collect();
            assert_eq!(sent, runs, "{finished:?}");
            for (_, Parcel { label, shard }) in parcels {
                let shard = Shard::new(shard).unwrap();
                assert_eq!((shard.header().first_game, shard.games()), (label.first, label.games));
                assert_eq!(label.give_back, None);
            }
        }
    }

    #[test]
    fn who_closes_a_match_still_plays_the_partners_of_what_was_begun() {
        let folder = tempfile::tempdir().unwrap();
        let mut of_a_match = job(folder.path(), true, &[10, 13]);
        of_a_match.open.remove(&16);
        of_a_match.at_hand.insert(16);
        of_a_match.close();
        assert_eq!(of_a_match.open, [11, 12, 17].into());
        of_a_match.abandon();
        assert!(of_a_match.is_over());
        let mut of_self_play = job(folder.path(), false, &[10, 13]);
        of_self_play.close();
        assert!(of_self_play.is_over());
    }
}
