//! Audits: which shards are played again by other accounts, and which of their games.
//!
//! An audit is a ringer if the result of a game is known before. A trusted worker's are all known,
//! and of other uploads the game that a referee played again. A ringer is a lease as any other. An
//! account with another result is wrong at once, without a dispute.

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use dataset::random::game_seed;

use super::standing::STRANGER_NODES;
use crate::{
    clock::{HOUR, SECOND, Time},
    model::{AccountId, AuditCandidate, AuditState, Auditor, ShardEvidence, ShardId, ToCompare},
};

/// Audit rate in tenths of a per cent, by the account's clean games so far.
const AUDIT_RATES: [(i64, u64); 5] = [(0, 200), (500, 150), (2_000, 100), (10_000, 50), (50_000, 20)];

/// Rate in tenths of a per cent at which audits are audited themselves.
const SECOND_AUDIT_RATE: u64 = 50;

/// One in so many audits is for a trusted account, if one is there.
const TRUSTED_ODDS: u64 = 2;

/// The time in which an auditor asks for work, or else another one is drawn.
pub const AUDITOR_MS: i64 = 10 * 60 * SECOND;

/// An account that left an audit is drawn for no other one until so long after its lease began.
pub const LEFT_MS: i64 = 6 * HOUR;

/// The time after its last claim in which a referee is at work.
const REFEREE_MS: i64 = 10 * 60 * SECOND;

/// The time after its validation in which an upload waits for its check.
const CHECK_MS: i64 = HOUR;

/// A referee plays one in so many games of a self-play upload again.
const CHECKED_SHARE: u64 = 256;

/// Draws whether a shard is audited.
#[must_use]
pub fn is_wanted(clean_games: i64, min_percent: u64, draw: u64) -> bool {
    let rate = AUDIT_RATES.iter().rev().find(|(from, _)| clean_games >= *from).map_or(200, |&(_, rate)| rate);
    draw % 1_000 < rate.max(min_percent * 10)
}

/// Draws whether an audit is audited. If a trusted worker made it, the second one is a ringer.
#[must_use]
pub const fn is_wanted_again(draw: u64) -> bool {
    draw % 1_000 < SECOND_AUDIT_RATE
}

/// The accounts among which an auditor is drawn. A ringer tests the account that plays it, so it is
/// for no trusted one.
#[must_use]
pub fn eligible(auditors: &[Auditor], is_ringer: bool) -> Cow<'_, [Auditor]> {
    if is_ringer {
        auditors.iter().filter(|auditor| !auditor.is_trusted).cloned().collect()
    } else {
        Cow::Borrowed(auditors)
    }
}

/// Whether the result of a game of a shard is known.
#[must_use]
pub fn is_known(shard: &ShardEvidence, game: i64) -> bool {
    shard.is_trusted || shard.checked_game == Some(game)
}

impl ToCompare {
    /// The games in the order of their comparison: those whose result a referee knows come first,
    /// since they show who is wrong.
    #[must_use]
    pub fn order(&self) -> Vec<Range<u64>> {
        let all = self.first..self.first + self.games;
        let known = [self.left_checked, self.right_checked].into_iter().flatten().filter(|game| all.contains(game));
        let ranges = known.map(|game| game..game + 1).chain([all.clone()]);
        ranges.map(|range| range.start as u64..range.end as u64).collect()
    }
}

/// Draws the auditor of a shard among accounts that may be, weighted by their proven work. So an
/// owner of a tenth of all proven work audits about a tenth of its own games. A half of the audits
/// is for trusted accounts. `draw` is random, and another one for each shard.
#[must_use]
pub fn draw_auditor(auditors: &[Auditor], may_audit: impl Fn(&Auditor) -> bool, draw: u64) -> Option<AccountId> {
    let of: Vec<&Auditor> = auditors.iter().filter(|auditor| may_audit(auditor)).collect();
    let any_trusted = of.iter().any(|auditor| auditor.is_trusted);
    let is_for_trusted = any_trusted && draw.is_multiple_of(TRUSTED_ODDS);
    let of: Vec<&Auditor> = of.into_iter().filter(|auditor| auditor.is_trusted || !is_for_trusted).collect();
    let weight = |auditor: &Auditor| auditor.proven_nodes.max(0) as u128 + STRANGER_NODES as u128;
    let all: u128 = of.iter().map(|auditor| weight(auditor)).sum();
    let mut place = (u128::from(draw / TRUSTED_ODDS) * all) >> 63;
    for auditor in of {
        let weight = weight(auditor);
        if place < weight {
            return Some(auditor.account);
        }
        place -= weight;
    }
    None
}

/// Chooses the auditor of an account's shard: an account that has not played its games. Accounts
/// related to a player are left out, unless all are. In a fleet of two accounts it is the other
/// one. Accounts that `left` an audit lately are drawn only for want of others, so none holds up
/// verdicts for long. An account with a trusted worker is no relative, since it may have invited
/// all others. It may leave audits: a half of them is for it.
#[must_use]
pub fn choose_auditor(
    auditors: &[Auditor],
    own: AccountId,
    players: &[AccountId],
    related: &[AccountId],
    left: &BTreeSet<AccountId>,
    draw: u64,
) -> Option<AccountId> {
    let is_new = |auditor: &Auditor| !players.contains(&auditor.account);
    let is_unrelated = |auditor: &Auditor| !related.contains(&auditor.account);
    let all_related = !auditors.iter().any(|auditor| is_new(auditor) && is_unrelated(auditor));
    let may_audit = |auditor: &Auditor| is_new(auditor) && (all_related || auditor.is_trusted || is_unrelated(auditor));
    let stays = |auditor: &Auditor| auditor.is_trusted || !left.contains(&auditor.account);
    draw_auditor(auditors, |auditor| stays(auditor) && may_audit(auditor), draw)
        .or_else(|| draw_auditor(auditors, may_audit, draw))
        .or_else(|| draw_auditor(auditors, |auditor| auditor.account != own, draw))
}

/// Uploads validated after this time wait for the check of a game, before nets learn from them and
/// gates count them. `claimed` is the time of the last claim of a referee. Without a referee none
/// waits, and a slow one holds up no upload for more than an hour.
#[must_use]
pub fn checks_since(now: Time, claimed: Option<Time>) -> Time {
    if is_at_work(now, claimed) { now.after(-CHECK_MS) } else { Time(i64::MAX) }
}

/// Whether a referee is at work, by the time of the last claim.
#[must_use]
pub fn is_at_work(now: Time, claimed: Option<Time>) -> bool {
    claimed.is_some_and(|claimed| now.0 - claimed.0 <= REFEREE_MS)
}

/// Games of an upload that a referee plays again: all of a match, since a few pairs decide it. Of
/// self-play it is one in 256, at least one.
#[must_use]
pub const fn checked_games(is_match: bool, games: u64) -> u64 {
    if is_match { games } else { games.div_ceil(CHECKED_SHARE) }
}

/// Draws the games of an upload that a referee plays again, in their order of play.
#[must_use]
pub fn draw_checked(games: Range<u64>, is_match: bool, draw: u64) -> Vec<u64> {
    let count = checked_games(is_match, games.end - games.start) as usize;
    let mut games: Vec<u64> = games.collect();
    for place in 0..count {
        let left = (games.len() - place) as u64;
        games.swap(place, place + (game_seed(draw, place as u64) % left) as usize);
    }
    games.truncate(count);
    games
}

/// The random number of a shard among those of one draw.
#[must_use]
pub fn draw_of(draw: u64, shard: ShardId) -> u64 {
    game_seed(draw, shard.0 as u64)
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

/// Games that a clean audit proves, as a multiple of the shard's: the account's shards that were
/// not drawn are as good.
const PROVEN_SHARDS: i64 = 5;

/// Games that an audit proves when its verified games change; fewer than none if it is void.
#[must_use]
pub fn proven_games(games: i64, verified_before: i64, verified: i64) -> i64 {
    let proven = |verified| if is_enough(games, verified) { PROVEN_SHARDS * games } else { 0 };
    proven(verified) - proven(verified_before)
}

/// Whether so many verified games prove a shard.
#[must_use]
pub const fn is_enough(games: i64, verified: i64) -> bool {
    verified > 0 && verified >= min_audit_games(games)
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
    use crate::model::{ComparisonId, JobId};

    #[test]
    fn proven_accounts_are_audited_less() {
        let rate = |clean, min| (0..1_000).filter(|draw| is_wanted(clean, min, *draw)).count();
        assert_eq!([0, 499, 500, 2_000, 10_000, 50_000].map(|clean| rate(clean, 0)), [200, 200, 150, 100, 50, 20]);
        assert_eq!([rate(0, 10), rate(50_000, 10), rate(50_000, 100)], [200, 100, 1_000]);
        assert_eq!((0..1_000).filter(|draw| is_wanted_again(*draw)).count(), 50);
    }

    /// Counts the draws of each of these accounts, of so many.
    fn drawn(auditors: &[Auditor], owner: i64, draws: u64) -> Vec<u64> {
        let mut drawn = vec![0; auditors.len()];
        for number in 0..draws {
            let draw = draw_of(number, ShardId(7));
            let auditor = draw_auditor(auditors, |auditor| auditor.account != AccountId(owner), draw).unwrap();
            drawn[auditors.iter().position(|other| other.account == auditor).unwrap()] += 1;
        }
        drawn
    }

    fn auditor(account: i64, strangers: i64) -> Auditor {
        Auditor { account: AccountId(account), proven_nodes: (strangers - 1) * STRANGER_NODES, is_trusted: false }
    }

    #[test]
    fn auditors_are_drawn_by_their_proven_work() {
        let auditors = [auditor(1, 1), auditor(2, 2), auditor(3, 5)];
        let found = drawn(&auditors, 9, 8_000);
        assert!(found.iter().zip([1_000, 2_000, 5_000]).all(|(found, of)| found.abs_diff(of) < 200), "{found:?}");
        let found = drawn(&auditors, 3, 3_000);
        assert!(found[0].abs_diff(1_000) < 150 && found[2] == 0, "its own account is none: {found:?}");
        assert_eq!(draw_auditor(&auditors[..1], |_| false, 5), None);
        assert_eq!(draw_auditor(&[], |_| true, 5), None);
        for draw in [0, 1, u64::MAX - 1, u64::MAX] {
            assert!(draw_auditor(&auditors, |_| true, draw).is_some());
        }
    }

    #[test]
    fn a_half_of_the_audits_is_for_trusted_accounts() {
        let trusted = Auditor { is_trusted: true, ..auditor(1, 1) };
        let found = drawn(&[trusted, auditor(2, 1_000)], 9, 4_000);
        assert!(found[0].abs_diff(2_000) < 150, "{found:?}");
    }

    #[test]
    fn a_related_account_audits_where_no_other_one_may() {
        let all = [auditor(1, 1), auditor(2, 1), auditor(3, 1), auditor(4, 1)];
        let chosen = |auditors: &[Auditor], players: &[i64], related: &[i64]| {
            let ids = |ids: &[i64]| ids.iter().copied().map(AccountId).collect::<Vec<_>>();
            let (players, related) = (ids(players), ids(related));
            let draws = (0..200).map(|draw| draw_of(draw, ShardId(1)));
            let none = BTreeSet::new();
            let found =
                draws.filter_map(|draw| choose_auditor(auditors, AccountId(1), &players, &related, &none, draw));
            found.map(|account| account.0).collect::<BTreeSet<i64>>()
        };
        let set = |ids: &[i64]| ids.iter().copied().collect::<BTreeSet<i64>>();
        assert_eq!(chosen(&all, &[1], &[]), set(&[2, 3, 4]));
        assert_eq!(chosen(&all, &[1], &[1, 2]), set(&[3, 4]), "neither itself nor a relative");
        assert_eq!(chosen(&all, &[1, 3], &[1, 2]), set(&[4]));
        assert_eq!(chosen(&all, &[1, 3, 4], &[1, 2]), set(&[2]), "a relative, for want of another one");
        assert_eq!(chosen(&all, &[1, 2, 3, 4], &[]), set(&[2, 3, 4]), "a further audit");
        assert_eq!(chosen(&all[..1], &[1], &[]), set(&[]), "never itself");
        let trusted = [auditor(1, 1), Auditor { is_trusted: true, ..auditor(2, 1) }, auditor(3, 1), auditor(4, 1)];
        assert_eq!(chosen(&trusted, &[1], &[1, 2, 3]), set(&[2, 4]), "its maintainer may have invited it");
        assert_eq!(chosen(&trusted, &[1], &[1, 2, 3, 4]), set(&[2, 3, 4]), "all are in one house");
    }

    #[test]
    fn an_account_that_left_an_audit_is_drawn_for_want_of_others() {
        let all = [1, 2, 3, 4].map(|account| auditor(account, 1));
        let chosen = |auditors: &[Auditor], related: &[AccountId]| {
            let (own, left) = (AccountId(1), BTreeSet::from([AccountId(2), AccountId(4)]));
            let draws = (0..200).map(|draw| draw_of(draw, ShardId(1)));
            let found = draws.filter_map(|draw| choose_auditor(auditors, own, &[own], related, &left, draw));
            found.map(|account| account.0).collect::<BTreeSet<i64>>()
        };
        assert_eq!(chosen(&all, &[]), BTreeSet::from([3]));
        assert_eq!(chosen(&all, &[AccountId(3)]), BTreeSet::from([2, 4]), "they are no relatives");
        assert_eq!(chosen(&all[..2], &[]), BTreeSet::from([2]), "there is no other one");
        let trusted = all.map(|auditor| Auditor { is_trusted: auditor.account.0 == 4, ..auditor });
        assert_eq!(chosen(&trusted, &[]), BTreeSet::from([3, 4]), "it was stopped, and is there again");
    }

    #[test]
    fn a_ringer_is_for_no_trusted_account() {
        let all = [auditor(1, 1), Auditor { is_trusted: true, ..auditor(2, 1) }, auditor(3, 1)];
        let eligible =
            |is_ringer| eligible(&all, is_ringer).iter().map(|auditor| auditor.account.0).collect::<Vec<_>>();
        assert_eq!((eligible(true), eligible(false)), (vec![1, 3], vec![1, 2, 3]));
    }

    #[test]
    fn known_games_are_compared_first() {
        let order = |left_checked, right_checked| {
            let (left, right) = (String::new(), String::new());
            ToCompare { comparison: ComparisonId(1), left, right, first: 10, games: 5, left_checked, right_checked }
                .order()
        };
        let all = std::slice::from_ref(&(10..15));
        assert_eq!(order(None, None), all);
        assert_eq!(order(Some(12), None), [12..13, 10..15]);
        assert_eq!(order(Some(14), Some(10)), [14..15, 10..11, 10..15]);
        assert_eq!(order(Some(9), Some(15)), all, "they are not common");
    }

    #[test]
    fn uploads_wait_for_a_referee_at_work() {
        let now = Time(9 * HOUR);
        let since = |ago: i64| checks_since(now, Some(now.after(-ago)));
        assert_eq!([0, REFEREE_MS].map(since), [Time(8 * HOUR); 2]);
        let none = Time(i64::MAX);
        assert_eq!((since(REFEREE_MS + 1), checks_since(now, None)), (none, none), "it is gone");
    }

    #[test]
    fn each_game_of_a_match_is_checked_and_a_share_of_selfplay() {
        assert_eq!([1, 16, 4_096].map(|games| checked_games(true, games)), [1, 16, 4_096]);
        assert_eq!([1, 256, 257, 1_808].map(|games| checked_games(false, games)), [1, 1, 2, 8]);
    }

    #[test]
    fn checked_games_are_drawn_alike() {
        let mut drawn = [0; 520];
        for draw in 0..26_000 {
            let games = draw_checked(1_000..1_520, false, draw_of(draw, ShardId(3)));
            let [one, two, three] = games[..] else { panic!("{games:?}") };
            assert!(one != two && two != three && one != three, "{games:?}");
            for game in games {
                drawn[game as usize - 1_000] += 1;
            }
        }
        assert!(drawn.iter().all(|count| (90..=210).contains(count)), "{drawn:?}");
        let mut all = draw_checked(10..26, true, 5);
        assert_ne!(all, (10..26).collect::<Vec<_>>(), "the first one, which becomes known, is random too");
        all.sort_unstable();
        assert_eq!(all, (10..26).collect::<Vec<_>>());
    }

    #[test]
    fn a_clean_audit_proves_five_shards() {
        assert_eq!([(0, 9), (0, 10), (10, 100)].map(|(before, after)| proven_games(100, before, after)), [0, 500, 0]);
        assert_eq!((proven_games(100, 60, 9), proven_games(100, 9, 0)), (-500, 0), "a void audit proves nothing");
        assert_eq!([0, 1].map(|verified| proven_games(5, 0, verified)), [0, 25]);
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
