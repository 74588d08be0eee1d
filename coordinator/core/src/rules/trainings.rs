//! Trainings: claims, heartbeats, ends.

use protocol::api::{
    problem::{Code, Problem},
    training::Progress,
};

use crate::{
    clock::{HOUR, SECOND, Time},
    model::{AccountId, Reason, Training, TrainingState as State},
};

/// A training's lease expires after this many seconds without a heartbeat.
pub const LEASE_SECONDS: u32 = 900;

/// Maximum attempts before a training fails.
pub const MAX_ATTEMPTS: i64 = 10;

/// Maximum time without progress, long enough for the reading before the first step and the writing
/// after the last.
const MAX_STALL_MS: i64 = 6 * HOUR;

/// A trainer whose machine failed is not offered the training again for so long. Others are.
const LOCAL_FAILURE_PAUSE_MS: i64 = 10 * 60 * SECOND;

/// The transitions of a training: from, event, to.
pub const TRANSITIONS: &[(State, &str, State)] = &[
    (State::Open, "claimed", State::Leased),
    (State::Leased, "claimed again, by its trainer or after its expiry", State::Leased),
    (State::Leased, "expired, or given back", State::Open),
    (State::Leased, "completed", State::Done),
    (State::Open, "its net was trained elsewhere", State::Done),
    (State::Leased, "given up, or the last attempt", State::Failed),
    (State::Open, "its campaign stopped or rolled back, or has another net", State::Failed),
];

/// A file uploaded by a trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uploaded {
    /// The candidate's net file.
    Net,
    /// The plot of losses.
    Curves,
}

/// The problem of a lease that is over.
#[must_use]
pub fn lost() -> Problem {
    Problem::new(Code::LeaseLost, "the training is over, or with another trainer")
}

impl Training {
    /// Whether this trainer may claim it.
    #[must_use]
    pub fn is_claimable(&self, now: Time, account: AccountId, trainer: &str) -> bool {
        let is_own = (self.account, self.trainer.as_deref()) == (Some(account), Some(trainer));
        let is_free = match self.state {
            State::Open => !is_own || self.expires.is_none_or(|until| until <= now),
            State::Leased => is_own || self.is_expired(now),
            State::Done | State::Failed => false,
        };
        is_free && self.attempts < MAX_ATTEMPTS
    }

    fn is_expired(&self, now: Time) -> bool {
        self.state == State::Leased && self.expires.is_some_and(|expires| expires < now)
    }

    fn extend(&mut self, now: Time) {
        self.expires = Some(now.after(i64::from(LEASE_SECONDS) * SECOND));
    }

    /// Leases it to a trainer. A trainer that claims repeatedly without progress uses up attempts
    /// too.
    pub fn claim(&mut self, now: Time, account: AccountId, trainer: &str, token_hash: String) {
        (self.state, self.token) = (State::Leased, Some(token_hash));
        (self.account, self.trainer) = (Some(account), Some(trainer.to_owned()));
        (self.attempts, self.step, self.moved) = (self.attempts + 1, 0, now);
        self.extend(now);
    }

    /// Reopens it if its trainer is gone; whether it was.
    pub fn expire(&mut self, now: Time) -> bool {
        let is_expired = self.is_expired(now);
        if is_expired {
            self.reopen();
            if self.state == State::Failed {
                self.reason = Some(Reason::NoTrainer);
            }
        }
        is_expired
    }

    /// Ends the lease. The last attempt fails it.
    fn reopen(&mut self) {
        self.state = if self.attempts >= MAX_ATTEMPTS { State::Failed } else { State::Open };
        self.token = None;
    }

    /// The training, if it is this account's.
    pub fn owned_by(self, account: AccountId) -> Result<Self, Problem> {
        if self.account == Some(account) {
            Ok(self)
        } else {
            Err(Problem::new(Code::NotOwner, "the training belongs to another account"))
        }
    }

    /// The training, if it is leased.
    pub fn leased(self) -> Result<Self, Problem> {
        if self.state == State::Leased { Ok(self) } else { Err(lost()) }
    }

    /// Heartbeat. Progress beyond any earlier attempt resets the attempts; without progress the
    /// lease ends in time.
    pub fn renew(&mut self, now: Time, progress: &Progress) -> Result<(), Problem> {
        let number = |steps: u64| i64::try_from(steps).unwrap_or(i64::MAX);
        let (step, steps) = (number(progress.step), number(progress.steps));
        if step > self.step {
            (self.step, self.moved) = (step, now);
            // Tolerance of 1%: attempts that fail at the same step may report it slightly
            // differently.
            if step > self.furthest.saturating_add(steps / 100) {
                (self.furthest, self.attempts) = (step, 1);
            }
        } else if now.0 > self.moved.0 + MAX_STALL_MS {
            return Err(Problem::new(Code::LeaseLost, "the training has not got on for too long"));
        }
        self.progress = serde_json::to_string(progress).ok();
        self.extend(now);
        Ok(())
    }

    /// Records an uploaded file by its hash.
    pub fn upload(&mut self, now: Time, file: Uploaded, hash: String) {
        match file {
            Uploaded::Net => self.candidate = Some(hash),
            Uploaded::Curves => self.curves = Some(hash),
        }
        self.extend(now);
    }

    /// Whether it was completed with this net before (idempotent retry: the response was lost).
    #[must_use]
    pub fn was_completed(&self, net: &str) -> bool {
        self.state == State::Done && self.candidate.as_deref() == Some(net)
    }

    /// Completes it with the net that was uploaded.
    pub fn complete(&mut self, now: Time, net: &str) -> Result<(), Problem> {
        if self.state != State::Leased {
            return Err(lost());
        }
        if self.candidate.as_deref() != Some(net) {
            return Err(Problem::new(Code::Conflict, "the manifest is not that of the net that was uploaded"));
        }
        self.finish(now)
    }

    /// Completes a new one with a net that was trained elsewhere.
    pub fn deliver(&mut self, now: Time, net: String) -> Result<(), Problem> {
        self.candidate = Some(net);
        self.finish(now)
    }

    fn finish(&mut self, now: Time) -> Result<(), Problem> {
        if self.candidate == self.champion {
            return Err(Problem::new(Code::Conflict, "the net is the champion itself"));
        }
        (self.state, self.finished) = (State::Done, Some(now));
        Ok(())
    }

    /// Gives it back, for good unless `again`. Then the trainer's machine failed: the attempt does
    /// not count, and this trainer waits.
    pub fn abandon(&mut self, now: Time, reason: Reason, again: bool) {
        if again {
            self.attempts -= 1;
            self.expires = Some(now.after(LOCAL_FAILURE_PAUSE_MS));
        }
        self.state = if again { State::Open } else { State::Failed };
        (self.token, self.reason) = (None, Some(reason));
    }
}

#[cfg(test)]
mod tests {
    use dataset::random::{Stream, Use};

    use super::*;
    use crate::model::{CampaignId, TrainingId};

    const ANN: AccountId = AccountId(1);

    fn training() -> Training {
        Training {
            id: TrainingId(1),
            campaign: CampaignId(1),
            generation: 1,
            state: State::Open,
            recipe: String::new(),
            manifests: "[]".to_owned(),
            champion: Some("champion".to_owned()),
            token: None,
            account: None,
            trainer: None,
            expires: None,
            attempts: 0,
            progress: None,
            candidate: None,
            curves: None,
            reason: None,
            furthest: 0,
            step: 0,
            moved: Time(0),
            finished: None,
        }
    }

    fn progress(step: u64) -> Progress {
        Progress { step, steps: 1_000, loss: None, validation_loss: None, positions_per_second: None }
    }

    /// Random events in random order.
    #[test]
    fn a_training_takes_only_its_transitions() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..300 {
            let mut random = Stream::new(Use::GameSeed, seed, 0);
            let (mut training, mut now) = (training(), Time(0));
            for _ in 0..80 {
                now = now.after(random.below(1_000) as i64 * SECOND);
                let before = training.clone();
                match random.below(6) {
                    1 if training.state == State::Open && random.below(9) == 0 => {
                        training.deliver(now, "net".to_owned()).unwrap();
                    }
                    0 | 1 if training.is_claimable(now, ANN, "a") => training.claim(now, ANN, "a", "hash".to_owned()),
                    2 => assert_eq!(training.expire(now), before.state == State::Leased && before.expires < Some(now)),
                    3 if training.state == State::Leased => {
                        training.renew(now, &progress(random.below(1_000))).ok();
                    }
                    4 if training.state == State::Leased => training.abandon(now, "x".into(), random.below(30) > 0),
                    5 if training.state == State::Leased && random.below(9) == 0 => {
                        training.upload(now, Uploaded::Net, "net".to_owned());
                        training.complete(now, "net").unwrap();
                    }
                    _ => {}
                }
                let step = (before.state, training.state);
                let known = TRANSITIONS.iter().any(|known| (known.0, known.2) == step);
                assert!(before.state == training.state || known, "{step:?}");
                seen.insert(step);
                assert!(training.attempts <= MAX_ATTEMPTS);
                assert!(training.state != State::Open || training.token.is_none(), "a token ends with its lease");
                let is_over = matches!(before.state, State::Done | State::Failed);
                assert!(!is_over || training == before, "an ended training stays as it is");
            }
        }
        let expected = [
            (State::Open, State::Leased),
            (State::Open, State::Done),
            (State::Leased, State::Open),
            (State::Leased, State::Done),
            (State::Leased, State::Failed),
        ];
        assert!(expected.iter().all(|step| seen.contains(step)), "{seen:?}");
    }

    #[test]
    fn attempts_without_progress_fail_it() {
        let (mut training, mut now) = (training(), Time(0));
        for attempt in 1..=MAX_ATTEMPTS {
            assert!(training.is_claimable(now, ANN, "a"));
            training.claim(now, ANN, "a", "hash".to_owned());
            training.renew(now, &progress(50)).unwrap();
            assert_eq!(training.attempts, attempt, "the same step is no progress");
            now = now.after(i64::from(LEASE_SECONDS) * SECOND);
            assert!(!training.expire(now), "its time is not over yet");
            now = now.after(1);
            assert!(training.expire(now));
        }
        assert_eq!((training.state, training.reason), (State::Failed, Some(Reason::NoTrainer)));
    }

    #[test]
    fn a_broken_machine_neither_fails_it_nor_blocks_others() {
        let (mut training, mut now) = (training(), Time(0));
        for _ in 0..3 * MAX_ATTEMPTS {
            training.claim(now, ANN, "a", "hash".to_owned());
            training.abandon(now, "too many open files".into(), true);
            assert_eq!((training.state, training.attempts), (State::Open, 0));
            assert!(!training.is_claimable(now.after(LOCAL_FAILURE_PAUSE_MS - 1), ANN, "a"));
            assert!(training.is_claimable(now, ANN, "b") && training.is_claimable(now, AccountId(2), "a"));
            now = now.after(LOCAL_FAILURE_PAUSE_MS);
            assert!(training.is_claimable(now, ANN, "a"));
        }
    }

    #[test]
    fn progress_beyond_the_furthest_resets_the_attempts() {
        let mut training = training();
        for _ in 0..3 {
            training.claim(Time(0), ANN, "a", "hash".to_owned());
        }
        training.renew(Time(1), &progress(10)).unwrap();
        assert_eq!((training.attempts, training.furthest), (3, 0), "within the tolerance");
        training.renew(Time(2), &progress(11)).unwrap();
        assert_eq!((training.attempts, training.furthest), (1, 11));
    }

    #[test]
    fn a_lease_without_progress_ends() {
        let mut training = training();
        training.claim(Time(0), ANN, "a", "hash".to_owned());
        training.renew(Time(MAX_STALL_MS), &progress(0)).unwrap();
        assert_eq!(training.renew(Time(MAX_STALL_MS + 1), &progress(0)).unwrap_err().code, Code::LeaseLost);
        training.renew(Time(MAX_STALL_MS + 1), &progress(1)).unwrap();
    }

    #[test]
    fn a_training_is_completed_once_by_its_own_net() {
        let mut training = training();
        assert_eq!(training.complete(Time(1), "net").unwrap_err().code, Code::LeaseLost);
        training.claim(Time(0), ANN, "a", "hash".to_owned());
        assert_eq!(training.complete(Time(1), "net").unwrap_err().code, Code::Conflict);
        training.upload(Time(1), Uploaded::Net, "champion".to_owned());
        assert_eq!(training.complete(Time(1), "champion").unwrap_err().code, Code::Conflict);
        training.upload(Time(1), Uploaded::Net, "net".to_owned());
        assert!(training.complete(Time(1), "net").is_ok() && training.was_completed("net"));
        assert!(!training.was_completed("other"));
        assert_eq!(training.owned_by(AccountId(2)).unwrap_err().code, Code::NotOwner);
    }
}
