//! When to try again.
//!
//! Decorrelated jitter: each wait is drawn between the least and three times the last one. Many who were refused at the
//! same moment come back at different ones.

use std::time::Duration;

/// Nobody waits longer because a server said so.
const LONGEST_ASKED: Duration = Duration::from_hours(24);

/// Numbers that look random, by `SplitMix64`. What is drawn depends on the seed alone; nothing that counts depends on it.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice that fall as this number says.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A time from one to another, both included.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = most.saturating_sub(least).as_millis() as u64;
        let drawn = u128::from(self.roll()) * (u128::from(span) + 1);
        least + Duration::from_millis((drawn >> 64) as u64)
    }
}

/// How long to wait after each failure in a row.
#[derive(Clone, Debug)]
pub struct Backoff {
    least: Duration,
    most: Duration,
    last: Duration,
    dice: Dice,
}

impl Backoff {
    /// Waits between these.
    #[must_use]
    pub const fn new(least: Duration, most: Duration, dice: Dice) -> Self {
        Self { least, most, last: least, dice }
    }

    /// How long to wait after another failure. Who was asked to wait longer waits longer, and a little more, for others
    /// were asked the same.
    pub fn after_failure(&mut self, asked: Option<Duration>) -> Duration {
        self.last = self.dice.between(self.least, (self.last * 3).min(self.most)).min(self.most);
        match asked.map(|asked| asked.min(LONGEST_ASKED)) {
            Some(asked) if asked >= self.last => self.dice.between(asked, asked + asked / 8),
            _ => self.last,
        }
    }

    /// Something went well: the next failure is the first again.
    pub const fn reset(&mut self) {
        self.last = self.least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_grow_to_their_bound_and_differ() {
        let waits = |seed| {
            let mut backoff = Backoff::new(SECOND, 60 * SECOND, Dice::new(seed));
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
    fn who_is_asked_to_wait_longer_waits_longer() {
        let mut backoff = Backoff::new(SECOND, 60 * SECOND, Dice::new(3));
        for _ in 0..100 {
            let wait = backoff.after_failure(Some(120 * SECOND));
            assert!((120 * SECOND..=135 * SECOND).contains(&wait), "{wait:?}");
            assert!(backoff.after_failure(Some(Duration::ZERO)) >= SECOND);
        }
        assert!(backoff.after_failure(Some(Duration::MAX)) <= LONGEST_ASKED * 9 / 8);
        backoff.reset();
        assert!(backoff.after_failure(None) <= 3 * SECOND);
    }
}
