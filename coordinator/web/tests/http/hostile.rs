//! Clients that speak the protocol as they like: they cost others nothing but a bounded share. Each
//! test prints how far its client came.

use coordinator_core::{
    matches,
    model::{JobId, JobKind},
    ops::matches::CreateMatch,
    query,
    settings::Settings,
};
use dataset::{Header, Opponent, Record};
use protocol::{
    api::{
        path,
        problem::Code,
        work::{Answer, Ask, GiveBack, Lease, Role, Work},
    },
    campaign::Campaign,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use stats::Decision;

use crate::{
    bench::{Bench, CAMPAIGN, ask, machine, play, problem, read, settings, shard},
    dishonest::Player,
    refereed::{forged, referee},
};

/// Nodes that are lent to a stranger.
const STRANGER_NODES: i64 = 4_000_000;

/// Asks as the fastest machine there is.
pub(crate) async fn grab(bench: &Bench, token: &str, worker: i64, nonce: &str) -> Work {
    let greedy = Ask { threads: 512, nodes_per_second: Some(u64::MAX), most_seconds: None, ..ask(worker, nonce) };
    read::<Answer>(bench.post(path::LEASES, token, &greedy).await).await.work
}

/// One new account takes all games that it gets, lets them expire, and takes them again. Others
/// play on.
#[tokio::test]
async fn one_account_cannot_hold_all_games() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let honest = bench.worker(&ann, "machine").await;
    let (mut rounds_with_games, mut most, mut most_nodes) = (0, 0, 0);
    for round in 0..12 {
        let (mut held, cost) = (0, bench.number("SELECT nodes_per_game FROM jobs").await);
        for machine in 0..5 {
            let worker = bench.worker(&eve, &format!("m{machine}")).await;
            for lease in 0..20 {
                if let Work::Games(lease) = grab(&bench, &eve, worker, &format!("{round} {lease}")).await {
                    held += lease.games as i64;
                }
            }
        }
        (most, most_nodes) = (most.max(held), most_nodes.max(held * cost));
        rounds_with_games += i64::from(held > 0);
        let lease = bench.lease(&ann, honest, &round.to_string()).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert_eq!(bench.upload(&ann, &lease, bytes).await.status(), StatusCode::CREATED);
        bench.validate().await;
        bench.clock.advance(16 * 60_000);
        bench.step().await;
    }
    println!("held {most} games at once, and some in {rounds_with_games} of 12 rounds");
    assert!(most_nodes <= STRANGER_NODES, "{most} games, {most_nodes} nodes");
    // Two faults are free. After each further one she waits, and misses a round.
    assert!((1..8).contains(&rounds_with_games), "{rounds_with_games}");
    let faults = bench.number("SELECT faults FROM accounts WHERE name = 'eve'").await;
    assert!(faults >= rounds_with_games, "{faults}");
    assert_eq!(bench.number("SELECT proven_nodes FROM accounts WHERE name = 'eve'").await, 0);
}

/// A lease whose games nothing is heard of does not stop a job.
#[tokio::test]
async fn games_that_are_held_are_played_by_others_in_time() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    bench.execute("UPDATE jobs SET game_limit = 8".to_owned()).await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    let (holding, honest) = (bench.worker(&eve, "m").await, bench.worker(&ann, "m").await);
    assert!(matches!(grab(&bench, &eve, holding, "1").await, Work::Games(lease) if lease.games == 8));
    assert!(matches!(bench.ask(&ann, honest, "1").await.work, Work::Wait { .. }));
    bench.clock.advance(5 * 60_000 + 1_000);
    let mut played = 0;
    while let Work::Games(lease) = bench.ask(&ann, honest, &format!("{played}")).await.work {
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert_eq!(bench.upload(&ann, &lease, bytes).await.status(), StatusCode::CREATED);
        played += lease.games;
    }
    println!("others played {played} of the 8 games that it held, before its lease expired");
    assert_eq!(played, 8);
}

async fn upload_of_rubbish(bench: &Bench, token: &str, lease: &Lease, number: i32) -> reqwest::Response {
    let mut records = play(&lease.terms, 1);
    for scored in records.iter_mut().flat_map(|record| &mut record.moves) {
        // Towards zero: no score leaves the range of scores.
        scored.score = scored.score.map(|score| score - number * score.signum());
    }
    // A result that the rules do not give: the precheck does not see it, and the replay does.
    records[0].outcome = match records[0].outcome {
        xiangqi::rules::Outcome::RedWins => xiangqi::rules::Outcome::BlackWins,
        _ => xiangqi::rules::Outcome::RedWins,
    };
    bench.upload(token, lease, shard(&lease.terms, &records)).await
}

/// A finished lease takes no rubbish without end.
#[tokio::test]
async fn rejected_uploads_of_a_lease_end() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    let worker = bench.worker(&eve, "m").await;
    let lease = bench.lease(&eve, worker, "1").await;
    let mut accepted = 0;
    while accepted < 50 && upload_of_rubbish(&bench, &eve, &lease, accepted).await.status() == StatusCode::CREATED {
        accepted += 1;
        bench.validate().await;
    }
    println!("{accepted} uploads of rubbish were accepted for one lease, of 50");
    assert_eq!(accepted, 3);
    let refused = problem(upload_of_rubbish(&bench, &eve, &lease, accepted).await, Code::LeaseLost).await;
    assert_eq!(refused.parameters["refusal"], "lease_rejected");
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'rejected'").await, 3);
    assert!(matches!(bench.ask(&eve, worker, "2").await.work, Work::Wait { seconds: 61, .. }));
}

/// One account cannot fill the backlog of validation, after which others would get no games.
#[tokio::test]
async fn one_account_cannot_stop_selfplay_with_waiting_uploads() {
    let bench = Bench::with(Settings { most_waiting: 40, ..settings() }).await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    bench.execute("UPDATE accounts SET proven_nodes = 1000000000000".to_owned()).await;
    let (holding, honest) = (bench.worker(&eve, "m").await, bench.worker(&ann, "m").await);
    let Work::Games(lease) = grab(&bench, &eve, holding, "1").await else { panic!("no games") };
    let (own, mut accepted) = (play(&lease.terms, 60), 0);
    for game in 0..60 {
        let terms = Header { first_game: lease.terms.first_game + game, ..lease.terms.clone() };
        let bytes = shard(&terms, &own[game as usize..][..1]);
        let answer = bench.upload_at(&eve, &lease, terms.first_game, bytes).await;
        if answer.status() == StatusCode::CREATED {
            accepted += 1;
        } else {
            let refused = problem(answer, Code::TooMany).await;
            assert_eq!(refused.parameters["refusal"], "uploads_waiting");
        }
    }
    println!("{accepted} of 60 uploads wait for validation");
    assert_eq!(accepted, 21, "half of the backlog");
    bench.step().await;
    assert!(matches!(grab(&bench, &eve, holding, "2").await, Work::Wait { .. }), "she has sent enough");
    let lease = bench.lease(&ann, honest, "1").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&ann, &lease, bytes).await.status(), StatusCode::CREATED);
}

/// An account that asks without pause gets no audit for which it was not drawn.
#[tokio::test]
async fn polling_brings_no_audits() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let bob = bench.account("bob", Role::Volunteer).await;
    let worker = bench.worker(&bob, "m").await;
    let lease = bench.lease(&bob, worker, "1").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    assert_eq!(bench.upload(&bob, &lease, bytes).await.status(), StatusCode::CREATED);
    bench.validate().await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    let workers = [bench.worker(&eve, "m").await, bench.worker(&ann, "m").await];
    bench.execute("UPDATE shards SET audit = 'wanted'".to_owned()).await;
    bench.draw_auditors().await;
    let audits = "SELECT COUNT(*) FROM leases WHERE kind = 'audit'";
    let is_eve = "SELECT COUNT(*) FROM shards WHERE auditor = (SELECT id FROM accounts WHERE name = 'eve')";
    let mut players = [(eve, workers[0]), (ann, workers[1])];
    if bench.number(is_eve).await == 1 {
        players.reverse();
    }
    let [(polling, its), (drawn, own)] = players;
    for nonce in 0..50 {
        bench.ask(&polling, its, &nonce.to_string()).await;
    }
    println!("{} of 1 audits went to the account that polled", bench.number(audits).await);
    assert_eq!(bench.number(audits).await, 0);
    bench.lease(&drawn, own, "1").await;
    assert_eq!(bench.number(audits).await, 1);
}

/// An auditor that drops its audits does not keep others from them.
#[tokio::test]
async fn audits_that_are_dropped_go_to_others() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let mut bob = Player::new(&bench, "bob").await;
    assert!(bob.work(&bench, play).await);
    bench.validate().await;
    bench.execute("UPDATE shards SET audit = 'wanted'".to_owned()).await;
    let (mut eve, mut ann) = (Player::new(&bench, "eve").await, Player::new(&bench, "ann").await);
    // She asks first, each time.
    let is_audit = "SELECT COUNT(*) FROM leases WHERE kind = 'audit' AND state = 'active'";
    let mut dropped = 0;
    while bench.number("SELECT COUNT(*) FROM shards WHERE audit = 'clean'").await == 0 {
        bench.draw_auditors().await;
        if let Some(lease) = eve.lease(&bench).await
            && bench.number(is_audit).await == 1
        {
            let back = GiveBack { from: lease.terms.first_game };
            let answer = bench.post(&path::release(&lease.token), &eve.token, &back).await;
            assert_eq!(answer.status(), StatusCode::NO_CONTENT);
            dropped += 1;
        }
        ann.work(&bench, play).await;
        bench.validate().await;
        assert!(dropped <= 1, "she is drawn once");
    }
    println!("{dropped} audits were dropped before another account made one");
    assert_eq!(bench.number("SELECT faults FROM accounts WHERE name = 'eve'").await, dropped);
}

/// An auditor that makes up games is wrong at once, by the game that a referee had played before.
/// The games that it disputes count on.
#[tokio::test]
async fn a_made_up_audit_withholds_no_games() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let (mut bob, mut eve) = (Player::new(&bench, "bob").await, Player::new(&bench, "eve").await);
    assert!(bob.work(&bench, play).await);
    bench.validate().await;
    assert!(referee(&bench).step().await.unwrap(), "it checks a game of the upload");
    bench.execute("UPDATE shards SET audit = 'wanted'".to_owned()).await;
    bench.draw_auditors().await;
    assert!(eve.work(&bench, |terms, games| forged(&play(terms, games))).await);
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE kind = 'audit' AND state = 'done'").await, 1);
    bench.validate().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE kind = 'dispute'").await, 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE name = 'eve' AND state = 'quarantined'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE name = 'bob' AND state = 'active'").await, 1);
    bench.step().await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE audit = 'wanted'").await, 1, "others audit them");
}

/// The keys and kinds of a JSON value, without its contents.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        Value::Array(values) => values.iter().map(shape).collect(),
        Value::String(text) => json!(text.len()),
        Value::Number(_) => json!("number"),
        other => other.clone(),
    }
}

/// An account cannot tell a ringer from other leases, but for the numbers of the games. Neither the
/// lease shows it, nor what the account may read meanwhile.
#[tokio::test]
async fn a_ringer_looks_like_any_lease() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let boss = bench.account("boss", Role::Maintainer).await;
    let mut tokens = Vec::new();
    for name in ["bob", "tom", "ann", "cat", "eve", "dan"] {
        let token = bench.account(name, Role::Volunteer).await;
        let worker = bench.worker(&token, "m").await;
        tokens.push((name, token, worker));
    }
    let [(_, bob, bobs), (_, tom, toms), ..] = &tokens[..] else { panic!("six accounts") };
    let trusted = bench.post(&format!("/api/v1/workers/{toms}/trust"), &boss, &json!({ "trusted": true })).await;
    assert_eq!(trusted.status(), StatusCode::NO_CONTENT);
    let work = async |token: &str, worker: i64, nonce: &str| {
        let lease = bench.lease(token, worker, nonce).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert_eq!(bench.upload(token, &lease, bytes).await.status(), StatusCode::CREATED);
        bench.validate().await;
    };
    let draw = async |shard: i64, name: &str| {
        let auditor =
            format!("auditor = (SELECT id FROM accounts WHERE name = '{name}'), auditor_until = {}", i64::MAX);
        bench.execute(format!("UPDATE shards SET audit = 'wanted', {auditor} WHERE id = {shard}")).await;
    };
    bench.execute("UPDATE accounts SET proven_nodes = 1000000000000".to_owned()).await;
    // The first upload is audited by the trusted worker, and a referee checks the fourth.
    work(bob, *bobs, "1").await;
    draw(1, "tom").await;
    work(tom, *toms, "1").await;
    work(bob, *bobs, "2").await;
    work(bob, *bobs, "3").await;
    bench.execute("UPDATE shards SET checked = 1 WHERE id <> 4".to_owned()).await;
    assert!(referee(&bench).step().await.unwrap());
    bench.execute("UPDATE shards SET checked = 0 WHERE id <> 4".to_owned()).await;
    let known = "SELECT COUNT(*) FROM shards WHERE id = 4 AND checked_game IS NOT NULL";
    assert_eq!(bench.number(known).await, 1);
    for (shard, name) in [(3, "ann"), (4, "cat"), (2, "eve")] {
        draw(shard, name).await;
    }
    let mut seen = Vec::new();
    for (name, token, worker) in &tokens[2..] {
        let answer = bench.post(path::LEASES, token, &ask(*worker, "1")).await;
        let headers: Vec<String> = answer.headers().keys().map(ToString::to_string).collect();
        let lease: Value = read(answer).await;
        let mut all = vec![json!(headers), shape(&lease)];
        for path in ["/me", "/deliveries?own=true", &format!("/people/{name}/own"), "/audits", "/workers", "/games"] {
            let answer = bench.request(Method::GET, &format!("/api/v1{path}"), token).send().await.unwrap();
            let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
            all.push(json!([status, shape(&serde_json::from_str(&text).unwrap_or(Value::Null))]));
        }
        seen.push(json!(all));
    }
    let kinds = "SELECT COUNT(*) FROM leases WHERE kind = 'audit' AND state = 'active'";
    assert_eq!(bench.number(kinds).await, 3, "an audit, one with a known game, and a ringer");
    assert!(seen.iter().all(|other| *other == seen[0]), "{}", serde_json::to_string_pretty(&seen).unwrap());
}

/// Weak play in the candidate's name: legal games, which it loses.
fn losing(terms: &Header, games: u64) -> Vec<Record> {
    let mut weak = terms.clone();
    weak.settings.hard_nodes = 1;
    weak.opponent = weak.opponent.map(|opponent| Opponent { hard_nodes: 2_000, ..opponent });
    play(&weak, games)
}

/// Bounds with which a candidate of the champion's strength passes.
pub(crate) const EASY: &str = "elo0 = -400.0\nelo1 = -100.0\nmost_pairs = 200";

/// A gate with these bounds of a candidate that plays as the champion does. Returns its job.
pub(crate) async fn gate(bench: &Bench, bounds: &str) -> i64 {
    let gate = format!("[gate]\n{bounds}\nmodel = \"logistic\"\nbatch_pairs = 4");
    let text = CAMPAIGN.replace("positions = 400", "positions = 100_000_000").replace("[gate]", &gate);
    let text = text.replace("ply_cap = 40\n", "ply_cap = 160\n");
    bench.campaign(&text).await;
    let plan = Campaign::from_text(&text).unwrap();
    let header = plan.gate.header(plan.rules, protocol::BENCH_SIGNATURE, None, None, 7);
    let create = CreateMatch { kind: JobKind::Match, header, gate: plan.gate };
    let job = bench.service.run(create).await.unwrap().0;
    // A trained candidate, which plays as the champion does.
    let net = "cd".repeat(32);
    bench
        .execute(format!(
            "INSERT INTO nets (hash, name, state, campaign, bytes, architecture, created)
             VALUES ('{net}', 'strong', 'candidate', 1, 1, 'x', 1);
             INSERT INTO trainings (campaign, generation, state, recipe, manifests, candidate, created)
             VALUES (1, 1, 'done', '', '[]', '{net}', 1);
             UPDATE jobs SET campaign = 1, net = '{net}', priority = 60 WHERE id = {job};
             UPDATE campaigns SET phase = 'gating', gate = {job}, training = 1"
        ))
        .await;
    job
}

/// One account loses a strong candidate's gate: the rejection waits for audits, and they show it.
#[tokio::test]
async fn one_account_rejects_no_strong_candidate() {
    let bench = Bench::start().await;
    let job = gate(&bench, EASY).await;
    let (mut ann, mut bob) = (Player::new(&bench, "ann").await, Player::new(&bench, "bob").await);
    let mut eve = Player::new(&bench, "eve").await;
    let net = async |state: &'static str| match state {
        "candidate" => bench.number("SELECT COUNT(*) FROM nets WHERE state = 'candidate'").await == 1,
        _ => bench.number("SELECT COUNT(*) FROM nets WHERE state = 'promoted'").await == 1,
    };
    // She plays all of it, until its verdict is clear.
    for _ in 0..20 {
        eve.work(&bench, losing).await;
        bench.validate().await;
        bench.step().await;
    }
    let standing = bench.service.store.read(query!(|c| matches::standing(&mut c, JobId(job)).await)).await.unwrap();
    assert_eq!(standing.verdict.decision, Decision::AcceptH0, "{standing:?}");
    let rejected = bench.number("SELECT COUNT(*) FROM nets WHERE state = 'rejected'").await;
    println!("{rejected} of 1 strong nets was rejected by the games of one account");
    assert!(net("candidate").await, "nothing is rejected before its audits");
    let referee = referee(&bench);
    for _ in 0..400 {
        bench.draw_auditors().await;
        for honest in [&mut ann, &mut bob] {
            honest.work(&bench, play).await;
        }
        bench.validate().await;
        while referee.step().await.unwrap() {}
        if net("promoted").await {
            break;
        }
    }
    assert!(net("promoted").await, "it passes with honest games");
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE state = 'quarantined'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE name = 'eve' AND state = 'quarantined'").await, 1);
}

/// A late upload with other moves holds up nothing for longer than a referee takes.
#[tokio::test]
async fn a_late_different_upload_withholds_no_games() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let (eve, ann) = (bench.account("eve", Role::Volunteer).await, bench.account("ann", Role::Volunteer).await);
    let (holding, honest) = (bench.worker(&eve, "m").await, bench.worker(&ann, "m").await);
    let late = bench.lease(&eve, holding, "1").await;
    bench.clock.advance(16 * 60_000);
    bench.step().await;
    let lease = bench.lease(&ann, honest, "1").await;
    assert_eq!(lease.terms.first_game, late.terms.first_game, "her games were handed out again");
    let records = play(&late.terms, late.games);
    for (token, lease, records) in [(&ann, &lease, play(&lease.terms, lease.games)), (&eve, &late, forged(&records))] {
        let bytes = shard(&lease.terms, &records);
        assert_eq!(bench.upload(token, lease, bytes).await.status(), StatusCode::CREATED);
        bench.validate().await;
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'disputed'").await, 2);
    assert!(referee(&bench).step().await.unwrap());
    let withheld = "SELECT COUNT(*) FROM shards WHERE state = 'disputed'";
    println!("{} of 2 uploads stay in dispute without any trusted worker", bench.number(withheld).await);
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE name = 'eve' AND state = 'quarantined'").await, 1);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE name = 'ann' AND state = 'active'").await, 1);
}

/// Another token of an account does not act as its trusted worker.
#[tokio::test]
async fn a_trusted_worker_has_one_key() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let (ann, boss) = (bench.account("ann", Role::Volunteer).await, bench.account("boss", Role::Maintainer).await);
    let worker = bench.worker(&ann, "m").await;
    let trusted = bench.post(&format!("/api/v1/workers/{worker}/trust"), &boss, &json!({ "trusted": true })).await;
    assert_eq!(trusted.status(), StatusCode::NO_CONTENT);
    let made: Value = read(bench.post("/api/v1/tokens", &ann, &json!({ "name": "stolen" })).await).await;
    let stolen = made["token"].as_str().unwrap();
    let lease = bench.lease(&ann, worker, "1").await;
    let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
    for refused in [
        bench.post(path::LEASES, stolen, &ask(worker, "2")).await,
        bench.post(path::WORKERS, stolen, &machine("m")).await,
        bench.upload(stolen, &lease, bytes.clone()).await,
    ] {
        let refused = problem(refused, Code::Forbidden).await;
        assert_eq!(refused.parameters["refusal"], "other_token");
    }
    assert_eq!(bench.upload(&ann, &lease, bytes).await.status(), StatusCode::CREATED);
    bench.worker(stolen, "another").await;
    bench.lease(&ann, worker, "3").await;
}

/// The token in an administrator's worker ends neither the account nor its other tokens, and makes
/// none that outlives it.
#[tokio::test]
async fn a_stolen_token_of_few_rights_stays_one() {
    let bench = Bench::start().await;
    let boss = bench.account("boss", Role::Admin).await;
    let wanted = json!({ "name": "worker", "role": "volunteer", "days": 1 });
    let made: Value = read(bench.post("/api/v1/tokens", &boss, &wanted).await).await;
    let stolen = made["token"].as_str().unwrap();
    let tess = bench.account("tess", Role::Maintainer).await;
    bench.account("root", Role::Admin).await;
    let blocked = bench.post("/api/v1/accounts/root", &tess, &json!({ "state": "blocked", "message": "x" })).await;
    let mut answers = vec![("a maintainer blocks an administrator".to_owned(), blocked.status())];
    for wanted in [json!({ "name": "x" }), json!({ "name": "x", "days": 2 }), json!({ "name": "x", "role": "admin" })] {
        let answer = bench.post("/api/v1/tokens", stolen, &wanted).await;
        answers.push((format!("a token {wanted}"), answer.status()));
    }
    for path in ["/api/v1/tokens/1", "/api/v1/accounts/boss"] {
        let answer = bench.request(Method::DELETE, path, stolen).send().await.unwrap();
        answers.push((format!("the end of {path}"), answer.status()));
    }
    let allowed: Vec<&String> = answers.iter().filter(|answer| answer.1.is_success()).map(|answer| &answer.0).collect();
    println!("{} of {} attempts were allowed: {allowed:?}", allowed.len(), answers.len());
    assert!(answers.iter().all(|answer| answer.1 == StatusCode::FORBIDDEN), "{answers:?}");
    assert_eq!(bench.number("SELECT COUNT(*) FROM tokens WHERE revoked IS NULL").await, 4);
}
