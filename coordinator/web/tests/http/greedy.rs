//! Accounts that take more than their share of gates, audits and checks.

use coordinator_core::{objects::Kind, ops::disputes::ClaimUnchecked};
use dataset::{Header, random::game_seed};
use protocol::{
    BENCH_SIGNATURE,
    api::{
        problem::Code,
        work::{Lease, Role, Work},
    },
};
use reqwest::StatusCode;
use serde_json::json;

use crate::{
    bench::{Bench, CAMPAIGN, play, problem, shard},
    dishonest::Player,
    hostile::{gate, grab},
    refereed::forged,
};

/// Bounds that a test of equal nets does not reach soon.
const LONG: &str = "elo0 = 0.0\nelo1 = 5.0\nmost_pairs = 2000";

async fn endless(bench: &Bench) {
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
}

/// A bench with an upload of bob, and then eve's token and worker.
async fn after_bob() -> (Bench, String, i64) {
    let bench = Bench::start().await;
    endless(&bench).await;
    assert!(Player::new(&bench, "bob").await.work(&bench, play).await);
    let eve = bench.account("eve", Role::Volunteer).await;
    let worker = bench.worker(&eve, "m").await;
    (bench, eve, worker)
}

async fn prove_all(bench: &Bench) {
    bench.execute("UPDATE accounts SET proven_nodes = 1000000000000".to_owned()).await;
}

/// One game more in each upload: all of them would be compared and audited.
#[tokio::test]
async fn uploads_of_a_lease_hardly_overlap() {
    let bench = Bench::start().await;
    endless(&bench).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let worker = bench.worker(&eve, "m").await;
    let Work::Games(lease) = grab(&bench, &eve, worker, "1").await else { panic!("no games") };
    let records = play(&lease.terms, lease.games.min(20));
    let mut taken = Vec::new();
    for games in 1..=records.len() {
        let answer = bench.upload(&eve, &lease, shard(&lease.terms, &records[..games])).await;
        if answer.status() == StatusCode::CREATED {
            taken.push(games);
        } else {
            problem(answer, Code::Conflict).await;
        }
    }
    assert_eq!(taken, [1, 2, 3, 6, 12]);
}

/// Accounts that only register a worker stop no gate of three others.
#[tokio::test]
async fn idle_accounts_stop_no_gate() {
    let bench = Bench::start().await;
    gate(&bench, LONG).await;
    let mut players = Vec::new();
    for name in ["ann", "bob", "cat"] {
        players.push(Player::new(&bench, name).await);
    }
    prove_all(&bench).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let frontier = "SELECT frontier FROM jobs WHERE kind = 'match'";
    for _ in 0..60 {
        bench.register(&eve, "m").await;
        bench.draw_auditors().await;
        for player in &mut players {
            player.work(&bench, play).await;
        }
        bench.validate().await;
        if bench.number(frontier).await > 200 {
            return;
        }
    }
    panic!("it stands at game {}", bench.number(frontier).await);
}

/// A gate in a fleet of ann and three other accounts with proven work. Returns her token and
/// worker.
async fn gate_of_four() -> (Bench, String, i64) {
    let bench = Bench::start().await;
    gate(&bench, LONG).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let own = bench.worker(&ann, "m").await;
    for name in ["bob", "cat", "dan"] {
        let token = bench.account(name, Role::Volunteer).await;
        for number in 0..3 {
            bench.worker(&token, &format!("m{number}")).await;
        }
    }
    prove_all(&bench).await;
    // In a fleet of so many workers, none waits for a verdict.
    bench
        .execute(
            "INSERT INTO leases (token, job, worker, account, nonce, kind, state, first, games, duration, created, expires)
             SELECT 'done ' || id, 1, id, account, '', 'fresh', 'done', 0, 0, 0, 0, 0 FROM workers"
                .to_owned(),
        )
        .await;
    bench.draw_auditors().await;
    (bench, ann, own)
}

/// Other accounts with proven work may be there and ask for no games of a gate.
#[tokio::test]
async fn a_gate_that_others_leave_alone_is_for_any() {
    let (bench, ann, own) = gate_of_four().await;
    let is_gate = |work: &Work| matches!(work, Work::Games(lease) if lease.terms.opponent.is_some());
    let mut games = 0;
    for number in 0..20 {
        if let Work::Games(lease) = grab(&bench, &ann, own, &format!("{number}")).await
            && lease.terms.opponent.is_some()
        {
            games += lease.games;
        }
    }
    assert_eq!(games, 32, "leases in progress are a part of its share");
    bench.clock.advance(60_001);
    assert!(is_gate(&grab(&bench, &ann, own, "later").await));
    assert!(!is_gate(&grab(&bench, &ann, own, "at once").await));
}

/// The rest of a share may be half a pair. No worker would play such a lease, nor any after it.
#[tokio::test]
async fn a_share_of_a_gate_has_whole_pairs() {
    let (bench, ann, own) = gate_of_four().await;
    bench.execute("UPDATE jobs SET frontier = 98 WHERE kind = 'match'".to_owned()).await;
    let mut leases = Vec::new();
    for number in 0..20 {
        if let Work::Games(lease) = grab(&bench, &ann, own, &format!("{number}")).await
            && lease.terms.opponent.is_some()
        {
            leases.push((lease.terms.first_game, lease.games));
        }
    }
    assert!(leases.iter().all(|(first, games)| first % 2 == 0 && games % 2 == 0), "{leases:?}");
    let games: u64 = leases.iter().map(|(_, games)| games).sum();
    assert!((46..=50).contains(&games), "a third of all: {games} of {}", 98 + games);
}

/// Workers that have played nothing are names: leases are not sized to them.
#[tokio::test]
async fn registered_workers_make_no_leases_larger() {
    let bench = Bench::start().await;
    gate(&bench, LONG).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let mut own = 0;
    for number in 0..40 {
        own = bench.worker(&eve, &format!("m{number}")).await;
    }
    prove_all(&bench).await;
    bench.draw_auditors().await;
    let Work::Games(lease) = grab(&bench, &eve, own, "1").await else { panic!("no games") };
    assert_eq!((lease.games, lease.terms.opponent.is_some()), (8, true), "a batch");
}

/// An auditor that claims to be slow, and renews as long as it may.
#[tokio::test]
async fn an_audit_lasts_an_hour_at_most() {
    let (bench, eve, hers) = after_bob().await;
    bench.validate().await;
    bench.execute("UPDATE shards SET audit = 'wanted'; UPDATE jobs SET nodes_per_game = 5000000".to_owned()).await;
    bench.draw_auditors().await;
    let audit = bench.lease(&eve, hers, "1").await;
    assert_eq!(audit.seconds, 20 * 60);
    let mut minutes = 0;
    while bench.number("SELECT COUNT(*) FROM shards WHERE audit = 'leased'").await == 1 {
        bench.clock.advance(60_000);
        minutes += 1;
        let renewal = json!({ "finished": minutes.min(audit.games) });
        bench.post(&format!("/api/v1/leases/{}/renewal", audit.token), &eve, &renewal).await;
        bench.step().await;
        assert!(minutes <= 61, "it is held for longer");
    }
    assert_eq!(bench.number("SELECT faults FROM accounts WHERE name = 'eve'").await, 1);
}

/// Small uploads of one account do not keep a referee from others: each account is as likely.
#[tokio::test]
async fn a_referee_draws_the_account_that_it_checks() {
    let (bench, eve, hers) = after_bob().await;
    let Work::Games(many) = grab(&bench, &eve, hers, "1").await else { panic!("no games") };
    let records = play(&many.terms, 10);
    for (game, record) in records.chunks(1).enumerate() {
        let terms = Header { first_game: many.terms.first_game + game as u64, ..many.terms.clone() };
        let answer = bench.upload_at(&eve, &many, terms.first_game, shard(&terms, record)).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
    }
    bench.validate().await;
    let mut of_bob = 0;
    for draw in 0..200 {
        // Others may claim it again at once.
        let until = bench.clock.now().after(-1);
        let claim = ClaimUnchecked { draw: game_seed(1, draw), bench_signature: BENCH_SIGNATURE, limit: 1, until };
        let claimed = bench.service.run(claim).await.unwrap();
        of_bob += usize::from(claimed[0].games.start == 0);
    }
    assert!((70..=130).contains(&of_bob), "{of_bob} of 200 checks, for one of eleven uploads");
}

/// Games of gates are checked before later ones of self-play.
#[tokio::test]
async fn a_referee_checks_gates_first() {
    let bench = Bench::start().await;
    gate(&bench, LONG).await;
    assert!(Player::new(&bench, "ann").await.work(&bench, play).await);
    bench.execute("UPDATE jobs SET state = 'paused' WHERE kind = 'match'".to_owned()).await;
    for name in ["bob", "cat", "dan"] {
        assert!(Player::new(&bench, name).await.work(&bench, play).await);
    }
    bench.validate().await;
    for draw in 0..20 {
        let until = bench.clock.now().after(-1);
        let claim = ClaimUnchecked { draw: game_seed(1, draw), bench_signature: BENCH_SIGNATURE, limit: 1, until };
        assert!(bench.service.run(claim).await.unwrap()[0].header.opponent.is_some(), "draw {draw}");
    }
}

/// Refused uploads leave no file.
#[tokio::test]
async fn refused_uploads_fill_no_disk() {
    let bench = Bench::start().await;
    endless(&bench).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let worker = bench.worker(&eve, "m").await;
    let lease = bench.lease(&eve, worker, "1").await;
    let mut records = play(&lease.terms, lease.games.min(8));
    let first = shard(&lease.terms, &records);
    assert_eq!(bench.upload(&eve, &lease, first.clone()).await.status(), StatusCode::CREATED);
    for score in 1..6 {
        records[0].moves[0].score = Some(score);
        problem(bench.upload(&eve, &lease, shard(&lease.terms, &records)).await, Code::Conflict).await;
    }
    assert_eq!(bench.upload(&eve, &lease, first).await.status(), StatusCode::OK, "a repetition");
    let files = bench.service.objects.older_than(Kind::Shard, i64::MAX).await.unwrap();
    assert_eq!(files.len(), 1);
}

/// Games that are given back go to others, and holding them costs proven work.
#[tokio::test]
async fn games_that_are_given_back_again_and_again_are_played_by_others() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 20_000")).await;
    let (eve, mut ann) = (bench.account("eve", Role::Volunteer).await, Player::new(&bench, "ann").await);
    let hers = bench.worker(&eve, "m").await;
    bench.execute("UPDATE accounts SET proven_nodes = 5760000000".to_owned()).await;
    bench.draw_auditors().await;
    let (mut nonce, mut held, mut played) = (0, Vec::<Lease>::new(), 0);
    for _ in 0..10 {
        for lease in held.drain(..) {
            let back = json!({ "from": lease.terms.first_game });
            let path = format!("/api/v1/leases/{}/giving-back", lease.token);
            assert!(bench.post(&path, &eve, &back).await.status().is_success());
        }
        loop {
            nonce += 1;
            let Work::Games(lease) = grab(&bench, &eve, hers, &nonce.to_string()).await else { break };
            held.push(lease);
        }
        for _ in 0..11 {
            bench.clock.advance(10_000);
            played += i32::from(ann.work(&bench, play).await);
            bench.validate().await;
        }
    }
    assert!(played > 20, "{played} uploads of another account");
    assert!(bench.number("SELECT proven_nodes FROM accounts WHERE name = 'eve'").await < 5_760_000_000);
}

/// The minutes until a training begins, while another account does something in each of them. One
/// in so many uploads is to be audited.
async fn minutes_until_training(audited: i64, each_minute: impl AsyncFn(&Bench, &str, i64)) -> i64 {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 2_000")).await;
    let mut ann = Player::new(&bench, "ann").await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let mut minutes = 0;
    while bench.number("SELECT COUNT(*) FROM trainings").await == 0 && minutes < 150 {
        each_minute(&bench, &eve, minutes).await;
        ann.work(&bench, play).await;
        bench.validate().await;
        let audits = format!("CASE WHEN id % {audited} = 0 THEN 'wanted' ELSE 'none' END");
        bench.execute(format!("UPDATE shards SET audit = {audits} WHERE auditor_until = 0")).await;
        bench.draw_auditors().await;
        bench.clock.advance(60_000);
        bench.step().await;
        minutes += 1;
    }
    minutes
}

/// A name that registers a worker now and then, and asks for nothing.
#[tokio::test]
async fn a_name_alone_holds_up_no_training() {
    let register = async |bench: &Bench, eve: &str, minute: i64| {
        if minute % 9 == 0 {
            bench.register(eve, "m").await;
        }
    };
    let minutes = minutes_until_training(1, register).await;
    assert!(minutes < 60, "{minutes} minutes");
}

/// An account that seems to ask for games, and plays no audit. Others play more games meanwhile.
#[tokio::test]
async fn audits_that_are_not_played_hold_up_no_training() {
    let ask = async |bench: &Bench, eve: &str, _: i64| {
        bench.worker(eve, "m").await;
    };
    let minutes = minutes_until_training(2, ask).await;
    assert!(minutes < 60, "{minutes} minutes");
}

/// Almost all that it may borrow is lent to it, and less than the audit is left.
#[tokio::test]
async fn an_account_that_is_to_audit_gets_no_new_games() {
    let (bench, eve, worker) = after_bob().await;
    bench.validate().await;
    grab(&bench, &eve, worker, "1").await;
    bench.execute(format!("UPDATE leases SET games = games - 1 WHERE worker = {worker}")).await;
    bench.execute("UPDATE shards SET audit = 'wanted', auditor_until = 0".to_owned()).await;
    bench.draw_auditors().await;
    let Work::Wait { reason, .. } = grab(&bench, &eve, worker, "2").await else { panic!("it gets games") };
    assert!(reason.contains("as soon as those that it sent are validated"), "{reason}");
    bench.execute("UPDATE shards SET audit = 'none', auditor = NULL".to_owned()).await;
    let Work::Games(lease) = grab(&bench, &eve, worker, "3").await else { panic!("no games") };
    assert_eq!(lease.games, 1, "without an audit it gets what is left");
}

/// The share that was delivered counts, and not the one that was promised.
#[tokio::test]
async fn a_release_is_a_fault_if_little_was_delivered() {
    let bench = Bench::start().await;
    endless(&bench).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&ann, "m").await;
    let proven = "SELECT proven_nodes FROM accounts WHERE name = 'ann'";
    bench.execute("UPDATE accounts SET proven_nodes = 5760000000".to_owned()).await;
    for (nonce, missing) in [("1", 3..4), ("2", 1..40)] {
        let Work::Games(lease) = grab(&bench, &ann, worker, nonce).await else { panic!("no games") };
        let (first, before) = (lease.terms.first_game, bench.number(proven).await);
        bench.execute(format!("UPDATE leases SET games = 40 WHERE first = {first}")).await;
        bench
            .execute(format!(
                "UPDATE segments SET games = 40 WHERE first = {first}; UPDATE jobs SET frontier = {first} + 40"
            ))
            .await;
        let records = play(&lease.terms, 40);
        let parts = [0..missing.start, missing.end..40];
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let terms = Header { first_game: first + part.start, ..lease.terms.clone() };
            let file = shard(&terms, &records[part.start as usize..part.end as usize]);
            assert_eq!(bench.upload_at(&ann, &lease, terms.first_game, file).await.status(), StatusCode::CREATED);
        }
        bench.clock.advance(60_000);
        let path = format!("/api/v1/leases/{}/giving-back", lease.token);
        assert!(bench.post(&path, &ann, &json!({ "from": first + missing.start })).await.status().is_success());
        assert_eq!(bench.number(proven).await < before, missing.end - missing.start > 1, "{missing:?}");
    }
}

/// Gives a lease back from a game on.
async fn give_back(bench: &Bench, token: &str, lease: &Lease, from: u64) {
    let path = format!("/api/v1/leases/{}/giving-back", lease.token);
    assert!(bench.post(&path, token, &json!({ "from": from })).await.status().is_success());
}

/// A release and the end of its lease do not both cost the same games.
#[tokio::test]
async fn each_missing_game_is_paid_for_once() {
    let (bench, eve, worker) = after_bob().await;
    let costs = "UPDATE accounts SET proven_nodes = 5760000000; UPDATE jobs SET nodes_per_game = 5000000";
    bench.execute(costs.to_owned()).await;
    let Work::Games(lease) = grab(&bench, &eve, worker, "1").await else { panic!("no games") };
    let (games, first) = (lease.games as i64, lease.terms.first_game);
    assert!(games > 20, "{games}");
    let paid = async || {
        let proven = bench.number("SELECT proven_nodes FROM accounts WHERE name = 'eve'").await;
        (5_760_000_000 - proven) / 5_000_000
    };
    for (from, missing) in [(first + 2, games - 2), (first + 2, games - 2), (first + 1, games - 1)] {
        give_back(&bench, &eve, &lease, from).await;
        assert_eq!(paid().await, missing, "the others follow");
    }
    bench.clock.advance(60 * 60_000);
    bench.step().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE state = 'active'").await, 0);
    assert_eq!(paid().await, games, "the last one lapsed");
}

/// Each lease is kept, also one that is given back at once.
#[tokio::test]
async fn leases_given_back_at_once_are_few() {
    let (bench, eve, worker) = after_bob().await;
    for number in 0..30 {
        if let Work::Games(lease) = grab(&bench, &eve, worker, &number.to_string()).await {
            give_back(&bench, &eve, &lease, lease.terms.first_game).await;
        }
        bench.clock.advance(1_000);
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE state = 'returned'").await, 3);
}

/// A part of an audit was played, and the rest is given back: others play it at once.
#[tokio::test]
async fn the_rest_of_an_audit_is_for_others_at_once() {
    let (bench, eve, worker) = after_bob().await;
    bench.validate().await;
    bench.execute("UPDATE shards SET audit = 'wanted'".to_owned()).await;
    bench.draw_auditors().await;
    let audit = bench.lease(&eve, worker, "1").await;
    assert!(audit.games > 1);
    let part = shard(&audit.terms, &play(&audit.terms, 1));
    assert_eq!(bench.upload(&eve, &audit, part).await.status(), StatusCode::CREATED);
    give_back(&bench, &eve, &audit, audit.terms.first_game + 1).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE state = 'active'").await, 0);
}

/// Whether the first pair of the gate was delivered.
async fn has_first_pair(bench: &Bench) -> bool {
    let held = "SELECT COUNT(*) FROM segments JOIN jobs ON jobs.id = segments.job
                WHERE kind = 'match' AND segments.first = 0 AND segments.state = 'held'";
    bench.number(held).await == 1
}

/// The seconds until the first pair of a gate is there. Six accounts take it in turn, each of them
/// as soon as it may. Another one asks just after each.
async fn seconds_until_the_first_pair(is_given_back: bool) -> i64 {
    let bench = Bench::start().await;
    gate(&bench, LONG).await;
    let mut ann = Player::new(&bench, "ann").await;
    let mut seconds = 0;
    for turn in 1..=9 {
        let eve = bench.account(&format!("eve{turn}"), Role::Volunteer).await;
        let worker = bench.worker(&eve, "m").await;
        let held = if turn <= 6 { Some(bench.lease(&eve, worker, "1").await) } else { None };
        assert!(held.iter().all(|lease| lease.terms.first_game == 0));
        ann.work(&bench, play).await;
        bench.validate().await;
        if has_first_pair(&bench).await {
            return seconds;
        }
        // Until it is late, or contested.
        let pause = if turn < 3 && !is_given_back { 5 * 60 + 1 } else { 11 };
        bench.clock.advance(pause * 1_000);
        seconds += pause;
        bench.step().await;
        if let Some(lease) = held.filter(|_| is_given_back) {
            give_back(&bench, &eve, &lease, 0).await;
        }
    }
    panic!("it is held on and on");
}

#[tokio::test]
async fn accounts_that_hold_a_pair_in_turn_stop_no_gate() {
    assert_eq!(seconds_until_the_first_pair(false).await, 2 * 301 + 4 * 11);
    assert_eq!(seconds_until_the_first_pair(true).await, 6 * 11);
}

/// Two accounts give a batch of pairs back, so that it is contested. Others do not all play it.
#[tokio::test]
async fn contested_pairs_are_not_for_all_at_once() {
    let bench = Bench::start().await;
    gate(&bench, LONG).await;
    let mut lent = Vec::new();
    for (round, names) in
        [["eve", "eva"].as_slice(), &["ann", "bob", "cat", "dan"], &["fay", "gus", "hal"]].iter().enumerate()
    {
        for name in *names {
            let token = bench.account(name, Role::Volunteer).await;
            let worker = bench.worker(&token, "m").await;
            let Work::Games(lease) = grab(&bench, &token, worker, "1").await else { continue };
            if round == 0 {
                assert_eq!((lease.terms.first_game, lease.games), (0, 8));
                give_back(&bench, &token, &lease, 0).await;
            } else {
                lent.push((round, lease.terms.first_game, lease.games));
            }
        }
        bench.clock.advance(11_000);
    }
    assert_eq!(lent, [(1, 0, 8), (1, 8, 8), (2, 0, 2), (2, 2, 2), (2, 4, 2)]);
}

/// However much an account has proven, audits that it leaves go to others.
#[tokio::test]
async fn an_account_that_left_an_audit_is_drawn_for_no_other() {
    let (bench, eve, worker) = after_bob().await;
    bench.validate().await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let own = bench.worker(&ann, "m").await;
    bench.execute("UPDATE accounts SET proven_nodes = 1000000000000000 WHERE name = 'eve'".to_owned()).await;
    bench.execute("UPDATE shards SET audit = 'wanted', auditor_until = 0".to_owned()).await;
    bench.draw_auditors().await;
    let is_eve = "SELECT COUNT(*) FROM shards WHERE auditor = (SELECT id FROM accounts WHERE name = 'eve')";
    assert_eq!(bench.number(is_eve).await, 1, "she has almost all of the proven work");
    bench.lease(&eve, worker, "1").await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE kind = 'audit'").await, 1);
    bench.clock.advance(21 * 60_000);
    for (token, worker) in [(&eve, worker), (&ann, own)] {
        bench.ask(token, worker, "2").await;
    }
    for _ in 0..3 {
        bench.draw_auditors().await;
    }
    assert_eq!(bench.number(is_eve).await, 0);
}

/// A thousand workers of an account are names as long as it has proven nothing.
#[tokio::test]
async fn names_of_workers_make_no_waits_longer() {
    let (bench, _, worker) = after_bob().await;
    bench
        .execute(format!(
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
             INSERT INTO workers (account, name, version, bench_signature, threads, memory_mebibytes, system,
                                  instruction_set, created, last_seen, asked)
             SELECT account, 'n' || n, version, bench_signature, threads, memory_mebibytes, system,
                    instruction_set, created, last_seen, asked FROM numbers, workers WHERE id = {worker}"
        ))
        .await;
    bench.draw_auditors().await;
    assert_eq!(bench.service.policy().fleet.workers, 2, "bob's and one of eve's");
    bench.campaign(&CAMPAIGN.replacen("quick", "later", 1)).await;
    assert_eq!(bench.number("SELECT MAX(spread) FROM jobs").await, 20, "milliseconds");
}

/// A late forged upload takes no honest game out of a training set, nor does it come in.
#[tokio::test]
async fn a_late_upload_under_comparison_is_in_no_training_set() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    bench.execute("UPDATE campaigns SET wanted_positions = 100".to_owned()).await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    let (hers, own) = (bench.worker(&eve, "m").await, bench.worker(&ann, "m").await);
    let late = bench.lease(&eve, hers, "1").await;
    bench.clock.advance(16 * 60_000);
    bench.step().await;
    let lease = bench.lease(&ann, own, "1").await;
    assert_eq!(lease.terms.first_game, late.terms.first_game);
    assert_eq!(
        bench.upload(&ann, &lease, shard(&lease.terms, &play(&lease.terms, 3))).await.status(),
        StatusCode::CREATED
    );
    bench.validate().await;
    let lie = forged(&play(&late.terms, 4));
    assert_eq!(bench.upload(&eve, &late, shard(&late.terms, &lie)).await.status(), StatusCode::CREATED);
    // A validator has claimed the comparison, and is gone.
    bench.execute("UPDATE comparisons SET claimed_until = 1900000000000".to_owned()).await;
    bench.validate().await;
    bench.execute("UPDATE shards SET audit = 'none'".to_owned()).await;
    bench.step().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM manifests").await, 0, "the comparison is waited for");
    bench.execute("UPDATE comparisons SET claimed_until = 0".to_owned()).await;
    bench.validate().await;
    bench.step().await;
    let of_eve = "SELECT COUNT(*) FROM shards, manifest_parts WHERE shards.id = 2 AND instr(text, hash) > 0";
    assert_eq!(bench.number(of_eve).await, 0);
}

/// A maintainer changes nothing of an administrator, nor of its workers.
#[tokio::test]
async fn a_maintainer_blocks_no_workers_of_an_administrator() {
    let bench = Bench::start().await;
    let (boss, mei) = (bench.account("boss", Role::Admin).await, bench.account("mei", Role::Maintainer).await);
    let worker = bench.worker(&boss, "m").await;
    let block = json!({ "message": "go" });
    for (path, body) in [("block", &block), ("trust", &json!({ "trusted": true }))] {
        let path = format!("/api/v1/workers/{worker}/{path}");
        problem(bench.post(&path, &mei, body).await, Code::Forbidden).await;
        assert!(bench.post(&path, &boss, body).await.status().is_success(), "{path}");
    }
}
