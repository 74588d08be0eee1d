//! Audits: which shards are played again by other accounts, and which of their games.

use std::ops::Range;

use crate::model::{AuditCandidate, AuditState, ShardId};

/// Audit rate in tenths of a per cent, by the account's clean games so far.
const AUDIT_RATES: [(i64, u64); 5] = [(0, 200), (500, 150), (2_000, 100), (10_000, 50), (50_000, 20)];

/// One in this many requests of an eligible auditor is answered with an audit. So the first request
/// after an upload does not predict its auditor.
const AUDIT_ODDS: u64 = 2;

/// Draws whether a shard is audited.
#[must_use]
pub fn is_wanted(clean_games: i64, min_percent: u64, draw: u64) -> bool {
    let rate = AUDIT_RATES.iter().rev().find(|(from, _)| clean_games >= *from).map_or(200, |&(_, rate)| rate);
    draw % 1_000 < rate.max(min_percent * 10)
}

/// Draws whether a request is answered with an audit, if there is one.
#[must_use]
pub const fn is_auditor(draw: u64) -> bool {
    draw.is_multiple_of(AUDIT_ODDS)
}

/// Draws a shard for one more audit, each with the same probability. Shards without any audit come
/// before those of which another part is to be audited.
#[must_use]
pub fn draw(shards: &[(ShardId, bool)], draw: u64) -> Option<ShardId> {
    let any_untouched = shards.iter().any(|(_, is_untouched)| *is_untouched);
    let of: Vec<ShardId> =
        shards.iter().filter(|(_, is_untouched)| *is_untouched == any_untouched).map(|(shard, _)| *shard).collect();
    let place = draw.checked_rem(of.len() as u64)?;
    of.get(place as usize).copied()
}

/// Minimum games of a shard to audit: a tenth.
#[must_use]
pub const fn min_audit_games(games: i64) -> i64 {
    games / 10
}

impl AuditCandidate {
    /// Draws a range with at least one unverified game. `usual` is the size of the auditor's other
    /// leases, but a small request must not make a small audit. In a match, whole `unit`s.
    #[must_use]
    pub fn draw_range(&self, verified: &[Range<i64>], usual: i64, unit: i64, draw: u64) -> Range<i64> {
        let Range { start, end } = self.numbers;
        let min_games = (min_audit_games(end - start) + unit - 1) / unit * unit;
        let games = (end - start).min(usual.max(min_games));
        let is_verified = |game: &i64| verified.iter().any(|range| range.contains(game));
        let open: Vec<i64> = (start..end).step_by(unit as usize).filter(|game| !is_verified(game)).collect();
        let pick = |of: i64, draw: u64| (draw % of.max(1) as u64) as i64;
        // The game's place within the range is random too, within the shard.
        let game = open.get(pick(open.len() as i64, draw) as usize).copied().unwrap_or(start);
        let before = pick(games / unit, draw >> 24) * unit;
        let first = (game - before).clamp(start, end - games);
        first..first + games
    }
}

impl AuditState {
    /// All changes.
    pub const TRANSITIONS: &'static [(Self, Self)] = &[
        (Self::None, Self::Wanted),
        (Self::Wanted, Self::Leased),
        (Self::Wanted, Self::Clean),
        (Self::Leased, Self::Wanted),
        (Self::Leased, Self::Clean),
        (Self::Clean, Self::Wanted),
    ];
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::JobId;

    #[test]
    fn proven_accounts_are_audited_less() {
        let rate = |clean, min| (0..1_000).filter(|draw| is_wanted(clean, min, *draw)).count();
        assert_eq!([0, 499, 500, 2_000, 10_000, 50_000].map(|clean| rate(clean, 0)), [200, 200, 150, 100, 50, 20]);
        assert_eq!([rate(0, 10), rate(50_000, 10), rate(50_000, 100)], [200, 100, 1_000]);
        assert_eq!((0..1_000).filter(|draw| is_auditor(*draw)).count(), 500);
    }

    #[test]
    fn each_shard_without_an_audit_is_drawn_alike() {
        let shards: Vec<(ShardId, bool)> = (0..12).map(|id| (ShardId(id), id % 3 != 0)).collect();
        let mut drawn = [0; 12];
        for number in 0..800 {
            drawn[draw(&shards, number).unwrap().0 as usize] += 1;
        }
        assert_eq!(drawn, [0, 100, 100, 0, 100, 100, 0, 100, 100, 0, 100, 100]);
        let touched = [(ShardId(5), false), (ShardId(6), false)];
        assert_eq!([0, 1].map(|number| draw(&touched, number)), [Some(ShardId(5)), Some(ShardId(6))]);
        assert_eq!(draw(&[], 7), None);
    }

    proptest! {
        #[test]
        fn an_audit_has_unverified_games(
            (start, units, unit) in (0..50_i64, 1..60_i64, 1..3_i64), usual in 1..80_i64, draw in any::<u64>(),
            verified in (0..50_i64, 0..30_i64),
        ) {
            let numbers = start * unit..(start + units) * unit;
            let candidate = AuditCandidate { id: ShardId(1), job: JobId(1), numbers: numbers.clone() };
            let verified = numbers.start + verified.0..numbers.start + verified.0 + verified.1;
            let range = candidate.draw_range(std::slice::from_ref(&verified), usual * unit, unit, draw);
            let games = range.end - range.start;
            prop_assert!(range.start >= numbers.start && range.end <= numbers.end, "{range:?} of {numbers:?}");
            prop_assert!(games > 0 && games % unit == 0 && (range.start - numbers.start) % unit == 0);
            prop_assert!(games >= min_audit_games(numbers.end - numbers.start));
            let is_open = |game: i64| !verified.contains(&game);
            let any_open = numbers.clone().step_by(unit as usize).any(is_open);
            prop_assert!(!any_open || range.clone().any(is_open), "{range:?} beside {verified:?}");
        }
    }
}
