//! Open audits, and checks by a referee: training sets and verdicts of gates wait for them.

use std::ops::Range;

use super::audits;
use crate::{
    clock::{HOUR, Time},
    model::{AuditState, GateShard, ObjectState, Proof, ShardId, ShardState},
};

/// The time after its validation in which a training set waits for an upload.
const WAIT_MS: i64 = HOUR;

impl Proof {
    /// Whether its audit is open: an account plays it, is to play it, or has yet to be drawn. One
    /// that no account may play now is not waited for.
    #[must_use]
    pub fn is_audit_open(&self) -> bool {
        match self.audit {
            AuditState::None | AuditState::Clean => false,
            AuditState::Wanted => self.auditor.is_some() || self.auditor_until == Time(0),
            AuditState::Leased => true,
        }
    }

    /// Whether it waits for a referee's check. `since` is that of [`audits::checks_since`].
    #[must_use]
    pub fn is_check_open(&self, since: Time) -> bool {
        !self.is_checked && self.validated.is_some_and(|validated| validated > since)
    }

    /// Whether a training set waits for it, if it has too few games. It does for an hour, since
    /// auditors may be gone.
    #[must_use]
    pub fn is_waited_for(&self, now: Time) -> bool {
        self.validated.is_some_and(|validated| validated > now.after(-WAIT_MS))
    }

    /// Whether nets may learn from it.
    #[must_use]
    pub fn is_over(&self, since: Time) -> bool {
        !self.is_compared && !self.is_audit_open() && !self.is_check_open(since)
    }
}

/// Counted games of the jobs of a training set that are open, and not older than an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenGames {
    /// Their number.
    pub games: i64,
    /// Number of their positions.
    pub positions: i64,
}

impl OpenGames {
    /// The positions of the others, of so many counted ones.
    #[must_use]
    pub const fn ready(self, counted: i64) -> i64 {
        counted - self.positions
    }

    /// Whether a training waits for them, since too few others are ready of so many wanted
    /// positions.
    #[must_use]
    pub const fn hold_up_training(self, counted: i64, wanted: i64) -> bool {
        self.games > 0 && self.ready(counted) < wanted
    }
}

/// Audits of the shards of a gate, in games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Counted games of untrusted workers.
    pub games: i64,
    /// Those of them that were verified by an audit.
    pub clean: i64,
    /// Games of shards whose audit is wanted or leased.
    pub waiting: i64,
    /// Those of them whose audit is open.
    pub open: i64,
}

impl Audited {
    /// Those of these shards.
    #[must_use]
    pub fn of(shards: &[GateShard]) -> Self {
        let mut all = Self::default();
        for shard in shards.iter().filter(|shard| !shard.is_trusted) {
            let is_waiting = matches!(shard.proof.audit, AuditState::Wanted | AuditState::Leased);
            all.games += shard.counted;
            all.clean += shard.audited_games.min(shard.counted);
            all.waiting += if is_waiting { shard.counted } else { 0 };
            all.open += if shard.proof.is_audit_open() { shard.counted } else { 0 };
        }
        all
    }
}

impl GateShard {
    /// Whether a part of it can still be audited.
    fn is_auditable(&self) -> bool {
        !self.is_trusted
            && matches!(self.proof.audit, AuditState::None | AuditState::Clean)
            && self.audited_games < self.games
            && self.state == ShardState::Validated
            && self.object == ObjectState::Present
    }

    /// Whether it waits for a referee's check. Games on the clock cannot be played again.
    fn is_check_open(&self, since: Time) -> bool {
        !self.is_trusted && !self.is_timed && self.object == ObjectState::Present && self.proof.is_check_open(since)
    }
}

/// The needs of a gate before its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingAudits {
    /// Number of games.
    pub games: i64,
    /// Another shard to audit, if the audits under way are too few.
    pub next: Option<ShardId>,
}

/// Returns the needs of a gate with these shards before its verdict, if it has any. `percent` of
/// their games must be verified, `compared` comparisons of them are open. The next audit is drawn,
/// so that no account foresees or steers it.
#[must_use]
pub fn missing_audits(
    shards: &[GateShard],
    percent: u32,
    compared: i64,
    since: Time,
    draw: u64,
) -> Option<MissingAudits> {
    let audited = Audited::of(shards);
    let missing = (audited.games * i64::from(percent) + 99) / 100 - audited.clean;
    let (mut open, mut unchecked) = (compared, 0);
    if percent > 0 {
        open = open.max(audited.open);
        unchecked = shards.iter().filter(|shard| shard.is_check_open(since)).count() as i64;
    }
    if missing <= 0 && open == 0 && unchecked == 0 {
        return None;
    }
    let mut next = None;
    if audited.waiting < missing && open == 0 {
        let auditable = shards.iter().filter(|shard| shard.is_auditable());
        let auditable: Vec<_> = auditable.map(|shard| (shard.id, shard.proof.audit == AuditState::None)).collect();
        next = audits::draw(&auditable, draw);
    }
    Some(MissingAudits { games: missing.max(open).max(unchecked), next })
}

/// Chooses shards for a training set, each of its games once: those with the most counted games
/// together. So a late upload of a few games keeps no other one out. `shards` are numbers of games,
/// and how many of them count for it. The result are places in it, in the order of their games.
#[must_use]
pub fn choose_distinct(shards: &[(Range<i64>, i64)]) -> Vec<usize> {
    let mut by_end: Vec<usize> = (0..shards.len()).collect();
    by_end.sort_by_key(|place| (shards[*place].0.end, shards[*place].0.start));
    // For each number of shards, by their ends: the most games, and the last shard of these.
    let mut best: Vec<(i64, Option<usize>)> = vec![(0, None)];
    let before = |rank: usize| {
        let start = shards[by_end[rank]].0.start;
        by_end[..rank].partition_point(|place| shards[*place].0.end <= start)
    };
    for (rank, place) in by_end.iter().enumerate() {
        let with = best[before(rank)].0 + shards[*place].1;
        let without = best[rank];
        best.push(if with > without.0 { (with, Some(rank)) } else { without });
    }
    let (mut chosen, mut count) = (Vec::new(), shards.len());
    while let Some(rank) = best[count].1 {
        chosen.push(by_end[rank]);
        count = before(rank);
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::AccountId;

    const NOW: Time = Time(1_000);

    fn proof(audit: AuditState, auditor: Option<i64>, auditor_until: i64) -> Proof {
        let (auditor, auditor_until) = (auditor.map(AccountId), Time(auditor_until));
        Proof { audit, auditor, auditor_until, is_compared: false, is_checked: true, validated: Some(NOW) }
    }

    fn shard(id: i64, counted: i64, audited_games: i64, proof: Proof) -> GateShard {
        GateShard {
            id: ShardId(id),
            counted,
            games: 10,
            audited_games,
            state: ShardState::Validated,
            object: ObjectState::Present,
            is_trusted: false,
            is_timed: false,
            proof,
        }
    }

    #[test]
    fn an_audit_is_open_while_an_account_may_end_it() {
        use AuditState::{Clean, Leased, None as No, Wanted};
        let cases = [
            (proof(No, None, 0), false),
            (proof(Clean, None, 0), false),
            (proof(Leased, Some(1), 5), true),
            (proof(Wanted, None, 0), true),
            (proof(Wanted, Some(1), 5), true),
            (proof(Wanted, None, 5), false),
        ];
        for (proof, is_open) in cases {
            assert_eq!(proof.is_audit_open(), is_open, "{proof:?}");
            assert_eq!(proof.is_over(NOW), !is_open, "{proof:?}");
            assert!(!Proof { is_compared: true, ..proof }.is_over(NOW), "a comparison waits");
        }
    }

    #[test]
    fn a_check_is_waited_for_if_the_upload_is_new() {
        let new = Proof { is_checked: false, ..proof(AuditState::None, None, 0) };
        assert!(new.is_check_open(Time(999)) && !new.is_over(Time(999)));
        assert!(!new.is_check_open(NOW) && new.is_over(NOW), "it was validated too long ago");
        assert!(!Proof { is_checked: true, ..new.clone() }.is_check_open(Time(999)));
        assert!(!Proof { validated: None, ..new.clone() }.is_check_open(Time(-1)), "it is not validated");
        assert!(new.is_waited_for(NOW.after(WAIT_MS - 1)) && !new.is_waited_for(NOW.after(WAIT_MS)));
    }

    #[test]
    fn a_training_waits_for_open_games_if_too_few_others_are_ready() {
        let open = OpenGames { games: 3, positions: 300 };
        assert_eq!(open.ready(1_000), 700);
        assert!(open.hold_up_training(1_000, 701) && !open.hold_up_training(1_000, 700));
        assert!(!OpenGames::default().hold_up_training(1_000, 5_000), "there is nothing to wait for");
    }

    /// The needs of a gate of two shards, the second one a variation of the first.
    fn needs(change: impl Fn(&mut GateShard)) -> Option<MissingAudits> {
        let first = shard(1, 10, 10, proof(AuditState::Clean, None, 0));
        let mut second = shard(2, 10, 0, proof(AuditState::None, None, 0));
        change(&mut second);
        missing_audits(&[first, second], 60, 0, Time(999), 0)
    }

    #[test]
    fn a_verdict_needs_its_share_of_verified_games() {
        let another = Some(MissingAudits { games: 2, next: Some(ShardId(2)) });
        assert_eq!(needs(|_| {}), another);
        assert_eq!(needs(|shard| shard.audited_games = 1), Some(MissingAudits { games: 1, next: Some(ShardId(2)) }));
        assert_eq!(needs(|shard| shard.audited_games = 2), None);
        assert_eq!(needs(|shard| shard.counted = 6), None, "60 % of 16 games");
        assert_eq!(needs(|shard| shard.counted = 7), Some(MissingAudits { games: 1, next: Some(ShardId(2)) }));
        assert_eq!(needs(|shard| shard.is_trusted = true), None, "60 % of ten games");
        let none = Some(MissingAudits { games: 2, next: None });
        assert_eq!(needs(|shard| shard.state = ShardState::Disputed), none);
        assert_eq!(needs(|shard| shard.object = ObjectState::Expired), none);
        let clean = needs(|shard| shard.proof.audit = AuditState::Clean);
        assert_eq!(clean, another, "another part of it can be audited");
        let whole = needs(|shard| (shard.audited_games, shard.games) = (1, 1));
        assert_eq!(whole, Some(MissingAudits { games: 1, next: None }), "all of it is verified");
    }

    #[test]
    fn each_counted_game_is_verified_once() {
        let pieces =
            [shard(1, 4, 10, proof(AuditState::Clean, None, 0)), shard(2, 10, 0, proof(AuditState::None, None, 0))];
        let needs = missing_audits(&pieces, 60, 0, NOW, 0);
        assert_eq!(needs, Some(MissingAudits { games: 9 - 4, next: Some(ShardId(2)) }));
    }

    #[test]
    fn no_further_audit_is_drawn_if_those_under_way_are_enough_or_none_is_possible() {
        let clean = shard(1, 10, 10, proof(AuditState::Clean, None, 0));
        let stuck = shard(2, 10, 0, proof(AuditState::Wanted, None, 5));
        let open = shard(3, 10, 0, proof(AuditState::None, None, 0));
        let needs = |shards: &[GateShard], percent| missing_audits(shards, percent, 0, NOW, 0);
        let shards = [clean, stuck.clone(), open.clone()];
        assert_eq!(needs(&shards, 60), Some(MissingAudits { games: 8, next: None }));
        assert_eq!(needs(&shards, 70), Some(MissingAudits { games: 11, next: Some(ShardId(3)) }));
        let shards = [GateShard { counted: 1, ..stuck }, GateShard { is_trusted: true, ..open }];
        assert_eq!(needs(&shards, 100), Some(MissingAudits { games: 1, next: None }));
        let disputed = shard(4, 10, 0, proof(AuditState::None, None, 0));
        let disputed = GateShard { state: ShardState::Disputed, ..disputed };
        assert_eq!(needs(&[disputed, shards[1].clone()], 10), Some(MissingAudits { games: 1, next: None }));
    }

    #[test]
    fn a_verdict_waits_for_audits_and_checks_under_way() {
        let waits = Some(MissingAudits { games: 10, next: None });
        assert_eq!(needs(|shard| shard.proof.audit = AuditState::Leased), waits);
        assert_eq!(needs(|shard| (shard.audited_games, shard.proof.audit) = (2, AuditState::Leased)), waits);
        let stuck = needs(|shard| (shard.proof.audit, shard.proof.auditor_until) = (AuditState::Wanted, Time(5)));
        assert_eq!(stuck, Some(MissingAudits { games: 2, next: None }), "no account may play it");
        let is_unchecked = |shard: &mut GateShard| (shard.audited_games, shard.proof.is_checked) = (10, false);
        assert_eq!(needs(is_unchecked), Some(MissingAudits { games: 1, next: None }));
        let with = |change: fn(&mut GateShard)| {
            needs(|shard| {
                is_unchecked(shard);
                change(shard);
            })
        };
        assert_eq!(with(|shard| shard.is_timed = true), None);
        assert_eq!(with(|shard| shard.is_trusted = true), None);
        assert_eq!(with(|shard| shard.object = ObjectState::Expired), None);
    }

    #[test]
    fn a_verdict_waits_for_comparisons_even_without_audits() {
        let shards = [shard(1, 10, 0, Proof { is_checked: false, ..proof(AuditState::Leased, None, 0) })];
        assert_eq!(missing_audits(&shards, 0, 0, Time(999), 0), None);
        assert_eq!(missing_audits(&shards, 0, 3, Time(999), 0), Some(MissingAudits { games: 3, next: None }));
        assert_eq!(missing_audits(&[], 10, 0, Time(999), 0), None);
    }

    #[test]
    fn a_late_upload_keeps_no_other_one_out() {
        assert_eq!(choose_distinct(&[(0..100, 99), (50..51, 1), (100..200, 100)]), [0, 2]);
        assert_eq!(choose_distinct(&[(0..100, 50), (50..150, 100), (100..200, 50)]), [1], "the first of two counts");
        assert_eq!(choose_distinct(&[(0..100, 99), (0..200, 1)]), [0], "it has more games, but one counts");
        assert_eq!(choose_distinct(&[]), [0_usize; 0]);
    }

    proptest! {
        #[test]
        fn the_chosen_shards_have_the_most_counted_games(
            shards in prop::collection::vec((0..30_i64, 1..9_i64, 1..9_i64), 0..9)
        ) {
            let shards: Vec<(Range<i64>, i64)> =
                shards.into_iter().map(|(first, games, held)| (first..first + games, held.min(games))).collect();
            let games = |places: &[usize]| places.iter().map(|place| shards[*place].1).sum::<i64>();
            let is_distinct = |places: &[usize]| {
                let mut ranges: Vec<_> = places.iter().map(|place| shards[*place].0.clone()).collect();
                ranges.sort_by_key(|range| range.start);
                ranges.windows(2).all(|pair| pair[0].end <= pair[1].start)
            };
            let chosen = choose_distinct(&shards);
            prop_assert!(is_distinct(&chosen), "{chosen:?}");
            let places = |set: usize| (0..shards.len()).filter(|place| set >> place & 1 == 1).collect::<Vec<_>>();
            let subsets = (0..1_usize << shards.len()).map(places).filter(|places| is_distinct(places));
            prop_assert_eq!(Some(games(&chosen)), subsets.map(|places| games(&places)).max());
        }
    }
}
