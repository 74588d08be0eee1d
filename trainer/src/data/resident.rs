//! Sets that a device keeps whole, and the order in which their positions are drawn.
//!
//! Each round of a set draws every position once. The order is a keyed permutation: it takes no
//! memory, and a run resumes from the number of positions drawn so far.

use dataset::random::{Stream, Use};

/// The order of all sets.
#[derive(Clone, Debug)]
pub struct Order {
    sets: Vec<Set>,
    /// The sets of consecutive draws, again and again: for each its number, and how often it was
    /// drawn before.
    pattern: Vec<(usize, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    /// The number of its first position among those of all sets.
    first: u64,
    count: u64,
    weight: u64,
    /// The key of its rounds.
    key: u64,
}

/// Longest pattern; larger weights are taken to a common scale.
const MAX_PATTERN: u64 = 1 << 16;

impl Order {
    /// The order of sets with these numbers of positions and weights, of which none is zero.
    pub(super) fn new(seed: u64, sets: &[(u64, u32)]) -> Self {
        let total: u64 = sets.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let scale = total.div_ceil(MAX_PATTERN).max(1);
        let mut first = 0;
        let sets = (0..).zip(sets).map(|(number, (count, weight))| {
            first += count;
            let key = Stream::new(Use::TrainingPlaces, seed, number).bits();
            Set { first: first - count, count: *count, weight: (u64::from(*weight) / scale).max(1), key }
        });
        let sets: Vec<Set> = sets.collect();
        let mut drawn = vec![0; sets.len()];
        // The set furthest behind its weight is next, compared without division.
        let pattern = (0..sets.iter().map(|set| set.weight).sum()).map(|_| {
            let behind = |one: &usize, other: &usize| {
                (drawn[*one] * sets[*other].weight).cmp(&(drawn[*other] * sets[*one].weight))
            };
            let next = (0..sets.len()).min_by(behind).unwrap_or_default();
            drawn[next] += 1;
            (next, drawn[next] - 1)
        });
        Self { pattern: pattern.collect(), sets }
    }

    /// The number of the position that is drawn after so many others.
    #[must_use]
    pub fn number(&self, draw: u64) -> u64 {
        let period = self.pattern.len() as u64;
        let (chosen, before) = self.pattern[(draw % period) as usize];
        let Set { first, count, weight, key } = self.sets[chosen];
        let draw = draw / period * weight + before;
        first + permuted(draw % count, count, mixed(key.wrapping_add(draw / count)))
    }
}

/// A permutation of the numbers below `count`: a Feistel network over the next power of four, until
/// the number is below.
fn permuted(number: u64, count: u64, key: u64) -> u64 {
    let half = (u64::BITS - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut number = number;
    loop {
        let (mut left, mut right) = (number >> half, number & mask);
        for round in 0..6 {
            (left, right) = (right, left ^ (mixed(right ^ key.rotate_left(11 * round)) & mask));
        }
        number = left << half | right;
        if number < count {
            return number;
        }
    }
}

/// The finalizer of `SplitMix64`.
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_of_a_set_draws_all_positions_in_another_order() {
        for count in [1, 2, 3, 5, 64, 1_000, 1_025] {
            let order = Order::new(7, &[(count, 3)]);
            let rounds: Vec<Vec<u64>> =
                (0..3).map(|round| (0..count).map(|number| order.number(round * count + number)).collect()).collect();
            for round in &rounds {
                let mut sorted = round.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..count), "{count}");
            }
            assert!(count < 64 || rounds[0] != rounds[1] && rounds[1] != rounds[2]);
        }
    }

    /// Neighbours in the order are no neighbours in the set, and the halves of a round are mixed.
    #[test]
    fn the_order_is_random() {
        let count = 100_000;
        let order = Order::new(1, &[(count, 1)]);
        let numbers: Vec<u64> = (0..count).map(|number| order.number(number)).collect();
        let near = numbers.array_windows::<2>().filter(|[one, other]| one.abs_diff(*other) < 100).count();
        // Of 100,000 pairs a share of 200 / 100,000.
        assert!((120..290).contains(&near), "{near}");
        let low = numbers[..50_000].iter().filter(|number| **number < 50_000).count();
        assert!((24_400..25_600).contains(&low), "{low}");
    }

    #[test]
    fn sets_are_drawn_by_their_weights() {
        let order = Order::new(3, &[(10, 1), (1_000, 3)]);
        let numbers: Vec<u64> = (0..400).map(|number| order.number(number)).collect();
        assert_eq!(numbers.iter().filter(|number| **number < 10).count(), 100);
        let mut larger: Vec<_> = numbers.into_iter().filter(|number| *number >= 10).collect();
        larger.sort_unstable();
        larger.dedup();
        assert_eq!(larger.len(), 300, "none comes twice in a round");
        let huge = Order::new(3, &[(10, u32::MAX), (10, u32::MAX / 2)]);
        assert!(huge.pattern.len() as u64 <= MAX_PATTERN);
        let first = (0..huge.pattern.len() as u64).filter(|number| huge.number(*number) < 10).count();
        assert!(first.abs_diff(huge.pattern.len() * 2 / 3) < 10);
    }
}
