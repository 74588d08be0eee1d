//! The referee beside a coordinator: disputes end with no trusted worker, and anyone verifies why.

use dataset::{Digest, Header, Record};
use engine::Evaluation;
use nnue::Kernel;
use protocol::api::{problem::Code, work::Role};
use referee::Referee;
use reqwest::{Method, StatusCode};
use selfplay::{
    certificate::{Certificate, Forgery},
    selfplay::Run,
};

use crate::{
    bench::{Bench, CAMPAIGN, play, problem, read, shard},
    dishonest::Player,
    hostile::{EASY, gate},
    paging::Visitor,
};

pub(crate) fn referee(bench: &Bench) -> Referee {
    let service = &bench.service;
    Referee::new(service.store.clone(), service.objects.clone(), bench.clock.clone(), Kernel::from_env().unwrap())
}

/// Games with scores of no search: legal, and a replay shows nothing.
pub(crate) fn forged(records: &[Record]) -> Vec<Record> {
    let mut records = records.to_vec();
    for scored in records.iter_mut().flat_map(|record| &mut record.moves) {
        scored.score = scored.score.map(|score| score + 1);
    }
    records
}

async fn certificate(bench: &Bench, ruling: u32) -> Certificate {
    read(bench.request(Method::GET, &format!("/api/v1/rulings/{ruling}"), "").send().await.unwrap()).await
}

/// A figure of the price of trust, as maintainers see it.
async fn costs(bench: &Bench, boss: &str, name: &str) -> i64 {
    let report: serde_json::Value = read(bench.request(Method::GET, "/api/v1/trust", boss).send().await.unwrap()).await;
    report[name].as_i64().unwrap()
}

#[tokio::test]
async fn a_dispute_is_settled_without_trusted_workers() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    let (lying, honest) = (bench.worker(&eve, "m").await, bench.worker(&ann, "m").await);
    let lease = bench.lease(&eve, lying, "1").await;
    let lies = shard(&lease.terms, &forged(&play(&lease.terms, lease.games)));
    assert_eq!(bench.upload(&eve, &lease, lies.clone()).await.status(), StatusCode::CREATED);
    bench.validate().await;
    bench.execute("UPDATE shards SET audit = 'wanted', checked = 1".to_owned()).await;
    bench.draw_auditors().await;
    let again = bench.lease(&ann, honest, "1").await;
    let truth = shard(&again.terms, &play(&again.terms, again.games));
    assert_eq!(bench.upload(&ann, &again, truth.clone()).await.status(), StatusCode::CREATED);
    bench.validate().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'disputed'").await, 2);
    let boss = bench.account("boss", Role::Maintainer).await;
    assert_eq!(costs(&bench, &boss, "disputed").await, (lease.games + again.games) as i64);
    assert_eq!((costs(&bench, &boss, "jobs").await, costs(&bench, &boss, "jobs_with_referee").await), (1, 0));

    assert!(referee(&bench).step().await.unwrap());
    assert_eq!(costs(&bench, &boss, "quarantined").await, lease.games as i64);
    for (name, count) in [("disputed", 0), ("rulings", 1), ("jobs", 1), ("jobs_with_referee", 1)] {
        assert_eq!(costs(&bench, &boss, name).await, count, "{name}");
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE state = 'quarantined' AND name = 'eve'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, 1);
    let ruling = certificate(&bench, 1).await;
    let run = Run::from_header(&ruling.header, Evaluation::Plain, None, None).unwrap();
    assert_eq!(ruling.verify(&run, &mut run.players()), Ok(()));
    assert_eq!(ruling.verdict().collect::<Vec<_>>(), [false, true]);
    for bytes in [lies, truth] {
        let record = dataset::shard::Shard::new(&bytes[..]).unwrap().game(ruling.game).unwrap();
        assert_eq!(ruling.verify_claim(Digest::of(&bytes), &record), Ok(()));
    }
    let forged = Certificate { right: ruling.claims[0].clone(), ..ruling };
    assert!(matches!(forged.verify(&run, &mut run.players()), Err(Forgery::Wrong { .. })));
    let none = bench.request(Method::GET, "/api/v1/rulings/2", "").send().await.unwrap();
    problem(none, Code::NotFound).await;
}

#[tokio::test]
async fn an_idle_referee_checks_each_upload() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    let referee = referee(&bench);
    let workers = [(&ann, bench.worker(&ann, "m").await), (&eve, bench.worker(&eve, "m").await)];
    for (number, (token, worker)) in workers.into_iter().enumerate() {
        let lease = bench.lease(token, worker, "1").await;
        let mut records = play(&lease.terms, lease.games);
        if number == 1 {
            records = forged(&records);
        }
        assert_eq!(bench.upload(token, &lease, shard(&lease.terms, &records)).await.status(), StatusCode::CREATED);
    }
    bench.validate().await;
    assert!(referee.step().await.unwrap() && referee.step().await.unwrap());
    assert!(!referee.step().await.unwrap(), "each upload is checked once");
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE state = 'quarantined' AND name = 'eve'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE state = 'quarantined'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated' AND checked = 1").await, 1);
    let ruling = certificate(&bench, 1).await;
    let run = Run::from_header(&ruling.header, Evaluation::Plain, None, None).unwrap();
    assert_eq!((ruling.shards.len(), ruling.verify(&run, &mut run.players())), (1, Ok(())));
}

/// All games of a match are checked: no luck is needed.
#[tokio::test]
async fn one_forged_pair_of_a_gate_is_found() {
    let bench = Bench::start().await;
    gate(&bench, EASY).await;
    bench.execute("UPDATE jobs SET nodes_per_game = nodes_per_game / 4".to_owned()).await;
    let referee = referee(&bench);
    let with_forged_pair = |terms: &Header, games: u64| {
        let mut records = play(terms, games);
        assert!(records.len() >= 8, "a pair among several: {} games", records.len());
        let lies = forged(&records.split_off(records.len() - 2));
        records.extend(lies);
        records
    };
    assert!(Player::new(&bench, "ann").await.work(&bench, play).await);
    assert!(Player::new(&bench, "eve").await.work(&bench, with_forged_pair).await);
    bench.validate().await;
    while referee.step().await.unwrap() {}
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE state = 'quarantined'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE state = 'quarantined' AND name = 'eve'").await, 1);
    let forged = "SELECT COUNT(*) FROM rulings JOIN shards ON rulings.job = shards.job
                  WHERE shards.state = 'quarantined' AND rulings.game >= shards.first + shards.games - 2";
    assert_eq!(bench.number(forged).await, 1, "a game of the forged pair is ruled on");
    let known = "SELECT COUNT(*) FROM shards WHERE state = 'validated' AND checked = 1 AND checked_game >= first
                 AND checked_game < first + games";
    assert_eq!(bench.number(known).await, 1, "a game of the honest upload is known");
}

#[tokio::test]
async fn maintainers_see_the_price_of_trust() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let boss = bench.account("boss", Role::Maintainer).await;
    let (ann, bea) = (bench.account("ann", Role::Volunteer).await, bench.account("bea", Role::Volunteer).await);
    let mut games = Vec::new();
    for (token, worker) in [(&ann, bench.worker(&ann, "m").await), (&bea, bench.worker(&bea, "m").await)] {
        let lease = bench.lease(token, worker, "1").await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert_eq!(bench.upload(token, &lease, bytes).await.status(), StatusCode::CREATED);
        bench.validate().await;
        games.push(lease.games as i64);
        bench.execute("UPDATE shards SET audit = 'wanted' WHERE id = 1".to_owned()).await;
        bench.draw_auditors().await;
    }
    assert_eq!(costs(&bench, &boss, "validated").await, games[0] + games[1]);
    assert_eq!(costs(&bench, &boss, "replayed").await, games[1], "bea played games of ann again");
    assert_eq!(costs(&bench, &boss, "unchecked").await, 0, "without a referee none waits");
    let referee = referee(&bench);
    for waiting in [1, 0] {
        assert!(referee.step().await.unwrap());
        assert_eq!(costs(&bench, &boss, "unchecked").await, waiting);
    }
    // After ten minutes without a claim, the referee is gone.
    bench.clock.advance(11 * 60_000);
    assert_eq!(costs(&bench, &boss, "jobs_with_referee").await, 0);
    bench.execute("UPDATE accounts SET proven_nodes = 300 WHERE name = 'ann'".to_owned()).await;
    bench.execute("UPDATE accounts SET proven_nodes = 100 WHERE name = 'bea'".to_owned()).await;
    for (name, count) in [("accounts", 2), ("proven_nodes", 400), ("largest_nodes", 300)] {
        assert_eq!(costs(&bench, &boss, name).await, count, "{name}");
    }
    for (language, text) in [("en", "75.0\u{202f}%"), ("zh", "没有仲裁程序")] {
        let mut boss = Visitor::signed_in(&bench, language, Role::Maintainer).await;
        let page = boss.get(&format!("/{language}/admin/trust")).await.text;
        assert!(page.contains(text) && page.contains("33.3\u{202f}%"), "{page}");
    }
}

/// A game that no referee can play does not keep one from the others.
#[tokio::test]
async fn a_game_that_cannot_be_played_waits_for_a_day() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&ann, "m").await;
    let lease = bench.lease(&ann, worker, "1").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&ann, &lease, bytes).await.status(), StatusCode::CREATED);
    bench.validate().await;
    // Its net is gone.
    let net = "ab".repeat(32);
    bench
        .execute(format!("UPDATE jobs SET header = REPLACE(header, '\"rules\":', '\"net\":\"{net}\",\"rules\":')"))
        .await;
    let referee = referee(&bench);
    let why = referee.step().await.unwrap_err().to_string();
    assert!(why.contains(&net) && why.contains("no such object"), "{why}");
    bench.clock.advance(23 * 3_600_000);
    assert!(!referee.step().await.unwrap(), "after 23 hours");
    bench.clock.advance(3_600_001);
    assert!(referee.step().await.is_err(), "after a day");
}
