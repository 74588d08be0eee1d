//! A lease that is being played.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    sync::Arc,
    time::Duration,
};

use dataset::{AtomicFile, Digest, Header, Record};
use protocol::api::work::Lease;
use selfplay::selfplay::Run;
use serde::{Deserialize, Serialize};

use crate::{
    journal::{Journal, shard_of},
    outbox::{Submission, SubmissionMeta},
    speed::Speed,
    state::Folder,
};

/// A lease as saved on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedLease {
    /// Address of the server that granted it.
    pub(crate) server: String,
    /// Expiry by this machine's clock, in seconds since 1970.
    pub(crate) until: u64,
    /// A lease is renewed at most once.
    #[serde(default)]
    pub(crate) renewed: bool,
    /// No more games are started: finished ones are submitted, the rest is released.
    #[serde(default)]
    pub(crate) closed: bool,
    pub(crate) lease: Lease,
}

impl SavedLease {
    /// Saves the lease, replacing the previous version.
    pub(crate) fn save(&self, folder: &Folder, name: &str) -> io::Result<()> {
        AtomicFile::replace(folder.lease(name), &serde_json::to_vec(self)?)
    }
}

/// A lease in progress.
#[derive(Debug)]
pub(crate) struct Job {
    /// Name of its files.
    pub(crate) name: String,
    pub(crate) saved: SavedLease,
    /// The player; none if no game of it will be played here.
    pub(crate) run: Option<Arc<Run>>,
    /// Maximum number of threads: each needs memory for its tables.
    pub(crate) thread_slots: usize,
    /// Why that is fewer than the cores, as one sentence.
    pub(crate) idle_reason: Option<String>,
    /// Games not yet started.
    pub(crate) open: BTreeSet<u64>,
    pub(crate) at_hand: BTreeSet<u64>,
    pub(crate) finished: BTreeMap<u64, Record>,
    /// Finished games that are not yet in the journal.
    pub(crate) unsaved: BTreeSet<u64>,
    /// Playing speed of its games.
    pub(crate) speed: Speed,
    pub(crate) journal: Journal,
    /// Time of acceptance, by the worker's clock.
    pub(crate) accepted_at: Duration,
    /// Expiry: afterwards the server may lease the games to others.
    pub(crate) expires: Duration,
    /// Number of finished games that the server did not accept as progress.
    pub(crate) insufficient_progress: usize,
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

    /// Returns the name of the kind of games.
    pub(crate) fn kind(&self) -> &'static str {
        match (self.header().clock, self.is_match()) {
            (Some(_), _) => "timed match",
            (None, true) => "match",
            (None, false) => "self-play",
        }
    }

    /// Returns whether no game is open or running.
    pub(crate) fn is_done(&self) -> bool {
        self.open.is_empty() && self.at_hand.is_empty()
    }

    /// Stops starting games, except the second ones of started match pairs: half a pair is worth
    /// nothing.
    pub(crate) fn close(&mut self) {
        let Self { at_hand, finished, .. } = &*self;
        let is_started = |number: &u64| at_hand.contains(&(number ^ 1)) || finished.contains_key(&(number ^ 1));
        let kept = self.open.iter().copied().filter(|number| self.is_match() && is_started(number)).collect();
        self.open = kept;
    }

    /// Drops the open and the running games.
    pub(crate) fn drop_games(&mut self) {
        self.open.clear();
        self.at_hand.clear();
    }

    /// Adds a finished game.
    pub(crate) fn add(&mut self, number: u64, record: Record) {
        self.at_hand.remove(&number);
        self.finished.insert(number, record);
        self.unsaved.insert(number);
    }

    /// Appends unsaved games to the journal.
    pub(crate) fn flush_journal(&mut self) -> io::Result<()> {
        while let Some(&number) = self.unsaved.first() {
            if let Some(record) = self.finished.get(&number) {
                self.journal.append(&self.saved.lease.terms, number, record)?;
            }
            self.unsaved.remove(&number);
        }
        Ok(())
    }

    /// Returns the submissions with their names: one for each gapless run of finished games, then
    /// one that releases the rest. The release is last: the server gives all games that it has not
    /// received by then to others.
    pub(crate) fn submissions(&self) -> io::Result<Vec<(String, Submission)>> {
        let runs = self.runs();
        let mut submissions = Vec::with_capacity(runs.len() + 1);
        for run in &runs {
            let header = Header { first_game: run.start, ..self.header().clone() };
            let shard = shard_of(&header, self.finished.range(run.clone()).map(|(_, record)| record))?;
            let meta = SubmissionMeta { sha256: Some(Digest::of(&shard)), ..self.meta(run.clone()) };
            submissions.push((format!("{}-{}", self.name, run.start), Submission { meta, shard }));
        }
        if let Some(missing) = self.first_missing(&runs) {
            let meta = SubmissionMeta { release_from: Some(missing), ..self.meta(missing..missing) };
            submissions.push((format!("{}-back", self.name), Submission { meta, shard: Vec::new() }));
        }
        Ok(submissions)
    }

    fn meta(&self, games: Range<u64>) -> SubmissionMeta {
        SubmissionMeta {
            server: self.saved.server.clone(),
            lease: self.saved.lease.token.clone(),
            first: games.start,
            games: games.end - games.start,
            sha256: None,
            release_from: None,
            until: self.saved.until,
        }
    }

    /// Returns the gapless runs of finished games; for a match, of whole pairs.
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

    /// A lease of the games 10 to 19, with the given ones finished.
    fn job(folder: &std::path::Path, is_match: bool, finished: &[u64]) -> Job {
        let terms = Header {
            bench_signature: engine::bench::SIGNATURE,
            net: None,
            opponent: is_match.then_some(Opponent { net: None, soft_nodes: None, hard_nodes: 50 }),
            clock: None,
            parameters: dataset::Overrides::default(),
            opponent_parameters: dataset::Overrides::default(),
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
            thread_slots: 1,
            idle_reason: None,
            open: lease.numbers().filter(|number| !finished.contains_key(number)).collect(),
            at_hand: BTreeSet::new(),
            finished,
            unsaved: BTreeSet::new(),
            speed: Speed::default(),
            journal,
            accepted_at: Duration::ZERO,
            expires: Duration::ZERO,
            insufficient_progress: 0,
            saved: SavedLease { server: "server".to_owned(), until: 0, renewed: false, closed: false, lease },
        }
    }

    /// Case: match or not, finished games, their runs (first and count), and the first released
    /// game.
    type Case = (bool, &'static [u64], &'static [(u64, u64)], Option<u64>);

    #[test]
    fn every_finished_game_is_submitted_despite_gaps() {
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
            let mut submissions = job(folder.path(), is_match, finished).submissions().unwrap();
            // The release is sent last.
            let names: Vec<_> = submissions.iter().map(|(name, _)| name.clone()).collect();
            assert!(names.is_sorted(), "{names:?}");
            if missing.is_some() {
                let (name, release) = submissions.pop().unwrap();
                assert_eq!((name.as_str(), release.meta.release_from, release.meta.games), ("name-back", missing, 0));
            }
            let uploads: Vec<_> =
                submissions.iter().map(|(_, Submission { meta, .. })| (meta.first, meta.games)).collect();
            assert_eq!(uploads, runs, "{finished:?}");
            for (_, Submission { meta, shard }) in submissions {
                let shard = Shard::new(shard).unwrap();
                assert_eq!((shard.header().first_game, shard.games()), (meta.first, meta.games));
                assert_eq!(meta.release_from, None);
            }
        }
    }

    #[test]
    fn a_closed_match_still_plays_the_partners_of_started_games() {
        let folder = tempfile::tempdir().unwrap();
        let mut match_job = job(folder.path(), true, &[10, 13]);
        match_job.open.remove(&16);
        match_job.at_hand.insert(16);
        match_job.close();
        assert_eq!(match_job.open, [11, 12, 17].into());
        match_job.drop_games();
        assert!(match_job.is_done());
        let mut selfplay_job = job(folder.path(), false, &[10, 13]);
        selfplay_job.close();
        assert!(selfplay_job.is_done());
    }
}
