//! Cases without a database: single rules, and random worlds in random orders.

use proptest::prelude::*;

use ShardState::{Disputed, Quarantined, Validated};

use super::*;
use crate::model::{JobId, common};

/// The account of trusted workers.
const JUDGE: AccountId = AccountId(9);

/// A validated shard of ten games, of a fresh lease.
fn shard(id: i64, account: i64) -> ShardEvidence {
    ShardEvidence {
        id: ShardId(id),
        job: JobId(1),
        account: AccountId(account),
        numbers: 0..10,
        state: Validated,
        is_validated: true,
        object: ObjectState::Present,
        audit: AuditState::None,
        audited_games: 0,
        is_trusted: AccountId(account) == JUDGE,
        is_distrusted: false,
        kind: LeaseKind::Fresh,
        audited: None,
        checked_game: None,
    }
}

/// A shard that another one waits to be audited by.
fn audited(id: i64, account: i64) -> ShardEvidence {
    ShardEvidence { audit: AuditState::Leased, ..shard(id, account) }
}

/// The upload for an audit.
fn audit_of(audited: i64, id: i64, account: i64) -> ShardEvidence {
    ShardEvidence { kind: LeaseKind::Audit, audited: Some(ShardId(audited)), ..shard(id, account) }
}

fn case(shards: &[ShardEvidence]) -> Case {
    let mut case = Case::default();
    let complete = shards.iter().map(|shard| shard.id).collect();
    case.extend(Evidence { shards: shards.to_vec(), comparisons: Vec::new(), complete });
    case
}

/// Adds a waiting comparison of all common games.
fn add(case: &mut Case, id: i64, left: i64, right: i64) {
    let numbers = common(&case.shard(ShardId(left)).numbers, &case.shard(ShardId(right)).numbers);
    let (job, state) = (JobId(1), ComparisonState::Waiting);
    let row = Comparison {
        id: ComparisonId(id),
        job,
        left: ShardId(left),
        right: ShardId(right),
        numbers,
        state,
        game: None,
    };
    case.extend(Evidence { comparisons: vec![row], ..Evidence::default() });
}

/// Adds a comparison with its result.
fn found(case: &mut Case, id: i64, left: i64, right: i64, differs: Option<i64>) {
    add(case, id, left, right);
    case.compared(ComparisonId(id), differs);
}

/// The shards of an account, in order.
fn shards_of(case: &Case, account: AccountId) -> Vec<ShardId> {
    case.shards.values().filter(|shard| shard.account == account).map(|shard| shard.id).collect()
}

/// Applies one transition, as an operation does. Returns the account to review, if there is one.
fn step(case: &mut Case, transition: Transition) -> Option<AccountId> {
    case.apply(transition);
    match transition {
        Transition::Distrust(account) | Transition::Trust(account) => Some(account),
        _ => None,
    }
}

/// Runs to the fixpoint; `pick` chooses among the transitions that are demanded.
fn settle(case: &mut Case, mut pick: impl FnMut(usize) -> usize) {
    for _ in 0..10_000 {
        let demanded: Vec<Transition> = case.next().into_iter().collect();
        if demanded.is_empty() {
            return;
        }
        if let Some(account) = step(case, demanded[pick(demanded.len())]) {
            case.review(shards_of(case, account));
        }
    }
    panic!("there is no end: {:?}", case.next());
}

/// Runs to the fixpoint, and reviews so many shards at a time, each time to the next fixpoint.
fn settle_in_steps(case: &mut Case, limit: usize) {
    let mut reviews = BTreeMap::<AccountId, ShardId>::new();
    for _ in 0..10_000 {
        if let Some(transition) = case.next().first().copied() {
            if let Some(account) = step(case, transition) {
                reviews.insert(account, ShardId(0));
            }
            continue;
        }
        let Some((account, until)) = reviews.pop_first() else { return };
        let next: Vec<ShardId> =
            shards_of(case, account).into_iter().filter(|shard| *shard > until).take(limit).collect();
        if let Some(last) = next.last() {
            reviews.insert(account, *last);
        }
        case.review(next);
    }
    panic!("there is no end: {:?}", case.next());
}

fn run(case: &mut Case) {
    settle(case, |_| 0);
}

fn states(case: &Case) -> Vec<ShardState> {
    case.shards.values().map(|shard| shard.state).collect()
}

#[test]
fn an_audit_verifies_the_audited_shard_alone() {
    let mut case = case(&[audited(1, 1), audit_of(1, 2, 2)]);
    found(&mut case, 1, 1, 2, None);
    run(&mut case);
    let verified = |id| (case.shard(ShardId(id)).audited_games, case.shard(ShardId(id)).audit);
    assert_eq!((verified(1), verified(2)), ((10, AuditState::Clean), (0, AuditState::None)));
    assert_eq!((case.take_gain(AccountId(1)), case.take_gain(AccountId(2))), (10, 0));
}

#[test]
fn only_requested_games_of_others_in_good_standing_verify() {
    let verified = |other: ShardEvidence| {
        let mut case = case(&[audited(1, 1), other]);
        found(&mut case, 1, 1, 2, None);
        run(&mut case);
        case.shard(ShardId(1)).audited_games
    };
    assert_eq!(verified(shard(2, 2)), 0, "not requested");
    assert_eq!(verified(audit_of(7, 2, 2)), 0, "requested for another shard");
    assert_eq!(verified(audit_of(1, 2, 1)), 0, "of the same account");
    assert_eq!(verified(ShardEvidence { is_distrusted: true, ..audit_of(1, 2, 2) }), 0, "distrusted");
    assert_eq!(verified(ShardEvidence { kind: LeaseKind::Settle, ..shard(2, 2) }), 10);
    assert_eq!(verified(ShardEvidence { numbers: 8..12, ..shard(2, JUDGE.0) }), 2, "trusted, in common games");
}

#[test]
fn less_than_a_tenth_is_no_audit() {
    let long = ShardEvidence { numbers: 0..100, ..audited(1, 1) };
    for (games, audit) in [(9, AuditState::Leased), (10, AuditState::Clean)] {
        let mut case = case(&[long.clone(), ShardEvidence { numbers: 50..50 + games, ..audit_of(1, 2, 2) }]);
        found(&mut case, 1, 1, 2, None);
        run(&mut case);
        assert_eq!((case.shard(ShardId(1)).audited_games, case.shard(ShardId(1)).audit), (games, audit));
    }
}

#[test]
fn games_verified_twice_count_once() {
    let mut case = case(&[
        audited(1, 1),
        ShardEvidence { numbers: 0..4, ..audit_of(1, 2, 2) },
        ShardEvidence { numbers: 2..6, ..audit_of(1, 3, 3) },
        ShardEvidence { numbers: 8..9, ..audit_of(1, 4, 3) },
    ]);
    for right in 2..5 {
        found(&mut case, right, 1, right, None);
    }
    run(&mut case);
    assert_eq!(case.verified(ShardId(1)), [0..6, 8..9]);
    assert_eq!(case.shard(ShardId(1)).audited_games, 7);
}

#[test]
fn a_trusted_worker_outvotes_another() {
    let clean = ShardEvidence { audit: AuditState::Clean, audited_games: 9, ..shard(2, 1) };
    let verified = ShardEvidence { audit: AuditState::Clean, audited_games: 10, ..shard(5, 1) };
    let mut case = case(&[shard(1, 1), clean, shard(3, JUDGE.0), shard(4, 1), verified]);
    found(&mut case, 1, 1, 3, Some(4));
    run(&mut case);
    // Of the others, those go of which not all games were verified.
    assert_eq!(states(&case), [Quarantined, Quarantined, Validated, Quarantined, Validated]);
    assert_eq!(case.comparison(ComparisonId(1)).state, ComparisonState::Settled);
    assert!(case.distrusted.contains(&AccountId(1)) && !case.distrusted.contains(&JUDGE));
}

#[test]
fn a_wrong_shard_goes_despite_a_clean_audit() {
    let clean = ShardEvidence { audit: AuditState::Clean, audited_games: 4, ..shard(1, 1) };
    let early = ShardEvidence { numbers: 0..4, ..audit_of(1, 2, 2) };
    let mut case = case(&[clean, early, shard(3, JUDGE.0)]);
    found(&mut case, 1, 1, 2, None);
    found(&mut case, 2, 1, 3, Some(8));
    run(&mut case);
    assert_eq!(states(&case), [Quarantined, Validated, Validated]);
}

#[test]
fn a_dispute_is_settled_by_a_trusted_worker() {
    let mut case = case(&[shard(1, 1), shard(2, 2), shard(3, JUDGE.0)]);
    found(&mut case, 1, 1, 2, Some(4));
    settle(&mut case, |_| 0);
    assert_eq!(states(&case), [Disputed, Disputed, Validated]);
    assert_eq!(case.consulted, [(ShardId(1), 4), (ShardId(2), 4)].into());
    found(&mut case, 2, 1, 3, None);
    run(&mut case);
    assert_eq!(states(&case), [Disputed, Disputed, Validated], "one side is judged");
    found(&mut case, 3, 2, 3, Some(4));
    run(&mut case);
    assert_eq!(states(&case), [Validated, Quarantined, Validated]);
    assert_eq!(case.comparison(ComparisonId(1)).state, ComparisonState::Settled);
}

#[test]
fn a_dispute_is_settled_by_a_ruling() {
    let dispute = || {
        let mut case = case(&[audited(1, 1), audit_of(1, 2, 2)]);
        found(&mut case, 1, 1, 2, Some(4));
        run(&mut case);
        assert_eq!(states(&case), [Disputed, Disputed]);
        case
    };
    let rulings = [
        ([true, false], [Validated, Quarantined]),
        ([false, true], [Quarantined, Validated]),
        ([false, false], [Quarantined, Quarantined]),
    ];
    for (ruling, ends) in rulings {
        let mut case = dispute();
        assert!(case.ruled(ComparisonId(1), ruling));
        run(&mut case);
        assert_eq!((states(&case), case.comparison(ComparisonId(1)).state), (ends.into(), ComparisonState::Settled));
        assert!(!case.ruled(ComparisonId(1), [false, false]), "it is ruled on once");
        run(&mut case);
        assert_eq!(states(&case), ends);
        for (account, is_right) in [1, 2].into_iter().zip(ruling) {
            assert_eq!(case.distrusted.contains(&AccountId(account)), !is_right);
        }
    }
}

#[test]
fn a_trusted_worker_may_be_ruled_wrong() {
    let mut case = case(&[shard(1, 9), ShardEvidence { is_trusted: true, ..shard(2, 3) }]);
    found(&mut case, 1, 1, 2, Some(4));
    run(&mut case);
    assert!(case.ruled(ComparisonId(1), [false, true]));
    run(&mut case);
    assert_eq!(states(&case), [Quarantined, Validated]);
}

#[test]
fn a_shard_found_wrong_by_a_check_goes_despite_a_clean_audit() {
    let mut case = case(&[audited(1, 1), ShardEvidence { numbers: 5..10, ..audit_of(1, 2, 2) }]);
    found(&mut case, 1, 1, 2, None);
    run(&mut case);
    assert_eq!(case.shard(ShardId(1)).audit, AuditState::Clean);
    assert!(case.found_wrong(ShardId(1), 4));
    run(&mut case);
    assert_eq!((states(&case), &case.distrusted), (vec![Quarantined, Validated], &[AccountId(1)].into()));
    assert!(!case.found_wrong(ShardId(1), 4), "it is out already");
}

#[test]
fn a_shard_found_wrong_goes_though_all_its_games_were_verified() {
    let mut case = case(&[ShardEvidence { audit: AuditState::Clean, audited_games: 10, ..shard(1, 1) }]);
    assert!(case.found_wrong(ShardId(1), 4));
    run(&mut case);
    assert_eq!(states(&case), [Quarantined]);
}

#[test]
fn an_account_that_confirmed_a_wrong_game_is_wrong_too() {
    let half = |id, account| ShardEvidence { numbers: 5..10, ..audit_of(1, id, account) };
    let mut case = case(&[audited(1, 1), audit_of(1, 2, 2), half(3, 3), audit_of(2, 4, 4), half(5, 5)]);
    for (id, (left, right, differs)) in [(1, 2, None), (1, 3, None), (2, 4, None), (1, 5, Some(7))].iter().enumerate() {
        found(&mut case, id as i64, *left, *right, *differs);
    }
    run(&mut case);
    assert!(case.ruled(ComparisonId(3), [false, true]));
    run(&mut case);
    assert_eq!(case.distrusted, [1, 2, 3, 4].map(AccountId).into());
    assert_eq!(states(&case), [Quarantined, Quarantined, Quarantined, Quarantined, Validated]);
}

#[test]
fn another_result_of_a_known_game_is_wrong_at_once() {
    let checked = |game| ShardEvidence { checked_game: game, ..audited(1, 1) };
    let ends = |own: Option<i64>, other: Option<i64>| {
        let mut case = case(&[checked(own), ShardEvidence { checked_game: other, ..audit_of(1, 2, 2) }]);
        found(&mut case, 1, 1, 2, Some(4));
        run(&mut case);
        (states(&case), case.comparison(ComparisonId(1)).state, case.distrusted)
    };
    let settled = ComparisonState::Settled;
    assert_eq!(ends(Some(4), None), (vec![Validated, Quarantined], settled, [AccountId(2)].into()));
    assert_eq!(ends(None, Some(4)), (vec![Quarantined, Validated], settled, [AccountId(1)].into()));
    let open = (vec![Disputed, Disputed], ComparisonState::Different, [].into());
    assert_eq!(ends(Some(5), None), open, "of another game nothing is known");
    assert_eq!(ends(Some(4), Some(4)), open, "both cannot be");
}

#[test]
fn a_known_game_outvotes_no_trusted_worker() {
    let mut case = case(&[ShardEvidence { checked_game: Some(4), ..shard(1, 1) }, shard(2, JUDGE.0)]);
    found(&mut case, 1, 1, 2, Some(4));
    run(&mut case);
    assert_eq!(states(&case), [Disputed, Disputed], "a referee settles it");
}

#[test]
fn an_account_that_confirmed_another_known_game_is_wrong_too() {
    let known = ShardEvidence { checked_game: Some(7), ..audited(1, 1) };
    let half = ShardEvidence { numbers: 0..5, ..audit_of(2, 4, 4) };
    let mut case = case(&[known, audit_of(1, 2, 2), audit_of(2, 3, 3), half]);
    for (id, (left, right, differs)) in [(2, 3, None), (2, 4, None), (1, 2, Some(7))].into_iter().enumerate() {
        found(&mut case, id as i64, left, right, differs);
    }
    run(&mut case);
    assert_eq!(case.distrusted, [2, 3].map(AccountId).into());
    assert_eq!(states(&case), [Validated, Quarantined, Quarantined, Validated]);
}

/// A ringer: a trusted worker's audit is played again.
#[test]
fn a_wrong_answer_to_a_ringer_is_wrong_at_once() {
    let ringer = ShardEvidence { audit: AuditState::Leased, ..audit_of(7, 1, JUDGE.0) };
    for (differs, end) in [(None, Validated), (Some(4), Quarantined)] {
        let mut case = case(&[ringer.clone(), audit_of(1, 2, 2)]);
        found(&mut case, 1, 1, 2, differs);
        run(&mut case);
        assert_eq!(states(&case), [Validated, end]);
        assert_eq!(case.shard(ShardId(1)).audit == AuditState::Clean, differs.is_none());
    }
}

#[test]
fn another_game_of_a_trusted_worker_judges_nothing() {
    let mut case = case(&[shard(1, 1), shard(2, 2), ShardEvidence { numbers: 5..10, ..shard(3, JUDGE.0) }]);
    found(&mut case, 1, 1, 2, Some(4));
    found(&mut case, 2, 1, 3, None);
    found(&mut case, 3, 2, 3, None);
    run(&mut case);
    assert_eq!(states(&case), [Disputed, Disputed, Validated]);
}

#[test]
fn differing_trusted_workers_are_both_disputed() {
    let mut case = case(&[shard(1, JUDGE.0), shard(2, JUDGE.0)]);
    found(&mut case, 1, 1, 2, Some(4));
    run(&mut case);
    assert_eq!(states(&case), [Disputed, Disputed]);
    assert!(case.distrusted.is_empty());
}

#[test]
fn confirmations_of_a_quarantined_account_are_void() {
    // Two confirms one; three, which is quarantined already, rests on two as well.
    let suspect = ShardEvidence { is_distrusted: true, ..audited(3, 3) };
    let mut case = case(&[audited(1, 1), audit_of(1, 2, 2), suspect, audit_of(3, 4, 2)]);
    found(&mut case, 1, 1, 2, None);
    found(&mut case, 2, 3, 4, None);
    run(&mut case);
    assert_eq!((case.shard(ShardId(3)).state, case.shard(ShardId(3)).audited_games), (Validated, 10));
    case.decided(AccountId(2), true);
    run(&mut case);
    assert_eq!(states(&case), [Validated, Quarantined, Quarantined, Quarantined]);
    let one = case.shard(ShardId(1));
    assert_eq!((one.audited_games, one.audit), (0, AuditState::Wanted));
}

#[test]
fn a_shard_without_a_verdict_returns_as_received() {
    let waiting = ShardEvidence { state: Quarantined, is_validated: false, ..shard(1, 1) };
    let gone = ShardEvidence { object: ObjectState::Expired, ..shard(3, 2) };
    let mut case = case(&[waiting, shard(2, 2), gone]);
    add(&mut case, 1, 1, 2);
    add(&mut case, 2, 1, 3);
    run(&mut case);
    case.decided(AccountId(1), false);
    run(&mut case);
    assert_eq!(states(&case), [ShardState::Received, Validated, Validated]);
    let state = |id| case.comparison(ComparisonId(id)).state;
    assert_eq!((state(1), state(2)), (ComparisonState::Waiting, ComparisonState::Void), "its bytes are gone");
}

/// A random shard: its account, first game, number of games, and whether it has a wrong game.
type Draft = (i64, i64, i64, bool, u8);

/// A world: its shards, the comparisons that were made, and an account that is quarantined by hand.
fn world() -> impl Strategy<Value = (Vec<Draft>, Vec<bool>, Option<i64>, Vec<usize>)> {
    let draft = (1..5_i64, 0..8_i64, 1..9_i64, prop::bool::weighted(0.2), any::<u8>());
    let results = prop::collection::vec(prop::bool::weighted(0.8), 40);
    let picks = prop::collection::vec(any::<usize>(), 300);
    (prop::collection::vec(draft, 2..9), results, prop::option::of(1..4_i64), picks)
}

/// Builds a case of a world; `order` permutes rows and findings.
fn build(drafts: &[Draft], results: &[bool], by_hand: Option<i64>, order: &[usize]) -> Case {
    let shards: Vec<ShardEvidence> = drafts
        .iter()
        .enumerate()
        .map(|(index, &(account, first, games, is_wrong, how))| {
            let id = index as i64 + 1;
            let account = if account == 4 { JUDGE.0 } else { account };
            let audited = ShardId(1 + i64::from(how) % drafts.len() as i64);
            let numbers = first..first + games;
            // A referee played one of its games again, and it was right.
            let checked = first + i64::from(how >> 4) % games;
            let checked_game = (how & 8 > 0 && !(is_wrong && checked == first)).then_some(checked);
            let row = match how % 3 {
                0 => ShardEvidence { numbers, audit: AuditState::Wanted, ..shard(id, account) },
                1 => ShardEvidence { numbers, ..audit_of(audited.0, id, account) },
                _ => ShardEvidence { numbers, kind: LeaseKind::Settle, ..shard(id, account) },
            };
            ShardEvidence { checked_game, ..row }
        })
        .collect();
    let mut rows: Vec<usize> = (0..shards.len()).collect();
    rows.sort_by_key(|row| order[*row % order.len()]);
    let mut case = case(&rows.iter().map(|row| shards[*row].clone()).collect::<Vec<_>>());
    let mut pairs = Vec::new();
    for (left, one) in shards.iter().enumerate() {
        for (right, other) in shards.iter().enumerate().skip(left + 1) {
            let shared = common(&one.numbers, &other.numbers);
            if !shared.is_empty() {
                // The first game of a wrong shard is wrong, in a way of its own.
                let wrong = |index: usize| drafts[index].3 && drafts[index].0 != 4;
                let starts = [(left, one), (right, other)].into_iter().filter(|(index, _)| wrong(*index));
                let differs = starts.map(|(_, shard)| shard.numbers.start).filter(|game| shared.contains(game));
                let is_known = |game: &i64| one.checked_game == Some(*game) || other.checked_game == Some(*game);
                let differs = differs.min_by_key(|game| (!is_known(game), *game));
                pairs.push((left as i64 + 1, right as i64 + 1, differs));
            }
        }
    }
    for (index, (left, right, _)) in pairs.iter().enumerate() {
        add(&mut case, index as i64 + 1, *left, *right);
    }
    let mut found: Vec<usize> = (0..pairs.len()).filter(|index| results[index % results.len()]).collect();
    found.sort_by_key(|index| order[*index % order.len()]);
    for index in found {
        case.compared(ComparisonId(index as i64 + 1), pairs[index].2);
    }
    if let Some(account) = by_hand {
        case.decided(AccountId(account), true);
    }
    case
}

fn check(case: &Case) {
    let mut clean = BTreeMap::new();
    for shard in case.shards.values().filter(|shard| shard.audited_games > 0) {
        *clean.entry(shard.account).or_default() += shard.audited_games;
    }
    assert_eq!(case.gains, clean);
    for shard in case.shards.values() {
        let verified: i64 = case.verified(shard.id).into_iter().map(|range| range.end - range.start).sum();
        assert_eq!(shard.audited_games, verified, "{shard:?}");
        assert_eq!(shard.state == Disputed, case.is_disputed(shard.id) && shard.state.is_in_pool(), "{shard:?}");
        assert!(shard.state != Disputed || !case.distrusted.contains(&shard.account), "{shard:?}");
        let is_enough = audits::is_enough(shard.numbers.end - shard.numbers.start, verified);
        assert!(is_enough || shard.audit != AuditState::Clean, "{shard:?}");
    }
    for row in case.comparisons.values() {
        let is_out = case.is_out(row.left) || case.is_out(row.right);
        assert!(!is_out || row.state != ComparisonState::Waiting, "{row:?}");
        if row.state == ComparisonState::Settled
            && let Some(outvoted) = row.game.and_then(|game| case.outvoted(row, game))
        {
            assert_eq!(outvoted.state, Quarantined, "{row:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The end state depends neither on the order of rows and findings nor on that of transitions.
    #[test]
    fn any_order_of_evidence_has_the_same_end((drafts, results, by_hand, picks) in world()) {
        let mut first = build(&drafts, &results, by_hand, &[0]);
        run(&mut first);
        check(&first);
        let mut second = build(&drafts, &results, by_hand, &picks);
        let mut next = picks.iter().cycle();
        settle(&mut second, |count| next.next().expect("it is endless") % count);
        prop_assert_eq!(first, second);
    }

    /// A review in steps has the same end as one of all shards at once. A dispute may be settled
    /// before its step, so a proven shard may stay.
    #[test]
    fn a_review_in_steps_has_the_same_end((drafts, results, by_hand, _) in world(), limit in 1..4_usize) {
        let mut first = build(&drafts, &results, by_hand, &[0]);
        let mut second = first.clone();
        run(&mut first);
        settle_in_steps(&mut second, limit);
        check(&second);
        for (one, other) in first.shards.values().zip(second.shards.values()) {
            prop_assert_eq!(one.audited_games, other.audited_games);
            let is_settled = (one.state, other.state) == (Quarantined, Validated) && other.is_verified();
            prop_assert!(one.state == other.state || is_settled, "{:?} {:?}", one, other);
        }
        prop_assert_eq!(first.gains, second.gains);
    }

    /// Without disputes, the end of a quarantine by hand undoes it.
    #[test]
    fn a_lifted_quarantine_leaves_no_trace((drafts, results, _, _) in world(), account in 1..4_i64) {
        let honest: Vec<Draft> = drafts.iter().map(|&(account, first, games, _, how)| (account, first, games, false, how)).collect();
        let mut case = build(&honest, &results, None, &[0]);
        run(&mut case);
        let before = case.clone();
        case.decided(AccountId(account), true);
        run(&mut case);
        for shard in case.shards.values().filter(|shard| shard.account.0 == account) {
            prop_assert_eq!(shard.state, if shard.is_verified() { Validated } else { Quarantined });
        }
        case.decided(AccountId(account), false);
        run(&mut case);
        let audits = |case: &Case| case.shards.values().map(|shard| (shard.state, shard.audited_games)).collect::<Vec<_>>();
        prop_assert_eq!(audits(&case), audits(&before));
        prop_assert_eq!(case.comparisons, before.comparisons);
    }
}
