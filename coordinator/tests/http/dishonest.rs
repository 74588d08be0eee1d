//! Dishonest workers: what they claim is found out and leaves the pool, or changes nothing.

use coordinator::{campaigns::matches, store::Store as _};
use dataset::{Header, Record, delivery};
use protocol::{
    api::work::{Answer, Lease, Receipt, Role, Work},
    campaign::{Campaign, Gate},
};
use reqwest::StatusCode;
use serde_json::json;
use xiangqi::Fen;

use crate::bench::{Bench, CAMPAIGN, ask, play, read, shard};

/// Somebody with one worker.
struct Player {
    token: String,
    worker: i64,
    asked: u32,
}

impl Player {
    async fn new(bench: &Bench, name: &str) -> Self {
        let token = bench.account(name, Role::Volunteer).await;
        let worker = bench.worker(&token, "machine").await;
        Self { token, worker, asked: 0 }
    }

    /// Asks for a few games; `None` if it gets none, or is not answered any more.
    async fn lease(&mut self, bench: &Bench) -> Option<Lease> {
        self.asked += 1;
        let nonce = format!("{}", self.asked);
        let answer = bench.post(protocol::api::path::LEASES, &self.token, &ask(self.worker, &nonce)).await;
        if answer.status() == StatusCode::FORBIDDEN {
            return None;
        }
        match read::<Answer>(answer).await.work {
            Work::Games(lease) => Some(lease),
            Work::Wait { .. } => None,
        }
    }

    /// Plays what it is given, as it likes to, and delivers it; whether there was anything.
    async fn work(&mut self, bench: &Bench, how: impl Fn(&Header, u64) -> Vec<Record>) -> bool {
        let Some(lease) = self.lease(bench).await else { return false };
        let bytes = shard(&lease.terms, &how(&lease.terms, lease.games));
        let answer = bench.upload(&self.token, &lease, bytes).await;
        let _: Receipt = read(answer).await;
        true
    }
}

/// Scores a little better than they are: no rule of the game is broken, and no replay shows it.
fn with_noise(terms: &Header, games: u64) -> Vec<Record> {
    let mut records = play(terms, games);
    for scored in records.iter_mut().flat_map(|record| &mut record.moves) {
        scored.score = scored.score.map(|score| score + 1);
    }
    records
}

/// Games of a search that looked at less.
fn with_fewer_nodes(terms: &Header, games: u64) -> Vec<Record> {
    let mut lazy = terms.clone();
    lazy.settings.hard_nodes = 5;
    play(&lazy, games)
}

async fn trust(bench: &Bench, worker: i64) {
    let boss = bench.account("boss", Role::Maintainer).await;
    let answer = bench.post(&format!("/api/v1/workers/{worker}/trust"), &boss, &json!({ "trusted": true })).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
}

async fn state(bench: &Bench, name: &'static str) -> String {
    let found = coordinator::store::Store::read(&bench.service.store, move |mut c| {
        Box::pin(async move {
            let query = "SELECT state FROM accounts WHERE name = $1";
            Ok(sqlx::query_scalar(query).bind(name).fetch_one(c.raw()).await?)
        })
    });
    found.await.unwrap()
}

const HELD_BY_EVE: &str = "SELECT CAST(COALESCE(SUM(segments.games), 0) AS BIGINT) FROM segments
    JOIN shards ON shards.id = segments.shard JOIN accounts ON accounts.id = shards.account
    WHERE segments.state = 'held' AND accounts.name LIKE 'eve%'";

async fn is_found_out(lie: fn(&Header, u64) -> Vec<Record>) {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000")).await;
    let (mut ann, mut eve) = (Player::new(&bench, "ann").await, Player::new(&bench, "eve").await);
    let mut tess = Player::new(&bench, "tess").await;
    trust(&bench, tess.worker).await;
    let mut delivered = 0;
    for round in 0..200 {
        if eve.work(&bench, lie).await {
            delivered += 1;
        }
        ann.work(&bench, play).await;
        tess.work(&bench, play).await;
        bench.validate().await;
        if state(&bench, "eve").await == "quarantined" {
            break;
        }
        assert!(round < 199, "after {delivered} uploads nobody has noticed");
    }
    assert_eq!(state(&bench, "ann").await, "active");
    assert_eq!(state(&bench, "tess").await, "active");
    assert_eq!(bench.number(HELD_BY_EVE).await, 0, "of {delivered} uploads");
    assert!(!eve.work(&bench, lie).await, "she gets no more games");
    // What she had is played again by others, and nothing of the campaign is missing.
    while bench.number("SELECT COUNT(*) FROM segments WHERE state = 'open'").await > 0 {
        assert!(ann.work(&bench, play).await);
    }
    println!("found out after {delivered} uploads");
}

#[tokio::test]
async fn noise_in_scores_is_found_out_by_others_who_play_the_same_games() {
    is_found_out(with_noise).await;
}

#[tokio::test]
async fn searching_less_is_found_out() {
    is_found_out(with_fewer_nodes).await;
}

/// Who knows what others claim could confirm it; but the auditors are older than those they audit, and a trusted worker
/// has the last word.
#[tokio::test]
async fn ten_accounts_in_collusion_are_found_out_one_after_the_other() {
    let bench = Bench::start().await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000")).await;
    let (mut ann, mut tess) = (Player::new(&bench, "ann").await, Player::new(&bench, "tess").await);
    trust(&bench, tess.worker).await;
    let mut gang = Vec::new();
    for number in 0..10 {
        gang.push(Player::new(&bench, &format!("eve{number}")).await);
    }
    let mut most = 0;
    let caught = "SELECT COUNT(*) FROM accounts WHERE name LIKE 'eve%' AND state = 'quarantined'";
    let mut rounds = 0;
    while bench.number(caught).await < 10 {
        rounds += 1;
        assert!(rounds < 400, "{} of ten were found out", bench.number(caught).await);
        for player in &mut gang {
            player.work(&bench, with_noise).await;
        }
        for _ in 0..3 {
            ann.work(&bench, play).await;
            tess.work(&bench, play).await;
        }
        bench.validate().await;
        most = most.max(bench.number(HELD_BY_EVE).await);
    }
    let held = bench.number(HELD_BY_EVE).await;
    let all = bench.number("SELECT CAST(SUM(games) AS BIGINT) FROM segments WHERE state = 'held'").await;
    println!("all found out after {rounds} rounds; {most} games at most counted meanwhile, {held} of {all} remain");
    // What two of the gang confirmed each other remains, if nobody else ever looked at it.
    assert!(held * 10 <= all, "{held} of {all} games are lies");
    for honest in ["ann", "tess"] {
        assert_eq!(state(&bench, honest).await, "active");
    }
}

/// A match of the plain evaluation with itself, in which the one who is asked about has few nodes, and its job.
async fn with_match(bench: &Bench) -> i64 {
    let plan = Campaign::from_text(CAMPAIGN).unwrap();
    let gate = Gate { elo1: 100.0, batch_pairs: 4, most_pairs: 24, candidate_nodes_percent: 60, ..plan.gate };
    let header = gate.header(plan.rules, protocol::BENCH_SIGNATURE, None, None, 7);
    let now = bench.clock.now();
    let created = bench.service.store.write(move |mut c| {
        let header = header.clone();
        Box::pin(async move { matches::create(&mut c, now, "match", &header, &gate).await })
    });
    created.await.unwrap()
}

async fn decision(bench: &Bench, job: i64) -> Option<String> {
    let found = bench.service.store.read(move |mut c| {
        Box::pin(async move {
            let query = "SELECT decision FROM jobs WHERE id = $1";
            Ok(sqlx::query_scalar(query).bind(job).fetch_one(c.raw()).await?)
        })
    });
    found.await.unwrap()
}

/// Plays until there is nothing more to play, and the match is decided.
async fn play_to_the_end(bench: &Bench, player: &mut Player, job: i64) -> String {
    for _ in 0..100 {
        while player.work(bench, play).await {}
        bench.validate().await;
        bench.step().await;
        if let Some(decision) = decision(bench, job).await {
            return decision;
        }
    }
    panic!("the match is not decided");
}

/// Whoever delivers only what is good for a candidate leaves gaps, and behind a gap nothing is looked at: the games are
/// played by others, and come out as they do.
#[tokio::test]
async fn bad_pairs_that_are_withheld_move_no_gate() {
    let honest = Bench::start().await;
    let job = with_match(&honest).await;
    let mut ann = Player::new(&honest, "ann").await;
    let expected = play_to_the_end(&honest, &mut ann, job).await;

    let bench = Bench::start().await;
    let job = with_match(&bench).await;
    let (mut ann, mut eve) = (Player::new(&bench, "ann").await, Player::new(&bench, "eve").await);
    let (mut delivered, mut withheld) = (0, 0);
    while let Some(lease) = eve.lease(&bench).await {
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        let start = |_| Fen::start();
        let proof = delivery::by_replay(&bytes, &lease.terms, lease.numbers(), Some(&start)).unwrap();
        let points: u32 = proof.pairs.iter().map(|&pair| u32::from(pair)).sum();
        if points as usize > proof.pairs.len() * 2 {
            delivered += proof.pairs.len();
            assert!(bench.upload(&eve.token, &lease, bytes).await.status().is_success());
        } else {
            withheld += proof.pairs.len();
        }
    }
    assert!(delivered > 0 && withheld > 0, "{delivered} and {withheld}");
    bench.validate().await;
    bench.step().await;
    let standing = bench.service.store.read(move |mut c| Box::pin(async move { matches::standing(&mut c, job).await }));
    let seen = standing.await.unwrap().pairs as usize;
    assert!(seen < delivered + withheld);
    assert_eq!(decision(&bench, job).await, None, "what she brought decides nothing by itself");
    bench.clock.advance(24 * 3_600_000);
    bench.step().await;
    assert_eq!(play_to_the_end(&bench, &mut ann, job).await, expected);
    println!("{delivered} pairs delivered, {withheld} withheld; {seen} were looked at before others had played them");
}
