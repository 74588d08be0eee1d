//! Invariants that hold at any time.

use std::collections::{BTreeMap, BTreeSet};

use coordinator_core::{gate::Verdict, matches, model::JobId, store::counting};
use dataset::{Digest, Header};
use protocol::campaign::Gate;
use stats::Decision;

use super::{machines, world::World};
use crate::{
    common::{lab::POSITIONS, truth},
    op,
};

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct JobRow {
    pub(super) id: i64,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) frontier: i64,
    pub(super) settled_games: i64,
    pub(super) header: String,
    pub(super) gate: Option<String>,
    pub(super) decision: Option<String>,
    pub(super) game_limit: Option<i64>,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SegmentRow {
    pub(super) job: i64,
    pub(super) first: i64,
    pub(super) games: i64,
    pub(super) state: String,
    pub(super) lease: Option<i64>,
    pub(super) shard: Option<i64>,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct LeaseRow {
    pub(super) id: i64,
    pub(super) token: String,
    pub(super) job: i64,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) first: i64,
    pub(super) games: i64,
    pub(super) audited: Option<i64>,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct ShardRow {
    pub(super) id: i64,
    pub(super) hash: String,
    pub(super) job: i64,
    pub(super) lease: i64,
    pub(super) account: i64,
    pub(super) first: i64,
    pub(super) games: i64,
    pub(super) state: String,
    pub(super) audit: String,
    pub(super) audited_games: i64,
    pub(super) held_games: i64,
    pub(super) validated: Option<i64>,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct ComparisonRow {
    pub(super) left_shard: i64,
    pub(super) right_shard: i64,
    pub(super) first: i64,
    pub(super) games: i64,
    pub(super) state: String,
}

/// A snapshot of the database.
pub(super) struct Picture {
    pub(super) jobs: Vec<JobRow>,
    pub(super) segments: Vec<SegmentRow>,
    pub(super) leases: BTreeMap<i64, LeaseRow>,
    pub(super) shards: BTreeMap<i64, ShardRow>,
    pub(super) comparisons: Vec<ComparisonRow>,
}

impl JobRow {
    pub(super) fn terms(&self) -> Header {
        serde_json::from_str(&self.header).expect("it was written so")
    }
}

impl ShardRow {
    fn numbers(&self) -> std::ops::Range<i64> {
        self.first..self.first + self.games
    }
}

impl World {
    pub(super) async fn picture(&self) -> Picture {
        let lab = self.lab();
        let jobs =
            "SELECT id, kind, state, frontier, settled_games, header, gate, decision, game_limit FROM jobs ORDER BY id";
        let segments = "SELECT job, first, games, state, lease, shard FROM segments ORDER BY job, first";
        let leases: Vec<LeaseRow> =
            lab.rows("SELECT id, token, job, kind, state, first, games, audited FROM leases").await;
        let shards = "SELECT id, hash, job, lease, account, first, games, state, audit,
                             audited_games, held_games, validated FROM shards";
        let shards: Vec<ShardRow> = lab.rows(shards).await;
        let comparisons = "SELECT left_shard, right_shard, first, games, state FROM comparisons";
        Picture {
            jobs: lab.rows(jobs).await,
            segments: lab.rows(segments).await,
            leases: leases.into_iter().map(|lease| (lease.id, lease)).collect(),
            shards: shards.into_iter().map(|shard| (shard.id, shard)).collect(),
            comparisons: lab.rows(comparisons).await,
        }
    }

    /// Checks all invariants.
    pub(super) async fn check(&mut self) {
        let picture = self.picture().await;
        every_game_is_in_one_segment(&picture);
        segments_agree_with_their_holders(&picture);
        self.nothing_accepted_is_lost(&picture);
        disputes_wait(&picture);
        valid_games_are_held_or_compared(&picture);
        self.comparisons_are_true(&picture);
        self.no_honest_account_is_found_wrong().await;
        self.counted_games_are_held_games(&picture).await;
        self.credit_is_given_once(&picture).await;
        if !self.is_under_review().await {
            self.verified_games_match_confirmations(&picture).await;
            self.no_unproven_shard_of_a_quarantined_account_counts().await;
        }
    }

    /// Whether some uploads are still to be reviewed after a quarantine or its end.
    pub(super) async fn is_under_review(&self) -> bool {
        self.lab().value::<i64>("SELECT COUNT(*) FROM reviews").await > 0
    }

    async fn no_unproven_shard_of_a_quarantined_account_counts(&self) {
        let query = "SELECT COUNT(*) FROM shards JOIN accounts ON accounts.id = shards.account
                     WHERE accounts.distrusted = 1 AND (shards.state = 'disputed'
                     OR (shards.state IN ('received', 'validated') AND shards.audited_games < shards.games))";
        assert_eq!(self.lab().value::<i64>(query).await, 0);
    }

    fn nothing_accepted_is_lost(&self, picture: &Picture) {
        let there = picture.shards.values().map(|shard| {
            let hash: Digest = shard.hash.parse().expect("it was written so");
            (picture.leases[&shard.lease].token.clone(), hash)
        });
        let there: Vec<(String, Digest)> = there.collect();
        let once: BTreeSet<_> = there.iter().cloned().collect();
        assert_eq!(once.len(), there.len(), "an upload is there twice");
        assert_eq!(once, self.accepted.keys().cloned().collect(), "what was accepted is not what is there");
    }

    fn comparisons_are_true(&self, picture: &Picture) {
        for row in &picture.comparisons {
            let sides = [row.left_shard, row.right_shard].map(|shard| &picture.shards[&shard]);
            let numbers = row.first..row.first + row.games;
            assert!(!numbers.is_empty(), "{row:?}");
            for side in sides {
                let own = side.numbers();
                assert!(own.start <= numbers.start && numbers.end <= own.end, "{row:?} of {side:?}");
            }
            let parts = sides.map(|side| self.games_of(side, numbers.clone()));
            match row.state.as_str() {
                "equal" => assert_eq!(parts[0], parts[1], "{row:?}"),
                "different" | "settled" => assert_ne!(parts[0], parts[1], "{row:?}"),
                _ => {}
            }
        }
    }

    fn games_of(&self, shard: &ShardRow, numbers: std::ops::Range<i64>) -> Vec<truth::Game> {
        let objects = self.lab().objects.lock().expect("no thread panics while holding it");
        let object = &objects[&shard.hash.parse().expect("it was written so")];
        let from = (numbers.start - shard.first) as usize;
        object.games[from..from + (numbers.end - numbers.start) as usize].to_vec()
    }

    async fn no_honest_account_is_found_wrong(&self) {
        let found: Vec<(i64,)> = self.lab().rows("SELECT id FROM accounts WHERE state = 'quarantined'").await;
        for (account,) in found {
            let own = self.machines.iter().filter(|machine| machine.player.account == account);
            let honest = own.clone().all(machines::Machine::is_honest);
            assert!(!honest || self.by_hand.contains(&account), "the honest account {account} was found wrong");
        }
    }

    async fn counted_games_are_held_games(&self, picture: &Picture) {
        let lab = self.lab();
        for job in &picture.jobs {
            let id = job.id;
            let held = picture.segments.iter().filter(|segment| segment.job == id && counts(picture, segment));
            let games: i64 = held.map(|segment| segment.games).sum();
            let tally = lab.tally(id).await;
            assert_eq!((tally.games, tally.positions), (games, games * POSITIONS as i64), "job {id}");
            let held = |shard: &ShardRow| {
                let own = picture.segments.iter().filter(|segment| segment.shard == Some(shard.id));
                own.map(|segment| segment.games).sum::<i64>()
            };
            let mut settled = 0;
            for shard in picture.shards.values().filter(|shard| shard.job == id) {
                assert_eq!(shard.held_games, held(shard), "{shard:?}");
                settled += if shard.state == "received" { 0 } else { shard.held_games };
            }
            assert_eq!(job.settled_games, settled, "job {id}");
            if job.gate.is_some() {
                let pairs = op!(lab.read, [], |c| counting::pairs(&mut c, JobId(id))).expect("it can be counted");
                assert_eq!(pairs, self.pairs(picture, id), "job {id}");
            }
        }
    }

    /// The counted pairs of a match without a gap, from the games themselves.
    pub(super) fn pairs(&self, picture: &Picture, job: i64) -> Vec<u8> {
        let all = picture.segments.iter().filter(|segment| segment.job == job);
        let prefix = all.take_while(|segment| counts(picture, segment));
        let games = prefix.flat_map(|segment| {
            let shard = &picture.shards[&segment.shard.expect("it is held")];
            self.games_of(shard, segment.first..segment.first + segment.games)
        });
        truth::pairs(&games.collect::<Vec<_>>())
    }

    async fn credit_is_given_once(&self, picture: &Picture) {
        let mut played = BTreeMap::<i64, BTreeSet<(i64, i64)>>::new();
        for shard in picture.shards.values().filter(|shard| shard.validated.is_some()) {
            played.entry(shard.account).or_default().extend(shard.numbers().map(|number| (shard.job, number)));
        }
        let query = "SELECT account, CAST(SUM(games) AS BIGINT), CAST(SUM(positions) AS BIGINT)
                     FROM contributions GROUP BY account ORDER BY account";
        let credited: Vec<(i64, i64, i64)> = self.lab().rows(query).await;
        let played = played
            .into_iter()
            .map(|(account, games)| (account, games.len() as i64, (games.len() as u64 * POSITIONS) as i64));
        assert_eq!(credited, played.collect::<Vec<_>>());
    }

    /// Verified games are those reproduced on request by an account in good standing. An account's
    /// clean games are the sum over its shards.
    async fn verified_games_match_confirmations(&self, picture: &Picture) {
        let lab = self.lab();
        let found: Vec<(i64,)> = lab.rows("SELECT id FROM accounts WHERE distrusted = 1").await;
        let distrusted: BTreeSet<i64> = found.into_iter().map(|(account,)| account).collect();
        let judges: Vec<(i64,)> = lab.rows("SELECT account FROM workers WHERE trusted = 1").await;
        let mut accounts = BTreeMap::<i64, i64>::new();
        for shard in picture.shards.values() {
            let mut games = BTreeSet::new();
            for row in picture.comparisons.iter().filter(|row| row.state == "equal") {
                let other = match (row.left_shard, row.right_shard) {
                    (own, other) | (other, own) if own == shard.id => &picture.shards[&other],
                    _ => continue,
                };
                let lease = &picture.leases[&other.lease];
                let is_requested =
                    lease.audited == Some(shard.id) || lease.kind == "settle" || judges.contains(&(other.account,));
                if is_requested && other.account != shard.account && !distrusted.contains(&other.account) {
                    games.extend(row.first..row.first + row.games);
                }
            }
            let verified = games.len() as i64;
            let is_enough = verified > 0 && verified >= shard.games / 10;
            assert_eq!(shard.audited_games, verified, "{shard:?}");
            match shard.audit.as_str() {
                "clean" => assert!(is_enough, "{shard:?}"),
                // A gate may want a further audit of a clean shard.
                "wanted" | "leased" => {
                    let is_match = picture.jobs.iter().any(|job| job.id == shard.job && job.gate.is_some());
                    assert!(!is_enough || is_match, "{shard:?} waits for an audit that it had");
                }
                _ => {}
            }
            *accounts.entry(shard.account).or_default() += shard.audited_games;
        }
        let query = "SELECT id, clean_games FROM accounts";
        for (account, clean) in lab.rows::<(i64, i64)>(query).await {
            let verified = accounts.get(&account).copied().unwrap_or_default();
            assert_eq!(clean, verified, "the account {account}");
        }
    }

    /// Every decision equals the verdict on the games counted at that time. `alone`: no concurrent
    /// operation.
    pub(super) async fn check_decisions(&mut self, alone: bool) {
        let query = "SELECT id, decision FROM jobs WHERE decision IS NOT NULL";
        let decided: BTreeMap<i64, String> = self.lab().rows::<(i64, String)>(query).await.into_iter().collect();
        if decided == self.decided {
            return;
        }
        assert!(!alone || !self.is_under_review().await, "something is decided while uploads are under review");
        let picture = self.picture().await;
        for (job, text) in &decided {
            if alone && self.decided.get(job) != Some(text) {
                self.assert_verdict(&picture, *job);
            }
        }
        self.decided = decided;
    }

    /// Asserts that a decision equals the verdict on the games counted now.
    pub(super) fn assert_verdict(&self, picture: &Picture, job: i64) {
        let row = picture.jobs.iter().find(|row| row.id == job).expect("it is there");
        let said: Verdict = serde_json::from_str(row.decision.as_deref().expect("it is decided")).expect("a verdict");
        let pairs = self.pairs(picture, job);
        assert_eq!((said.pairs, said.decision), self.judge(row, &pairs), "job {job} with {pairs:?}");
    }

    /// The verdict of the test on pairs. A match of fixed length has none.
    pub(super) fn judge(&self, job: &JobRow, pairs: &[u8]) -> (u64, Decision) {
        if job.kind != "match" {
            return (pairs.len() as u64, Decision::Continue);
        }
        let gate: Gate = serde_json::from_str(job.gate.as_deref().expect("it is a match")).expect("it was written so");
        machines::verdict(&matches::test_of(&gate).expect("it is a test"), gate.batch_pairs as usize, pairs)
    }
}

/// Whether a segment's games count.
pub(super) fn counts(picture: &Picture, segment: &SegmentRow) -> bool {
    segment.shard.is_some_and(|shard| picture.shards[&shard].state == "validated")
}

fn every_game_is_in_one_segment(picture: &Picture) {
    for job in &picture.jobs {
        let unit = if job.terms().opponent.is_some() { 2 } else { 1 };
        let mut next = 0;
        for segment in picture.segments.iter().filter(|segment| segment.job == job.id) {
            assert_eq!(segment.first, next, "{segment:?}");
            assert!(segment.games > 0 && segment.games % unit == 0, "{segment:?}");
            next += segment.games;
        }
        assert_eq!(next, job.frontier, "job {}", job.id);
        assert!(job.kind == "selfplay" || job.game_limit.is_none_or(|limit| next <= limit));
    }
}

fn segments_agree_with_their_holders(picture: &Picture) {
    for segment in &picture.segments {
        let end = segment.first + segment.games;
        match (segment.state.as_str(), segment.lease, segment.shard) {
            ("open", None, None) => {}
            ("leased", Some(lease), None) => {
                let lease = &picture.leases[&lease];
                assert_eq!((lease.state.as_str(), lease.kind.as_str(), lease.job), ("active", "fresh", segment.job));
                assert!(lease.first <= segment.first && end <= lease.first + lease.games, "{segment:?} of {lease:?}");
            }
            ("held", None, Some(shard)) => {
                let shard = &picture.shards[&shard];
                assert_eq!(shard.job, segment.job);
                assert!(shard.first <= segment.first && end <= shard.first + shard.games, "{segment:?} of {shard:?}");
                assert!(
                    matches!(shard.state.as_str(), "received" | "validated" | "disputed"),
                    "{segment:?} of {shard:?}"
                );
            }
            _ => panic!("{segment:?}"),
        }
    }
}

/// A valid game is not played again, and games held by another shard were compared. The first
/// upload holds a game, and later ones audit it.
fn valid_games_are_held_or_compared(picture: &Picture) {
    for shard in picture.shards.values().filter(|shard| shard.state == "validated") {
        let own = shard.numbers();
        let common = |first: i64, games: i64| own.start.max(first)..own.end.min(first + games);
        let compared: Vec<_> = picture
            .comparisons
            .iter()
            .filter(|row| row.left_shard == shard.id || row.right_shard == shard.id)
            .map(|row| row.first..row.first + row.games)
            .collect();
        let all = picture.segments.iter().filter(|segment| segment.job == shard.job);
        for segment in all.filter(|segment| segment.shard != Some(shard.id)) {
            for game in common(segment.first, segment.games) {
                assert_eq!(segment.state, "held", "game {game} of {shard:?} is to be played again: {segment:?}");
                let is_compared = compared.iter().any(|games| games.contains(&game));
                assert!(is_compared, "game {game} of {shard:?} is held by another and was not compared");
            }
        }
    }
}

/// Disputed shards do not count until settled, and every disputed shard has an open dispute.
fn disputes_wait(picture: &Picture) {
    let open = picture.comparisons.iter().filter(|row| row.state == "different");
    let disputed: BTreeSet<i64> = open.flat_map(|row| [row.left_shard, row.right_shard]).collect();
    for shard in picture.shards.values() {
        match shard.state.as_str() {
            "validated" | "received" => assert!(!disputed.contains(&shard.id), "{shard:?} counts"),
            "disputed" => assert!(disputed.contains(&shard.id), "{shard:?} waits for nothing"),
            _ => {}
        }
        assert!(shard.state != "validated" || shard.validated.is_some(), "{shard:?}");
    }
}
