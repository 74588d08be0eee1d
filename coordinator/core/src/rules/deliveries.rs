//! Retries of deliveries to webhooks.

use crate::{
    clock::{HOUR, SECOND},
    model::DeliveryId,
};

/// Pause after the first failure; doubled after each further one.
const FIRST_PAUSE_MS: i64 = 15 * SECOND;

/// Maximum pause.
const MAX_PAUSE_MS: i64 = 6 * HOUR;

/// Maximum attempts before a delivery is given up: about three days.
pub const MAX_ATTEMPTS: i64 = 22;

/// Exponential backoff: the pause after this many failures, in milliseconds, with up to 25% jitter
/// by delivery.
#[must_use]
pub fn pause(attempts: i64, delivery: DeliveryId) -> i64 {
    let whole = (FIRST_PAUSE_MS << (attempts - 1).clamp(0, 12)).min(MAX_PAUSE_MS);
    whole - whole / 4 * (delivery.0.wrapping_mul(7_919).rem_euclid(100)) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_hours_and_a_delivery_is_tried_for_days() {
        let pauses: Vec<i64> = (1..MAX_ATTEMPTS).map(|attempts| pause(attempts, DeliveryId(3))).collect();
        assert!(pauses.is_sorted() && pauses[0] >= 10 * SECOND, "{pauses:?}");
        assert!(*pauses.last().unwrap() <= MAX_PAUSE_MS);
        assert!((36..96).contains(&(pauses.iter().sum::<i64>() / HOUR)), "{pauses:?}");
    }
}
