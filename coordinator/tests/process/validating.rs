//! Validators in separate processes: uploads received by a coordinator without validators are each
//! replayed by one of them.
//!
//! The throughput is printed. `CHUHE_BACKLOG` sets the number of leases, `CHUHE_COORDINATOR` the
//! program.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use coordinator_core::{file_lock::FileLock, query, store::Database};
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    work::{Answer, Ask, Lease, Work, Worker},
};
use reqwest::Client;

use crate::{
    program::{self, Place, admin, migrate, play},
    started::{self, machine},
};

/// Long games that are quick to play.
const CHANGES: [(&str, &str); 3] = [
    ("hard_nodes = 60", "hard_nodes = 20"),
    ("ply_cap = 60", "ply_cap = 200"),
    ("positions = 400", "positions = 1_000_000_000"),
];

async fn one(store: &Database, query: &'static str) -> i64 {
    let found = store.read(query!(|c| Ok(sqlx::query_scalar(query).fetch_one(c.raw()).await?)));
    found.await.unwrap()
}

struct Player {
    client: Client,
    port: u16,
    token: String,
}

impl Player {
    async fn post(&self, path: &str, body: Vec<u8>) -> Vec<u8> {
        let request = self.client.post(format!("http://127.0.0.1:{}{path}", self.port)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json");
        let answer = request.header(VERSION_HEADER, env!("CARGO_PKG_VERSION")).body(body).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.bytes().await.unwrap().to_vec()
    }

    async fn lease(&self, worker: i64, nonce: String) -> Option<Lease> {
        let ask = Ask {
            worker,
            nonce,
            threads: 4,
            nodes_per_second: Some(60_000),
            most_seconds: Some(3),
            acknowledged: Vec::new(),
        };
        let answer = self.post(path::LEASES, serde_json::to_vec(&ask).unwrap()).await;
        match serde_json::from_slice::<Answer>(&answer).unwrap().work {
            Work::Games(lease) => Some(lease),
            Work::Wait { .. } => None,
        }
    }

    /// Plays and uploads this many leases.
    async fn work(&self, leases: usize) {
        let worker = self.post(path::WORKERS, serde_json::to_vec(&machine("one")).unwrap()).await;
        let worker: Worker = serde_json::from_slice(&worker).unwrap();
        let mut delivered = 0;
        for round in 0..10_000 {
            if delivered == leases {
                return;
            }
            let Some(lease) = self.lease(worker.worker, format!("{round}")).await else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let bytes = play(&lease);
            let games = path::games(&lease.token, lease.terms.first_game);
            let request = self.client.put(format!("http://127.0.0.1:{}{games}", self.port)).bearer_auth(&self.token);
            let request = request.header("content-type", SHARD_TYPE).header(VERSION_HEADER, env!("CARGO_PKG_VERSION"));
            let request = request.header(SHA256_HEADER, dataset::Digest::of(&bytes).to_string());
            assert!(request.body(bytes).send().await.unwrap().status().is_success());
            delivered += 1;
        }
        panic!("only {delivered} leases were to be had");
    }
}

fn validator(place: &Place) -> Child {
    let own = env!("CARGO_BIN_EXE_chuhe-coordinator").to_owned();
    let mut command = Command::new(std::env::var("CHUHE_COORDINATOR").unwrap_or(own));
    place.add_options(&mut command);
    command.args(["validate", "--threads", "1"]).env("CHUHE_LOG", "warn").spawn().unwrap()
}

/// A place with uploads that wait for validation; their coordinator is gone.
async fn with_uploads(folder: &std::path::Path, leases: usize) -> Place {
    drop(rustls::crypto::ring::default_provider().install_default());
    let place = Place::folder(folder);
    let file = folder.join("long.toml");
    std::fs::write(&file, started::campaign(&CHANGES)).unwrap();
    migrate(&place);
    admin(&place, &["user", "create", "ann"]);
    let token = admin(&place, &["token", "create", "ann"]);
    admin(&place, &["campaign", "create", file.to_str().unwrap()]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    command.args(["serve", "--validators", "0"]);
    let (mut process, port) = started::serve(&mut command, drop);
    Player { client: Client::new(), port, token }.work(leases).await;
    process.kill().unwrap();
    process.wait().unwrap();
    place
}

const WAITING: &str = "SELECT COUNT(*) FROM shards WHERE state = 'received'";

/// Claims are long, and those of a killed process must not be waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restarted_coordinator_takes_up_the_claims_of_the_killed_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = with_uploads(folder.path(), 2).await;
    let store = Database::open(&place.database, None).await.unwrap();
    let claim = "UPDATE shards SET claimed_until = 9000000000000";
    let execute = async || {
        let done = store.write(move |mut c| Box::pin(async move { Ok(sqlx::query(claim).execute(c.raw()).await?) }));
        done.await.unwrap();
    };
    // Beside another validator, which may hold the claims, they stay.
    execute().await;
    let file = folder.path().join("chuhe.db");
    let holder = FileLock::validating(&file, async || std::io::Result::Ok(())).await.unwrap();
    let mut beside = validating(&place);
    let kept = one(&store, "SELECT COUNT(*) FROM shards WHERE claimed_until = 9000000000000").await;
    assert_eq!((kept, one(&store, WAITING).await), (2, 2));
    beside.kill().unwrap();
    beside.wait().unwrap();
    drop(holder);
    // The only coordinator takes them up when it is started again.
    let (mut alone, _) = program::start(&[], &place);
    while one(&store, WAITING).await > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(alone.try_wait().unwrap().is_none(), "it has ended by itself");
    }
    alone.kill().unwrap();
    alone.wait().unwrap();
    store.close().await;
}

/// Starts a validator, and waits until it validates.
fn validating(place: &Place) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    command.arg("validate").env("CHUHE_LOG", "info").env("NO_COLOR", "1").stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("validating")), "it ended");
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    child
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::disallowed_methods, reason = "the time taken is reported, and decides nothing")]
async fn separate_validators_validate_waiting_shards() {
    let folder = tempfile::tempdir().unwrap();
    let leases = std::env::var("CHUHE_BACKLOG").map_or(6, |text| text.parse().unwrap());
    let place = with_uploads(folder.path(), leases).await;
    let store = Database::open(&place.database, None).await.unwrap();
    assert_eq!(one(&store, WAITING).await, leases as i64, "a coordinator without validators validates nothing");
    let began = Instant::now();
    let mut validators = [validator(&place), validator(&place)];
    while one(&store, WAITING).await > 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(validators.iter_mut().all(|process| process.try_wait().unwrap().is_none()), "one has ended by itself");
    }
    let took = began.elapsed();
    for process in &mut validators {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let (positions, bytes) = (
        one(&store, "SELECT CAST(SUM(positions) AS BIGINT) FROM shards WHERE state = 'validated'").await,
        one(&store, "SELECT CAST(SUM(bytes) AS BIGINT) FROM shards WHERE state = 'validated'").await,
    );
    let counted = "SELECT CAST(SUM(games) AS BIGINT) FROM contributions";
    let all = "SELECT CAST(SUM(games) AS BIGINT) FROM shards WHERE state = 'validated'";
    assert_eq!(one(&store, counted).await, one(&store, all).await, "each was counted once");
    assert_eq!(one(&store, "SELECT COUNT(*) FROM shards WHERE state = 'validated'").await, leases as i64);
    let a_second = positions as f64 / took.as_secs_f64();
    println!("{leases} uploads, {positions} positions, {bytes} bytes: {a_second:.0} positions a second by two threads");
    store.close().await;
}
