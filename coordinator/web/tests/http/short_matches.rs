//! Matches whose number of pairs is no multiple of the test's batch, from the first lease to the
//! end.

use coordinator_core::model::JobKind;
use dataset::Record;
use protocol::{
    api::work::{Role, Work},
    campaign::Gate,
};
use reqwest::Method;
use serde_json::{Value, json};
use xiangqi::rules::Outcome;

use crate::{
    bench::{Bench, CAMPAIGN, play, read, shard},
    live_match,
    paging::Visitor,
};

/// A batch and a half.
const PAIRS: u32 = 6;

/// The texts of a test's prospects, in both languages.
const PROSPECTS: [(&str, [&str; 2]); 2] =
    [("en", ["Chance to pass", "Games left, about"]), ("zh", ["通过概率", "预计剩余对局"])];

/// Pairs by the candidate's half points. It is Red in a pair's first game.
fn counts(records: &[Record]) -> [u64; 5] {
    let mut counts = [0; 5];
    for pair in records.chunks(2) {
        let halves = pair.iter().zip([Outcome::RedWins, Outcome::BlackWins]).map(|(game, own)| match game.outcome {
            Outcome::Draw => 1,
            outcome if outcome == own => 2,
            _ => 0,
        });
        counts[halves.sum::<usize>()] += 1;
    }
    counts
}

/// Plays a match to its end, and compares its figures with the games.
async fn all_pairs_count(kind: JobKind) {
    let bench = Bench::start().await;
    // Hypotheses so close to each other that six pairs decide nothing.
    let gate = Gate { batch_pairs: 4, most_pairs: PAIRS, elo1: 1.0, nodes: 60, ..Gate::default() };
    let job = live_match::begin_of(&bench, kind, gate).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&ann, "one").await;
    bench.execute("UPDATE workers SET trusted = 1; UPDATE accounts SET proven_nodes = 1000000000".to_owned()).await;
    let details = async || -> Value {
        read(bench.request(Method::GET, &format!("/api/v1/matches/{job}/details"), "").send().await.unwrap()).await
    };
    // Whether the pages tell the prospects, which must be the same in both languages.
    let tells_prospects = async || {
        let mut found = Vec::new();
        for (language, texts) in PROSPECTS {
            let page = Visitor::new(&bench).get(&format!("/{language}/matches/{job}")).await.text;
            found.extend(texts.map(|text| page.contains(text)));
        }
        assert!(found.iter().all(|&is_shown| is_shown == found[0]), "{found:?}");
        found[0]
    };
    let (mut played, mut was_shown) = (Vec::new(), false);
    for nonce in 0..PAIRS {
        bench.clock.advance(1_000);
        bench.step().await;
        let Work::Games(lease) = bench.ask(&ann, worker, &nonce.to_string()).await.work else { break };
        let records = play(&lease.terms, lease.games);
        assert_eq!(lease.terms.first_game, played.len() as u64);
        assert!(bench.upload(&ann, &lease, shard(&lease.terms, &records)).await.status().is_success());
        bench.validate().await;
        played.extend(records);
        let pairs = played.len() / 2;
        let judged = if kind == JobKind::Match && pairs < PAIRS as usize { pairs / 4 * 4 } else { pairs };
        let found = details().await;
        assert_eq!(found["standing"]["verdict"]["pairs"], judged, "of {pairs} pairs");
        let is_shown = tells_prospects().await;
        assert_eq!(is_shown, kind == JobKind::Match && judged > 0, "an open test tells its prospects: {found}");
        was_shown |= is_shown;
    }
    bench.step().await;
    assert_eq!(played.len(), 2 * PAIRS as usize);
    let found = details().await;
    assert_eq!((&found["state"], &found["standing"]["pairs"]), (&json!("closed"), &json!(PAIRS)));
    assert_eq!(found["standing"]["verdict"]["counts"], json!(counts(&played)));
    assert_eq!(found["standing"]["verdict"]["decision"], "continue");
    assert_eq!(was_shown, kind == JobKind::Match);
    assert!(found["outlook"].is_null() && !tells_prospects().await, "a closed match has none: {found}");

    // Its JSON, its page and the chart of promotions have one Elo.
    let elo = found["elo"]["elo"].as_f64().unwrap();
    let page = Visitor::new(&bench).get(&format!("/en/matches/{job}")).await.text;
    assert!(page.contains(&format!("{:.1} <small>[", elo.abs())), "{elo}: {page}");
    bench.campaign(CAMPAIGN).await;
    let net = "a".repeat(64);
    bench
        .execute(format!(
            "INSERT INTO nets (hash, name, state, bytes, architecture, created)
             VALUES ('{net}', 'one', 'promoted', 1, 'x', 1);
             INSERT INTO promotions (campaign, net, kind, job, at) VALUES (1, '{net}', 'gate', {job}, 1)"
        ))
        .await;
    let overview: Value = read(bench.request(Method::GET, "/api/v1/overview", "").send().await.unwrap()).await;
    assert_eq!(overview["strength"][0]["gain"], found["elo"]);
}

#[tokio::test]
async fn all_pairs_of_a_match_of_fixed_length_count() {
    all_pairs_count(JobKind::Rating).await;
}

#[tokio::test]
async fn the_last_pairs_of_a_test_count_and_end_its_prospects() {
    all_pairs_count(JobKind::Match).await;
}
