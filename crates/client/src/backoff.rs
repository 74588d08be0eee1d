//! Retry delays.
//!
//! Exponential backoff with decorrelated jitter: each delay is drawn between the minimum and three
//! times the last one. Clients that failed at the same instant thus retry at different ones.

use std::time::Duration;

/// The bound on a server's `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// The pseudo-random generator of the jitter, `SplitMix64`. Its numbers depend on the seed alone,
/// and no result depends on them.
#[derive(Clone, Debug)]
pub struct JitterRng(u64);

impl JitterRng {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random duration between two bounds, both included.
    pub fn duration_between(&mut self, min: Duration, max: Duration) -> Duration {
        let span = max.saturating_sub(min).as_millis() as u64;
        let drawn = u128::from(self.next_u64()) * (u128::from(span) + 1);
        min + Duration::from_millis((drawn >> 64) as u64)
    }
}

/// The delay after each failure in a row.
#[derive(Clone, Debug)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    last: Duration,
    rng: JitterRng,
}

impl Backoff {
    /// A backoff with delays between these bounds.
    #[must_use]
    pub const fn new(min: Duration, max: Duration, rng: JitterRng) -> Self {
        Self { min, max, last: min, rng }
    }

    /// Returns the delay after another failure. A longer `retry_after` of the server wins; up to an
    /// eighth is added, because other clients were given the same one.
    pub fn after_failure(&mut self, retry_after: Option<Duration>) -> Duration {
        self.last = self.rng.duration_between(self.min, (self.last * 3).min(self.max)).min(self.max);
        match retry_after.map(|retry_after| retry_after.min(MAX_RETRY_AFTER)) {
            Some(min) if min >= self.last => self.rng.duration_between(min, min + min / 8),
            _ => self.last,
        }
    }

    /// Starts again from the minimum, after a success.
    pub const fn reset(&mut self) {
        self.last = self.min;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_grow_to_their_bound_and_differ() {
        let waits = |seed| {
            let mut backoff = Backoff::new(SECOND, 60 * SECOND, JitterRng::new(seed));
            std::iter::repeat_with(|| backoff.after_failure(None)).take(200).collect::<Vec<_>>()
        };
        let (some, others) = (waits(1), waits(2));
        assert_eq!(some, waits(1));
        assert_ne!(some, others);
        assert!(some.iter().all(|wait| (SECOND..=60 * SECOND).contains(wait)), "{some:?}");
        assert!(some[0] <= 3 * SECOND);
        assert!(some.iter().any(|wait| *wait > 40 * SECOND));
    }

    #[test]
    fn a_longer_retry_after_wins() {
        let mut backoff = Backoff::new(SECOND, 60 * SECOND, JitterRng::new(3));
        for _ in 0..100 {
            let wait = backoff.after_failure(Some(120 * SECOND));
            assert!((120 * SECOND..=135 * SECOND).contains(&wait), "{wait:?}");
            assert!(backoff.after_failure(Some(Duration::ZERO)) >= SECOND);
        }
        assert!(backoff.after_failure(Some(Duration::MAX)) <= MAX_RETRY_AFTER * 9 / 8);
        backoff.reset();
        assert!(backoff.after_failure(None) <= 3 * SECOND);
    }
}
