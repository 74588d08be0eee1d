//! A lease that is being played.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use dataset::Header;
use protocol::api::work::{Lease, Renewed};
use selfplay::selfplay::Run;

use crate::speed::Speed;

/// Time until the first heartbeat of a lease, and after one without an interval.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);

/// A lease in progress.
#[derive(Debug)]
pub(crate) struct Job {
    /// Name of its file.
    pub(crate) name: String,
    pub(crate) lease: Lease,
    pub(crate) terms: Arc<Header>,
    /// The player; none if no game of it will be played here.
    pub(crate) run: Option<Arc<Run>>,
    /// Maximum number of threads: each needs memory for its tables.
    pub(crate) thread_slots: usize,
    /// Why that is fewer than the cores, as one sentence.
    pub(crate) idle_reason: Option<String>,
    /// Games not yet started.
    pub(crate) open: BTreeSet<u64>,
    pub(crate) at_hand: BTreeSet<u64>,
    pub(crate) finished: BTreeSet<u64>,
    /// Playing speed of its games.
    pub(crate) speed: Speed,
    /// Expiry by the worker's clock: afterwards the server may lease the games to others.
    pub(crate) expires: Duration,
    /// Time of the next renewal, by the worker's clock.
    pub(crate) next_heartbeat: Duration,
    /// Number of finished games in the last renewal that was answered.
    pub(crate) reported: usize,
    /// The server ended the lease: no further renewal, though games are still running.
    pub(crate) is_lost: bool,
}

impl Job {
    /// A lease of which no game is played yet.
    pub(crate) fn new(name: String, lease: Lease, finished: BTreeSet<u64>, now: Duration, left: Duration) -> Self {
        Self {
            name,
            terms: Arc::new(lease.terms.clone()),
            lease,
            run: None,
            thread_slots: 0,
            idle_reason: None,
            open: BTreeSet::new(),
            at_hand: BTreeSet::new(),
            finished,
            speed: Speed::default(),
            expires: now + left,
            next_heartbeat: now + HEARTBEAT_INTERVAL,
            reported: 0,
            is_lost: false,
        }
    }

    pub(crate) fn is_match(&self) -> bool {
        self.terms.opponent.is_some()
    }

    /// Returns the name of the kind of games.
    pub(crate) fn kind(&self) -> &'static str {
        match (self.terms.clock, self.is_match()) {
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
        let is_started = |number: &u64| at_hand.contains(&(number ^ 1)) || finished.contains(&(number ^ 1));
        let kept = self.open.iter().copied().filter(|number| self.is_match() && is_started(number)).collect();
        self.open = kept;
    }

    /// Drops the open and the running games.
    pub(crate) fn drop_games(&mut self) {
        self.open.clear();
        self.at_hand.clear();
    }

    /// Moves a game from the running to the finished ones.
    pub(crate) fn finish_game(&mut self, number: u64) {
        self.at_hand.remove(&number);
        self.finished.insert(number);
    }

    /// Heartbeat: a lease is due at its time if it has new finished games and is not done.
    pub(crate) fn needs_renewal(&self, now: Duration) -> bool {
        !self.is_lost && self.finished.len() > self.reported && !self.is_done() && now >= self.next_heartbeat
    }

    /// Extends the lease. The next heartbeat is due when the server says.
    pub(crate) fn extend(&mut self, now: Duration, finished: usize, renewed: Renewed) {
        let left = Duration::from_secs(u64::from(renewed.seconds));
        let interval = renewed.heartbeat_seconds.map_or(left * 2 / 3, |seconds| Duration::from_secs(seconds.into()));
        self.expires = now + left;
        self.reported = finished;
        self.next_heartbeat = now + interval;
    }

    /// Waits for further games, because the server knows of these already.
    pub(crate) fn postpone_heartbeat(&mut self, now: Duration, finished: usize) {
        self.reported = finished;
        self.next_heartbeat = now + HEARTBEAT_INTERVAL;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use dataset::{Adjudication, GameSettings, OpeningPolicy, Opponent};
    use xiangqi::rules::RuleSet;

    use super::*;
    use crate::work::{mode::PauseReason, state::WorkState};

    /// A lease of the games 10 to 19, with the given ones finished.
    pub(in crate::work) fn job(is_match: bool, finished: &[u64]) -> Job {
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
        let lease = Lease { token: "token".to_owned(), terms, games: 10, seconds: 900, live: false };
        let open = lease.numbers().filter(|number| !finished.contains(number)).collect();
        let finished = finished.iter().copied().collect();
        Job { open, ..Job::new("name".to_owned(), lease, finished, Duration::ZERO, Duration::from_mins(15)) }
    }

    #[test]
    fn a_closed_match_still_plays_the_partners_of_started_games() {
        let mut match_job = job(true, &[10, 13]);
        match_job.open.remove(&16);
        match_job.at_hand.insert(16);
        match_job.close();
        assert_eq!(match_job.open, [11, 12, 17].into());
        match_job.drop_games();
        assert!(match_job.is_done());
        let mut selfplay_job = job(false, &[10, 13]);
        selfplay_job.close();
        assert!(selfplay_job.is_done());
    }

    #[test]
    fn more_games_are_requested_before_the_last_ones_begin() {
        let mut state = WorkState::default();
        (state.jobs, state.thread_slots) = (vec![job(false, &[])], Some(2));
        assert!(!state.needs_more_games());
        state.jobs[0].open.retain(|number| *number < 15);
        assert!(state.needs_more_games(), "half of the lease is left");
        // A lease of 10 games that two threads play in 20 s.
        state.jobs = vec![job(false, &[])];
        state.speed.add(80, 40_000, Duration::from_secs(4));
        state.acquisition = Duration::from_secs(10);
        assert!(!state.needs_more_games());
        state.jobs[0].open.remove(&10);
        assert!(state.needs_more_games(), "two leases take longer to acquire");
        state.jobs.push(job(false, &[]));
        assert!(!state.needs_more_games());
        state.pause = Some(PauseReason::Hours);
        state.jobs.clear();
        assert!(!state.needs_more_games());
    }

    #[test]
    fn a_lease_is_renewed_for_progress_at_the_intervals_of_the_server() {
        let at = Duration::from_secs;
        let mut with_games = job(false, &[10, 13]);
        assert!(!with_games.needs_renewal(at(29)) && with_games.needs_renewal(at(30)));
        assert!(!job(false, &[]).needs_renewal(at(30)));
        with_games.extend(at(30), 2, Renewed { seconds: 900, heartbeat_seconds: Some(120) });
        assert_eq!(with_games.expires, at(930));
        assert!(!with_games.needs_renewal(at(200)), "no game was finished since");
        with_games.finish_game(14);
        assert!(!with_games.needs_renewal(at(149)) && with_games.needs_renewal(at(150)));
        with_games.postpone_heartbeat(at(150), 3);
        with_games.finish_game(15);
        assert!(!with_games.needs_renewal(at(179)) && with_games.needs_renewal(at(180)));
        with_games.extend(at(180), 4, Renewed { seconds: 900, heartbeat_seconds: None });
        with_games.finish_game(16);
        assert!(!with_games.needs_renewal(at(779)) && with_games.needs_renewal(at(780)), "an older server");
        with_games.is_lost = true;
        assert!(!with_games.needs_renewal(at(780)));
    }
}
