//! Limits of sign-in attempts.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use coordinator_core::clock::{SECOND, Time};

/// Failed and pending sign-in attempts: by account and address, by address, by account.
///
/// An account is locked only for the guessing address, not for its owner elsewhere. Guessing from
/// very many addresses locks it for all.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<String, (u32, Time)>>);

impl Attempts {
    /// Failures with one account from one address within [`Self::WINDOW_MS`].
    const MAX_PER_PAIR: u32 = 10;
    /// Failures with all accounts from one address.
    const MAX_PER_ADDRESS: u32 = 50;
    /// Failures with one account from all addresses.
    const MAX_PER_ACCOUNT: u32 = 1_000;
    const WINDOW_MS: i64 = 15 * 60 * SECOND;
    const MAX_ENTRIES: usize = 20_000;

    /// Counts an attempt before it is made, so that parallel attempts count too. Returns the
    /// minutes to wait at the limit.
    pub(crate) fn take(&self, name: &str, address: &str, now: Time) -> Result<(), i64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() > Self::MAX_ENTRIES {
            all.retain(|_, (_, since)| now.0 - since.0 < Self::WINDOW_MS);
            if all.len() > 5 * Self::MAX_ENTRIES {
                all.clear();
            }
        }
        let keys = Self::keys(name, address);
        for (key, max) in &keys {
            let (count, since) = all.get(key).copied().unwrap_or((0, now));
            let left = since.0 + Self::WINDOW_MS - now.0;
            if count >= *max && left > 0 {
                return Err((left / (60 * SECOND)).max(1));
            }
        }
        for (key, _) in keys {
            let entry = all.entry(key).or_insert((0, now));
            if now.0 - entry.1.0 >= Self::WINDOW_MS {
                *entry = (0, now);
            }
            entry.0 += 1;
        }
        Ok(())
    }

    /// The counters of an attempt, with their limits.
    fn keys(name: &str, address: &str) -> [(String, u32); 3] {
        let name = name.to_lowercase();
        [
            (format!("{address} as {name}"), Self::MAX_PER_PAIR),
            (format!("from {address}"), Self::MAX_PER_ADDRESS),
            (format!("as {name}"), Self::MAX_PER_ACCOUNT),
        ]
    }

    /// Takes a successful attempt back: clears the pair's counter, and decrements the others.
    pub(crate) fn succeed(&self, name: &str, address: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [(own, _), others @ ..] = Self::keys(name, address);
        all.remove(&own);
        for (key, _) in others {
            if let Some((count, _)) = all.get_mut(&key) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_attempts_must_wait() {
        let attempts = Attempts::default();
        let now = Time(1_000_000_000);
        for _ in 0..Attempts::MAX_PER_PAIR {
            assert_eq!(attempts.take("Ann", "1.2.3.4", now), Ok(()));
        }
        assert_eq!(attempts.take("ann", "1.2.3.4", now), Err(15));
        assert_eq!(attempts.take("ann", "5.6.7.8", now), Ok(()), "the owner's address is not locked");
        assert_eq!(attempts.take("bob", "1.2.3.4", now), Ok(()));
        for number in 0..39 {
            assert_eq!(attempts.take(&format!("n{number}"), "1.2.3.4", now), Ok(()));
        }
        assert!(attempts.take("carl", "1.2.3.4", now).is_err(), "and the address to all accounts");
        assert_eq!(attempts.take("ann", "1.2.3.4", now.after(Attempts::WINDOW_MS)), Ok(()));
    }

    #[test]
    fn an_account_is_not_guessed_at_from_everywhere() {
        let attempts = Attempts::default();
        let now = Time(1_000_000_000);
        let tried = (0..2_000).filter(|number| attempts.take("ann", &format!("address {number}"), now).is_ok());
        assert_eq!(tried.count(), 1_000);
    }

    #[test]
    fn successful_attempts_never_wait() {
        let attempts = Attempts::default();
        let now = Time(1_000_000_000);
        for number in 0..200 {
            let name = format!("n{number}");
            assert_eq!(attempts.take(&name, "1.2.3.4", now), Ok(()), "{name}");
            attempts.succeed(&name, "1.2.3.4");
        }
        for number in 0..Attempts::MAX_PER_ADDRESS {
            assert_eq!(attempts.take(&format!("n{number}"), "1.2.3.4", now), Ok(()));
        }
        assert!(attempts.take("n200", "1.2.3.4", now).is_err(), "failures count as before");
    }
}
