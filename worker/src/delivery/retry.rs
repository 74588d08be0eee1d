//! Retries: which failures are repeated, and when.

use std::time::Duration;

use client::{Backoff, Error, JitterRng};
use protocol::api::problem::Code;

/// Bytes may be damaged in transit, so such rejections are retried; this bounds the attempts.
const MAX_ATTEMPTS: u32 = 5;
/// Attempts of a submission that is forbidden, an hour apart: the owner or the server's maintainers
/// may mend that within a day.
const MAX_FORBIDDEN_ATTEMPTS: u32 = 24;

/// Decision after a failed submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryDecision {
    /// Retry with backoff.
    Retry,
    /// Retry after people had time to act.
    NeedsOperator,
    /// Permanent: the result is moved to `refused`.
    Reject,
}

/// Decides on an error. `attempts` counts the rejections whose number is bounded.
pub(super) fn retry_decision(error: &Error, attempts: &mut u32) -> RetryDecision {
    let Error::Rejected { problem, .. } = error else {
        // A proxy's response or none at all.
        return RetryDecision::Retry;
    };
    let decision = |attempts| classify(problem.code, problem.status, attempts);
    let made = decision(*attempts);
    *attempts += u32::from(made != decision(MAX_FORBIDDEN_ATTEMPTS));
    made
}

fn classify(code: Code, status: u16, attempts: u32) -> RetryDecision {
    let maybe_damaged = match code {
        Code::BadToken | Code::NoToken | Code::Blocked | Code::TooOld => return RetryDecision::NeedsOperator,
        Code::Forbidden if attempts + 1 < MAX_FORBIDDEN_ATTEMPTS => return RetryDecision::NeedsOperator,
        _ if matches!(status, 408 | 429 | 500..) => return RetryDecision::Retry,
        Code::BadRequest
        | Code::BadHash
        | Code::Truncated
        | Code::Corrupt
        | Code::NotAShard
        | Code::MethodNotAllowed
        | Code::WrongType
        | Code::BadRange
        | Code::Unknown => true,
        _ => false,
    };
    if maybe_damaged && attempts + 1 < MAX_ATTEMPTS { RetryDecision::Retry } else { RetryDecision::Reject }
}

/// A duty with its own backoff: a failure of one does not delay another.
pub(crate) struct Duty {
    backoff: Backoff,
    /// Time of the next attempt after a failure.
    next_attempt: Option<Duration>,
}

impl Duty {
    /// A duty without failures: backoff from two seconds to a maximum.
    pub(crate) fn new(max: Duration, rng: JitterRng) -> Self {
        Self { backoff: Backoff::new(Duration::from_secs(2), max, rng), next_attempt: None }
    }

    /// Records a success.
    pub(crate) fn succeed(&mut self) {
        self.next_attempt = None;
        self.backoff.reset();
    }

    /// Records a failure, with the delay that the server requested.
    pub(crate) fn fail(&mut self, now: Duration, requested: Option<Duration>) {
        self.next_attempt = Some(now + self.backoff.after_failure(requested));
    }

    /// Returns whether an attempt is due.
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        self.delay(now).is_none_or(|delay| delay.is_zero())
    }

    /// Returns the delay until the next attempt; none without a failure.
    pub(crate) fn delay(&self, now: Duration) -> Option<Duration> {
        self.next_attempt.map(|at| at.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use protocol::api::problem::Problem;

    use super::*;

    /// Every problem code has its decision, and no retry is endless.
    #[test]
    fn every_rejection_ends_or_reaches_the_operator() {
        let operator = ["no_token", "bad_token", "blocked", "too_old"];
        let retried = ["timeout", "too_many", "quota", "internal", "busy", "stopping", "disk_full"];
        let in_transit = [
            "bad_request",
            "bad_hash",
            "truncated",
            "corrupt",
            "not_a_shard",
            "method_not_allowed",
            "wrong_type",
            "bad_range",
        ];
        for &code in Code::ALL {
            let expected = match code.name() {
                name if operator.contains(&name) => [RetryDecision::NeedsOperator; 2],
                "forbidden" => [RetryDecision::NeedsOperator, RetryDecision::Reject],
                name if retried.contains(&name) => [RetryDecision::Retry; 2],
                name if in_transit.contains(&name) => [RetryDecision::Retry, RetryDecision::Reject],
                _ => [RetryDecision::Reject; 2],
            };
            let problem = Problem::new(code, "");
            assert_eq!(
                [0, MAX_FORBIDDEN_ATTEMPTS - 1].map(|attempts| classify(code, problem.status, attempts)),
                expected,
                "{code}"
            );
        }
    }

    #[test]
    fn the_attempts_of_a_rejection_are_counted_to_its_own_bound() {
        for (code, max) in [(Code::Corrupt, MAX_ATTEMPTS), (Code::Forbidden, MAX_FORBIDDEN_ATTEMPTS)] {
            let classify = |attempts| classify(code, code.status(), attempts) == RetryDecision::Reject;
            assert_eq!((0..100).find(|attempts| classify(*attempts)), Some(max - 1), "{code}");
        }
    }
}
