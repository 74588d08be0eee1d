//! Life of a lease after it is granted: renewal (heartbeat), release, expiry.

use protocol::api::problem::{Code, Problem};

use crate::{
    clock::{SECOND, Time},
    model::{AccountId, Fault, Lease, LeaseKind, LeaseState},
};

use super::sizing::{LEASE_SECONDS, LEASE_TIMEOUT_FACTOR, MIN_LEASE_MS};

/// Maximum expected time of a lease, since the speed is only claimed.
const MAX_EXPECTED_MS: i64 = 2 * LEASE_SECONDS as i64 * SECOND;

/// Renewals without an upload extend a lease by at most this many times its duration.
const MAX_RENEWAL_FACTOR: i64 = 2;

/// Minimum age of a late lease.
pub const MIN_QUIET_MS: i64 = MIN_LEASE_MS / LEASE_TIMEOUT_FACTOR;

/// Minimum time that an active lease lasts after a restart: the longest pause between two attempts
/// of a worker.
pub const RESTART_MS: i64 = MIN_LEASE_MS;

/// So much of a lease must be delivered, or follow, if the rest is given back at no price: a tenth.
const KEPT_SHARE: i64 = 10;

/// Intended heartbeats per second of a whole fleet: each is a transaction that writes.
const HEARTBEATS_PER_SECOND: i64 = 60;

/// Returns the interval of a worker's heartbeats in a fleet of so many. The maximum, ten minutes,
/// is two thirds of the shortest lease.
#[must_use]
pub fn heartbeat_seconds(fleet: i64) -> u32 {
    (fleet / HEARTBEATS_PER_SECOND).clamp(30, 600) as u32
}

impl LeaseState {
    /// All changes.
    pub const TRANSITIONS: &'static [(Self, Self)] =
        &[(Self::Active, Self::Done), (Self::Active, Self::Returned), (Self::Active, Self::Expired)];
}

impl Lease {
    /// The lease, if it is this account's.
    pub fn owned_by(self, account: AccountId) -> Result<Self, Problem> {
        if self.account == account {
            Ok(self)
        } else {
            Err(Problem::new(Code::NotOwner, "the lease belongs to another account"))
        }
    }

    /// Renews a lease whose worker makes progress.
    pub fn renew(&mut self, now: Time, finished: u64) -> Result<(), Problem> {
        if self.state != LeaseState::Active {
            return Err(Problem::new(Code::LeaseLost, format!("the lease is {}", self.state)));
        }
        let finished = i64::try_from(finished).unwrap_or(i64::MAX);
        if finished > self.games {
            let detail = format!("the lease has {} games; {finished} cannot be finished", self.games);
            return Err(Problem::new(Code::Invalid, detail));
        }
        if finished <= self.finished {
            return Err(Problem::new(Code::NoProgress, "no game was finished since the last renewal"));
        }
        // Progress is only claimed: unlimited renewals would withhold the games from all other
        // workers.
        let last = self.created.max(self.delivered).after((1 + MAX_RENEWAL_FACTOR) * self.duration);
        let end = now.after(self.duration).min(last);
        if end <= now {
            return Err(Problem::new(Code::LeaseLost, "the lease has lasted long enough: submit the finished games"));
        }
        (self.finished, self.expires) = (finished, end);
        Ok(())
    }

    /// Checks that the games from this number can be released; `unit` games belong together.
    pub fn released_from(&self, from: u64, unit: i64) -> Result<i64, Problem> {
        let end = self.first + self.games;
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        if !(self.first..=end).contains(&from) || (from - self.first) % unit != 0 {
            return Err(Problem::new(Code::WrongGames, format!("game {from} is no border of the lease's games")));
        }
        Ok(from)
    }

    /// Pays for missing games; returns how many of them were not paid for before.
    pub const fn charge(&mut self, missing: i64) -> i64 {
        let new = missing - self.charged;
        if new <= 0 {
            return 0;
        }
        self.charged = missing;
        new
    }

    /// The fault of the release of so many games in all; none if it is as it should be.
    #[must_use]
    pub fn fault_of_release(&self, released: i64) -> Option<Fault> {
        (released > 0 && (self.games - released) * KEPT_SHARE < self.games).then_some(Fault::Dropped)
    }

    /// Whether another account may play its games too: it is past its expected time. Its own
    /// account would hand them on to itself for ever.
    #[must_use]
    pub fn is_late(&self, now: Time, account: AccountId) -> bool {
        // A game now and then does not make up for the others.
        self.state == LeaseState::Active
            && self.kind == LeaseKind::Fresh
            && self.account != account
            && now > self.created.after((self.duration / LEASE_TIMEOUT_FACTOR).min(MAX_EXPECTED_MS))
    }

    /// Whether its time is over.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.state == LeaseState::Active && self.expires < now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::HOUR, rules::fixtures::lease};

    fn refused(renewed: Result<(), Problem>) -> Code {
        renewed.unwrap_err().code
    }

    #[test]
    fn progress_extends_a_lease_and_nothing_else_does() {
        let mut lease = lease();
        lease.renew(Time(1_050), 3).unwrap();
        assert_eq!((lease.finished, lease.expires), (3, Time(1_150)));
        assert_eq!(refused(lease.renew(Time(1_060), 3)), Code::NoProgress);
        assert_eq!(refused(lease.renew(Time(1_060), 9)), Code::Invalid);
        assert_eq!((lease.finished, lease.expires), (3, Time(1_150)), "a refusal changes nothing");
        lease.renew(Time(1_060), 8).unwrap();
    }

    #[test]
    fn a_lease_without_an_upload_ends_after_three_durations() {
        let mut lease = lease();
        lease.renew(Time(1_250), 1).unwrap();
        assert_eq!(lease.expires, Time(1_300));
        assert_eq!(refused(lease.renew(Time(1_300), 2)), Code::LeaseLost);
        lease.delivered = Time(1_290);
        lease.renew(Time(1_300), 2).unwrap();
        assert_eq!(lease.expires, Time(1_400));
    }

    #[test]
    fn a_large_fleet_has_rare_heartbeats() {
        assert_eq!([0, 1, 1_800, 20_000, i64::MAX].map(heartbeat_seconds), [30, 30, 30, 333, 600]);
    }

    #[test]
    fn a_lease_that_is_over_stays_so() {
        for state in [LeaseState::Done, LeaseState::Expired, LeaseState::Returned] {
            let mut lease = Lease { state, ..lease() };
            let problem = lease.renew(Time(1_001), 1).unwrap_err();
            assert_eq!(problem.detail, format!("the lease is {state}"));
            assert!(!lease.is_due(Time(9_999)));
        }
        assert!(lease().is_due(Time(1_101)) && !lease().is_due(Time(1_100)));
    }

    #[test]
    fn games_are_released_at_the_borders_of_pairs() {
        let lease = lease();
        assert_eq!(lease.released_from(10, 2), Ok(10));
        assert_eq!(lease.released_from(18, 2), Ok(18));
        for from in [0, 9, 11, 19, u64::MAX] {
            assert_eq!(lease.released_from(from, 2).unwrap_err().code, Code::WrongGames, "{from}");
        }
    }

    #[test]
    fn a_lease_past_its_expected_time_is_late() {
        let lease = Lease { duration: 300, ..lease() };
        let other = AccountId(lease.account.0 + 1);
        assert!(lease.is_late(Time(1_101), other) && !lease.is_late(Time(1_100), other));
        assert!(!lease.is_late(Time(9_999), lease.account), "its account has the games already");
        let delivered = Lease { delivered: Time(1_090), ..lease.clone() };
        assert!(delivered.is_late(Time(1_101), other), "a few games do not make up for the others");
        assert!(!Lease { kind: LeaseKind::Audit, ..lease.clone() }.is_late(Time(9_999), other));
        assert!(!Lease { state: LeaseState::Done, ..lease.clone() }.is_late(Time(9_999), other));
        let slow = Lease { duration: 12 * HOUR, ..lease };
        let late = slow.created.after(10 * 60 * SECOND + 1);
        assert!(slow.is_late(late, other) && !slow.is_late(late.after(-1), other), "ten minutes, whatever is claimed");
    }

    #[test]
    fn games_held_in_vain_and_dropped_audits_are_faults() {
        let lease = lease();
        assert_eq!(lease.fault_of_release(lease.games), Some(Fault::Dropped));
        assert_eq!(lease.fault_of_release(0), None, "nothing is missing");
        let long = Lease { games: 100, ..lease };
        assert_eq!(long.fault_of_release(91), Some(Fault::Dropped), "few games are there");
        assert_eq!(long.fault_of_release(90), None, "a tenth of them is");
    }

    #[test]
    fn each_missing_game_is_paid_for_once() {
        let mut lease = lease();
        assert_eq!([0, 6, 6, 5, 8, 8].map(|missing| lease.charge(missing)), [0, 6, 0, 0, 2, 0]);
    }

    #[test]
    fn a_lease_is_its_accounts() {
        assert!(lease().owned_by(AccountId(4)).is_ok());
        assert_eq!(lease().owned_by(AccountId(3)).unwrap_err().code, Code::NotOwner);
    }
}
