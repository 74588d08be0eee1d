//! Changes of segments. A job's segments cover its games below the frontier, each once.
//!
//! A rule takes the segments that it concerns, and returns edits. They neither lose a game nor
//! assign one twice.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    clock::SECOND,
    model::{Holder, LeaseId, Part, Segment, SegmentEdit, SegmentState, ShardId, common},
};

/// Pairs of a match are contested from this attempt on. The index `segments_contested` has it too.
const CONTESTED_ATTEMPTS: i64 = 3;

/// A contested pair is for another account so long after its last lease began.
pub const CONTESTED_MS: i64 = 10 * SECOND;

impl SegmentState {
    /// All changes of a game's holder.
    pub const TRANSITIONS: &'static [(Self, Self)] = &[
        (Self::Open, Self::Leased),
        (Self::Open, Self::Held),
        (Self::Leased, Self::Leased),
        (Self::Leased, Self::Open),
        (Self::Leased, Self::Held),
        (Self::Held, Self::Held),
        (Self::Held, Self::Open),
    ];
}

/// Gives games of a segment to another holder, and cuts the segment where needed.
fn replace(edits: &mut Vec<SegmentEdit>, segment: &Segment, range: &Range<i64>, holder: Holder, attempts: i64) {
    let change = (segment.holder.state(), holder.state());
    debug_assert!(SegmentState::TRANSITIONS.contains(&change), "{change:?}");
    let changed = common(&segment.numbers, range);
    let before = Segment { numbers: segment.numbers.start..changed.start, ..segment.clone() };
    let after = Segment { numbers: changed.end..segment.numbers.end, ..segment.clone() };
    let changed = Segment { numbers: changed, holder, attempts };
    edits.extend([before, changed, after].into_iter().filter(|part| !part.numbers.is_empty()).map(SegmentEdit::Put));
}

/// Returns the first open games without a gap, up to a maximum, of open segments in order.
#[must_use]
pub fn first_open(open: &[Segment], max_games: i64) -> Option<Range<i64>> {
    let start = open.first()?.numbers.start;
    let end =
        open.iter().fold(start, |end, Segment { numbers, .. }| if numbers.start == end { numbers.end } else { end });
    Some(start..end.min(start + max_games))
}

/// Returns the attempts at open games, with the next one.
#[must_use]
pub fn next_attempt(open: &[Segment], range: &Range<i64>) -> i64 {
    let within = open.iter().filter(|segment| !common(&segment.numbers, range).is_empty());
    1 + within.map(|segment| segment.attempts).max().unwrap_or(0)
}

/// Leases open games as one segment.
#[must_use]
pub fn lease(open: &[Segment], range: &Range<i64>, lease: LeaseId) -> Vec<SegmentEdit> {
    let attempts = next_attempt(open, range);
    let mut edits = Vec::new();
    for segment in open.iter().filter(|segment| !common(&segment.numbers, range).is_empty()) {
        if segment.numbers.start > range.start {
            edits.push(SegmentEdit::Remove { first: segment.numbers.start });
        } else if segment.numbers.start < range.start {
            edits.push(SegmentEdit::Put(Segment { numbers: segment.numbers.start..range.start, ..segment.clone() }));
        }
        if segment.numbers.end > range.end {
            edits.push(SegmentEdit::Put(Segment { numbers: range.end..segment.numbers.end, ..segment.clone() }));
        }
    }
    edits.push(SegmentEdit::Put(Segment { numbers: range.clone(), holder: Holder::Leased(lease), attempts }));
    edits
}

/// The first games of a segment that one account holds, and that another one gets too. Contested
/// pairs are lent one by one: accounts that ask at the same time play different ones.
#[must_use]
pub fn second_part(held: &Segment, unit: i64, max_games: i64) -> Range<i64> {
    let is_contested = unit > 1 && held.attempts >= CONTESTED_ATTEMPTS;
    let games = if is_contested { unit } else { max_games };
    held.numbers.start..held.numbers.end.min(held.numbers.start + games)
}

/// Hands the first games of a late lease's segment to another lease.
#[must_use]
pub fn hand_on(late: &Segment, numbers: &Range<i64>, lease: LeaseId) -> Vec<SegmentEdit> {
    let mut edits = Vec::new();
    replace(&mut edits, late, numbers, Holder::Leased(lease), late.attempts + 1);
    edits
}

/// Reopens the leased segments of a lease from a game on. A voluntary release is not counted as an
/// attempt.
#[must_use]
pub fn release(leased: &[Segment], from: i64, is_voluntary: bool) -> Vec<SegmentEdit> {
    let mut edits = Vec::new();
    for segment in leased.iter().filter(|segment| segment.numbers.end > from) {
        let attempts = segment.attempts - i64::from(is_voluntary);
        replace(&mut edits, segment, &(from..i64::MAX), Holder::Open, attempts);
    }
    edits
}

/// The result of an upload's games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// The shard gets the games that no shard held.
    pub edits: Vec<SegmentEdit>,
    /// The other shards with the games they hold.
    pub others: Vec<Part>,
}

/// Gives a shard the unheld games of a range.
#[must_use]
pub fn hold(segments: &[Segment], range: &Range<i64>, shard: ShardId) -> Holding {
    let mut holding = Holding::default();
    for segment in segments {
        let common = common(&segment.numbers, range);
        match segment.holder {
            _ if common.is_empty() => {}
            Holder::Held(holder) if holder == shard => {}
            Holder::Held(holder) => holding.others.push(Part { shard: holder, numbers: common }),
            Holder::Open | Holder::Leased(_) => {
                replace(&mut holding.edits, segment, range, Holder::Held(shard), segment.attempts);
            }
        }
    }
    holding
}

/// Passes the segments that a shard held to the first of the other shards that has the games. The
/// rest is open, to be played again.
#[must_use]
pub fn pass(held: &[Segment], others: &[Part]) -> Vec<SegmentEdit> {
    let open = held.iter().map(|segment| Segment { holder: Holder::Open, ..segment.clone() });
    let mut strip: BTreeMap<i64, Segment> = open.map(|segment| (segment.numbers.start, segment)).collect();
    for Part { shard, numbers } in others {
        let segments: Vec<Segment> = strip.values().cloned().collect();
        apply(&mut strip, hold(&segments, numbers, *shard).edits);
    }
    strip.into_values().map(SegmentEdit::Put).collect()
}

/// Returns how many games each shard holds more after edits of these segments, or fewer.
#[must_use]
pub fn gains(before: &[Segment], edits: &[SegmentEdit]) -> BTreeMap<ShardId, i64> {
    let mut gains = BTreeMap::new();
    let mut add = |segment: &Segment, sign: i64| {
        if let Holder::Held(shard) = segment.holder {
            *gains.entry(shard).or_default() += sign * (segment.numbers.end - segment.numbers.start);
        }
    };
    for edit in edits {
        let first = match edit {
            SegmentEdit::Put(segment) => {
                add(segment, 1);
                segment.numbers.start
            }
            SegmentEdit::Remove { first } => *first,
        };
        before.iter().filter(|segment| segment.numbers.start == first).for_each(|segment| add(segment, -1));
    }
    gains.retain(|_, gain| *gain != 0);
    gains
}

/// Applies edits to segments in memory.
fn apply(strip: &mut BTreeMap<i64, Segment>, edits: Vec<SegmentEdit>) {
    for edit in edits {
        match edit {
            SegmentEdit::Put(segment) => drop(strip.insert(segment.numbers.start, segment)),
            SegmentEdit::Remove { first } => drop(strip.remove(&first)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A random change.
    #[derive(Clone, Debug)]
    enum Step {
        Lease { max_games: i64 },
        HandOn { lease: usize, max_games: i64 },
        Release { lease: usize, from: i64, is_voluntary: bool },
        Upload { lease: usize, from: i64, to: i64 },
        Withdraw { shard: usize },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1..9_i64).prop_map(|max_games| Step::Lease { max_games }),
            (0..9_usize, 1..9_i64).prop_map(|(lease, max_games)| Step::HandOn { lease, max_games }),
            (0..9_usize, 0..9_i64, any::<bool>()).prop_map(|(lease, from, is_voluntary)| Step::Release {
                lease,
                from,
                is_voluntary
            }),
            (0..9_usize, 0..9_i64, 1..9_i64).prop_map(|(lease, from, to)| Step::Upload { lease, from, to }),
            (0..9_usize).prop_map(|shard| Step::Withdraw { shard }),
        ]
    }

    /// A job's segments beside a naive model: the holder and the attempts of each game.
    #[derive(Default)]
    struct World {
        strip: BTreeMap<i64, Segment>,
        games: Vec<(Holder, i64)>,
        leases: Vec<Range<i64>>,
        /// Numbers of each upload, and whether it is in the pool.
        shards: Vec<(Range<i64>, bool)>,
        /// How many games each shard holds, by the gains.
        held: BTreeMap<ShardId, i64>,
    }

    impl World {
        /// Applies edits that give games to shards.
        fn assign(&mut self, before: &[Segment], edits: Vec<SegmentEdit>) {
            for (shard, gain) in gains(before, &edits) {
                *self.held.entry(shard).or_default() += gain;
            }
            apply(&mut self.strip, edits);
        }

        fn segments(&self, which: impl Fn(&Segment) -> bool) -> Vec<Segment> {
            self.strip.values().filter(|segment| which(segment)).cloned().collect()
        }

        fn set(&mut self, range: Range<i64>, change: impl Fn((Holder, i64)) -> (Holder, i64)) {
            for game in range {
                self.games[game as usize] = change(self.games[game as usize]);
            }
        }

        fn lease(&mut self, max_games: i64) {
            let id = LeaseId(self.leases.len() as i64);
            let open = self.segments(|segment| segment.holder == Holder::Open);
            let frontier = self.games.len() as i64;
            let range = first_open(&open, max_games).unwrap_or_else(|| {
                self.games.extend((0..max_games).map(|_| (Holder::Open, 0)));
                frontier..frontier + max_games
            });
            let attempts = range.clone().map(|game| self.games[game as usize].1).max().unwrap_or(0) + 1;
            assert!(range.clone().all(|game| self.games[game as usize].0 == Holder::Open), "{range:?}");
            assert_eq!(next_attempt(&open, &range), attempts);
            apply(&mut self.strip, lease(&open, &range, id));
            self.set(range.clone(), |_| (Holder::Leased(id), attempts));
            self.leases.push(range);
        }

        fn hand_on(&mut self, lease: usize, max_games: i64) {
            let (old, new) = (LeaseId(lease as i64), LeaseId(self.leases.len() as i64));
            let leased = self.segments(|segment| segment.holder == Holder::Leased(old));
            let Some(late) = leased.first() else { return };
            let numbers = late.numbers.start..late.numbers.end.min(late.numbers.start + max_games);
            apply(&mut self.strip, hand_on(late, &numbers, new));
            self.set(numbers.clone(), |(_, attempts)| (Holder::Leased(new), attempts + 1));
            self.leases.push(numbers);
        }

        fn release(&mut self, lease: usize, from: i64, is_voluntary: bool) {
            let id = LeaseId(lease as i64);
            let Some(range) = self.leases.get(lease).cloned() else { return };
            let from = (range.start + from).min(range.end);
            let leased = self.segments(|segment| segment.holder == Holder::Leased(id));
            apply(&mut self.strip, release(&leased, from, is_voluntary));
            self.set(from..range.end, |(holder, attempts)| match holder {
                Holder::Leased(holder) if holder == id => (Holder::Open, attempts - i64::from(is_voluntary)),
                other => (other, attempts),
            });
        }

        fn upload(&mut self, lease: usize, from: i64, to: i64) {
            let Some(of_lease) = self.leases.get(lease).cloned() else { return };
            let start = of_lease.start + from;
            let range = start..(start + to).min(of_lease.end);
            if range.is_empty() {
                return;
            }
            let shard = ShardId(self.shards.len() as i64);
            let before = self.segments(|_| true);
            let holding = hold(&before, &range, shard);
            for game in range.clone() {
                let others = holding.others.iter().filter(|part| part.numbers.contains(&game));
                let others: Vec<Holder> = others.map(|part| Holder::Held(part.shard)).collect();
                match self.games[game as usize].0 {
                    holder @ Holder::Held(_) => assert_eq!(others, [holder]),
                    _ => assert_eq!(others, []),
                }
            }
            self.assign(&before, holding.edits);
            self.set(range.clone(), |(holder, attempts)| match holder {
                Holder::Held(_) => (holder, attempts),
                _ => (Holder::Held(shard), attempts),
            });
            self.shards.push((range, true));
        }

        fn withdraw(&mut self, shard: usize) {
            let Some((_, counts)) = self.shards.get_mut(shard) else { return };
            *counts = false;
            let id = ShardId(shard as i64);
            let held = self.segments(|segment| segment.holder == Holder::Held(id));
            let all = self.shards.iter().enumerate().filter(|(_, (_, counts))| *counts);
            let others = all.map(|(other, (range, _))| Part { shard: ShardId(other as i64), numbers: range.clone() });
            let others: Vec<Part> = others.collect();
            self.assign(&held, pass(&held, &others));
            for game in 0..self.games.len() {
                if self.games[game].0 == Holder::Held(id) {
                    let next = others.iter().find(|part| part.numbers.contains(&(game as i64)));
                    self.games[game].0 = next.map_or(Holder::Open, |part| Holder::Held(part.shard));
                }
            }
        }

        fn check(&self) {
            let mut next = 0;
            for (first, segment) in &self.strip {
                assert_eq!((*first, segment.numbers.start), (next, next), "{:?}", self.strip);
                assert!(!segment.numbers.is_empty());
                next = segment.numbers.end;
                for game in segment.numbers.clone() {
                    assert_eq!(self.games[game as usize], (segment.holder, segment.attempts), "game {game}");
                }
            }
            assert_eq!(next, self.games.len() as i64);
            let mut held = BTreeMap::new();
            for (holder, _) in &self.games {
                if let Holder::Held(shard) = holder {
                    *held.entry(*shard).or_default() += 1;
                }
            }
            let counted: BTreeMap<ShardId, i64> =
                self.held.iter().filter(|(_, games)| **games != 0).map(|(shard, games)| (*shard, *games)).collect();
            assert_eq!(counted, held);
        }
    }

    proptest! {
        /// Segments say of each game what a list of games says, and cover every game once.
        #[test]
        fn segments_are_a_short_form_of_games(steps in prop::collection::vec(step(), 1..60)) {
            let mut world = World::default();
            for step in steps {
                match step {
                    Step::Lease { max_games } => world.lease(max_games),
                    Step::HandOn { lease, max_games } => world.hand_on(lease, max_games),
                    Step::Release { lease, from, is_voluntary } => world.release(lease, from, is_voluntary),
                    Step::Upload { lease, from, to } => world.upload(lease, from, to),
                    Step::Withdraw { shard } => world.withdraw(shard),
                }
                world.check();
            }
        }
    }

    #[test]
    fn contested_pairs_are_lent_one_by_one() {
        let part = |attempts, unit| {
            let held = Segment { numbers: 4..20, holder: Holder::Leased(LeaseId(1)), attempts };
            second_part(&held, unit, 10)
        };
        assert_eq!([part(2, 2), part(3, 2), part(9, 2)], [4..14, 4..6, 4..6]);
        assert_eq!(part(3, 1), 4..14, "games of self-play are not");
        let last = Segment { numbers: 4..8, holder: Holder::Leased(LeaseId(1)), attempts: 1 };
        assert_eq!(second_part(&last, 2, 10), 4..8);
    }

    #[test]
    fn games_are_leased_without_a_gap() {
        let open = |numbers: Range<i64>| Segment { numbers, holder: Holder::Open, attempts: 0 };
        let segments = [open(4..6), open(6..10), open(12..20)];
        assert_eq!(first_open(&segments, 100), Some(4..10));
        assert_eq!(first_open(&segments, 3), Some(4..7));
        assert_eq!(first_open(&[], 3), None);
    }
}
