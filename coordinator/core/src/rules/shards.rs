//! The states of a shard, and what an upload must fulfil.

use std::ops::Range;

use protocol::api::problem::{Code, Problem};

use crate::{
    clock::Time,
    model::{EarlierUpload, Job, Lease, LeaseKind, LeaseState, Refusal, ShardState, uncovered},
};

/// An upload that overlaps so many earlier ones of its lease has at least a half of new games.
const MAX_OVERLAPS: usize = 3;

/// Rejected uploads after which a lease takes none. A first one may have broken in transfer.
const MAX_REJECTED: usize = 3;

impl ShardState {
    /// All changes.
    pub const TRANSITIONS: &'static [(Self, Self)] = &[
        (Self::Received, Self::Validated),
        (Self::Received, Self::Rejected),
        (Self::Received, Self::Quarantined),
        (Self::Validated, Self::Disputed),
        (Self::Validated, Self::Quarantined),
        (Self::Disputed, Self::Validated),
        (Self::Disputed, Self::Quarantined),
        (Self::Quarantined, Self::Received),
        (Self::Quarantined, Self::Validated),
        (Self::Quarantined, Self::Disputed),
        (Self::Quarantined, Self::Rejected),
    ];

    /// Whether it may have games that count, now or later.
    #[must_use]
    pub const fn is_in_pool(self) -> bool {
        matches!(self, Self::Received | Self::Validated | Self::Disputed)
    }
}

impl Lease {
    /// Checks that an upload of these games is the lease's. A partial upload is allowed: any whole
    /// number of units.
    pub fn check_upload(&self, job: &Job, games: &Range<i64>, is_trusted: bool) -> Result<(), Problem> {
        let own = self.numbers();
        if games.is_empty() || games.start < own.start || games.end > own.end {
            return Err(Problem::new(Code::WrongGames, "the games are not the lease's"));
        }
        if (games.start - own.start) % job.unit() != 0 || (games.end - games.start) % job.unit() != 0 {
            return Err(Problem::new(Code::WrongGames, "games that belong together were taken apart"));
        }
        if job.is_timed() && !is_trusted {
            let detail = "games under a clock are taken from trusted workers alone, and this one is trusted no more";
            return Err(Problem::new(Code::Forbidden, detail));
        }
        Ok(())
    }

    /// Checks an upload beside the earlier ones of its lease: some of its games must be new. A
    /// worker that crashes may repeat games. If it overlaps several of them, at least a half must
    /// be new. Otherwise many uploads would be compared and audited for one new game each.
    pub fn check_repeat(games: &Range<i64>, earlier: &[EarlierUpload]) -> Result<(), Refusal> {
        let is_rejected = |upload: &&EarlierUpload| upload.state == ShardState::Rejected;
        let rejected = earlier.iter().filter(is_rejected).count();
        if rejected >= MAX_REJECTED {
            return Err(Refusal::LeaseRejected { uploads: rejected });
        }
        let received = earlier.iter().filter(|upload| !is_rejected(upload)).map(|upload| upload.numbers.clone());
        let new = uncovered(games, received.clone());
        let overlaps = received.filter(|other| other.start < games.end && games.start < other.end).count();
        if new == 0 || (overlaps >= MAX_OVERLAPS && 2 * new < games.end - games.start) {
            return Err(Refusal::GamesReceived { first: games.start, last: games.end - 1 });
        }
        Ok(())
    }

    /// Records the progress that an upload proves; false if it proves none. It is better evidence
    /// than a heartbeat.
    pub fn record_upload(&mut self, now: Time, end: i64) -> bool {
        let finished = end - self.first;
        if finished <= self.finished {
            return false;
        }
        (self.finished, self.expires, self.delivered) = (finished, now.after(self.duration), now);
        true
    }

    /// Whether an upload up to this game ends the lease.
    #[must_use]
    pub fn is_done_after_upload(&self, end: i64, any_undelivered: bool) -> bool {
        self.state == LeaseState::Active
            && match self.kind {
                LeaseKind::Fresh => !any_undelivered,
                LeaseKind::Audit | LeaseKind::Settle => end == self.numbers().end,
            }
    }
}

#[cfg(test)]
mod tests {
    use dataset::{Clock, Digest, Header, Time as Thinking};

    use super::*;
    use crate::rules::fixtures::{a_match, header, job, lease};

    fn refused(job: &Job, games: Range<i64>, is_trusted: bool) -> Option<Code> {
        lease().check_upload(job, &games, is_trusted).err().map(|problem| problem.code)
    }

    #[test]
    fn an_upload_has_games_of_its_lease_alone() {
        let selfplay = job(header());
        for games in [10..18, 10..11, 13..18] {
            assert_eq!(refused(&selfplay, games, false), None);
        }
        for games in [9..18, 10..19, 12..12, 0..8, 18..20] {
            assert_eq!(refused(&selfplay, games.clone(), false), Some(Code::WrongGames), "{games:?}");
        }
        assert_eq!(refused(&a_match(), 12..16, false), None);
        for games in [11..17, 10..13] {
            assert_eq!(refused(&a_match(), games, false), Some(Code::WrongGames), "pairs stay together");
        }
    }

    #[test]
    fn each_game_of_a_lease_is_taken_once() {
        let upload = |numbers, state| EarlierUpload { hash: Digest::of(b"any"), numbers, state };
        let received = |numbers| upload(numbers, ShardState::Received);
        let check = |games, earlier: &[EarlierUpload]| Lease::check_repeat(&games, earlier).err();
        let again = |first, last| Some(Refusal::GamesReceived { first, last });
        assert_eq!(check(10..18, &[]), None);
        assert_eq!(check(10..18, &[received(10..18)]), again(10, 17));
        assert_eq!(check(12..14, &[received(10..18)]), again(12, 13));
        assert_eq!(check(10..18, &[received(14..18), upload(10..14, ShardState::Quarantined)]), again(10, 17));
        assert_eq!(check(10..18, &[received(10..14)]), None, "four games are new");
        assert_eq!(check(10..18, &[received(10..13), received(14..18)]), None, "one game is new");
        assert_eq!(check(10..18, &[received(11..18)]), None);
        let three = |third| [received(10..11), received(11..12), received(third)];
        assert_eq!(check(10..18, &three(12..15)), again(10, 17), "three games are new");
        assert_eq!(check(10..18, &three(12..14)), None, "four games are new");
        assert_eq!(check(10..18, &three(0..10)), None, "it overlaps two");
    }

    #[test]
    fn a_broken_transfer_is_repeated_and_rubbish_is_not() {
        let rejected = EarlierUpload { hash: Digest::of(b"any"), numbers: 10..18, state: ShardState::Rejected };
        for uploads in 0..5 {
            let refused = Lease::check_repeat(&(10..18), &vec![rejected.clone(); uploads]).err();
            assert_eq!(refused, (uploads > 2).then_some(Refusal::LeaseRejected { uploads }));
        }
    }

    #[test]
    fn games_under_a_clock_need_trust() {
        let clock = Some(Clock { time: Thinking::Move { milliseconds: 10 }, grace_milliseconds: 0 });
        let timed = job(Header { clock, ..header() });
        assert_eq!((refused(&timed, 10..18, true), refused(&timed, 10..18, false)), (None, Some(Code::Forbidden)));
    }

    #[test]
    fn an_upload_renews_its_lease_and_the_last_one_ends_it() {
        let mut lease = lease();
        assert!(lease.record_upload(Time(1_050), 14));
        assert_eq!((lease.finished, lease.delivered, lease.expires), (4, Time(1_050), Time(1_150)));
        assert!(!lease.record_upload(Time(1_060), 14), "it proves no progress");
        assert_eq!(lease.expires, Time(1_150));
        assert!(lease.is_done_after_upload(14, false) && !lease.is_done_after_upload(18, true));
        let audit = Lease { kind: LeaseKind::Audit, ..lease.clone() };
        assert!(audit.is_done_after_upload(18, true) && !audit.is_done_after_upload(14, false));
        let over = Lease { state: LeaseState::Expired, ..lease };
        assert!(!over.is_done_after_upload(18, false));
    }
}
