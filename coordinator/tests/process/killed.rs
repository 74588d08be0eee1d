//! The coordinator's process is killed repeatedly while many workers upload. Afterwards every
//! acknowledged upload exists, once.
//!
//! `CHUHE_KILLS` and `CHUHE_WORKERS` set the numbers; `scripts/check --long` uses 100 and 200.

use std::{
    collections::BTreeMap,
    process::Child,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
    time::Duration,
};

use coordinator_core::{objects::Kind, query, store::Database};
use dataset::Digest;
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    work::{Answer, Ask, Receipt, Work, Worker},
};
use reqwest::{Client, Method};

use crate::{
    postgres::Server,
    program::{self, Place, play},
    s3,
    started::machine,
};

/// A worker that leases, plays and uploads, and retries without a response.
pub(crate) struct Volunteer {
    client: Client,
    /// Ports of the coordinators: a retry tries another one.
    ports: Arc<Vec<AtomicU16>>,
    token: String,
    stop: Arc<AtomicBool>,
}

impl Volunteer {
    async fn send(&self, method: Method, path: &str, kind: &str, body: Vec<u8>) -> Option<Vec<u8>> {
        for number in 0.. {
            if self.stop.load(Ordering::SeqCst) {
                break;
            }
            let port = self.ports[(number + body.len()) % self.ports.len()].load(Ordering::SeqCst);
            let address = format!("http://127.0.0.1:{port}{path}");
            let request = self.client.request(method.clone(), address).bearer_auth(&self.token);
            let request = request.header("content-type", kind).header("connection", "close");
            let request = request.header(VERSION_HEADER, env!("CARGO_PKG_VERSION"));
            let request = request.header(SHA256_HEADER, Digest::of(&body).to_string()).body(body.clone());
            let answer = match request.send().await {
                Ok(answer) => {
                    let status = answer.status();
                    answer.bytes().await.map(|bytes| (status, bytes))
                }
                Err(error) => Err(error),
            };
            match answer {
                Ok((status, bytes)) if status.is_success() => return Some(bytes.to_vec()),
                Ok((status, bytes)) if status.is_client_error() && status.as_u16() != 429 => {
                    panic!("{status}: {}", String::from_utf8_lossy(&bytes))
                }
                _ => tokio::time::sleep(Duration::from_millis(30)).await,
            }
        }
        None
    }

    async fn work(self, number: usize, acknowledged: Acknowledged) -> Option<()> {
        let machine = machine(&format!("w{number}"));
        let json = "application/json";
        let worker = self.send(Method::POST, path::WORKERS, json, serde_json::to_vec(&machine).unwrap()).await?;
        let worker: Worker = serde_json::from_slice(&worker).unwrap();
        for round in 0.. {
            let nonce = format!("{round}");
            let ask = Ask {
                worker: worker.worker,
                nonce,
                threads: 1,
                nodes_per_second: Some(1_000),
                most_seconds: Some(2),
                acknowledged: Vec::new(),
            };
            let answer = self.send(Method::POST, path::LEASES, json, serde_json::to_vec(&ask).unwrap()).await?;
            let answer: Answer = serde_json::from_slice(&answer).unwrap();
            let Work::Games(lease) = answer.work else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let bytes = play(&lease);
            let place = path::games(&lease.token, lease.terms.first_game);
            let receipt = self.send(Method::PUT, &place, SHARD_TYPE, bytes).await?;
            let receipt: Receipt = serde_json::from_slice(&receipt).unwrap();
            let before = acknowledged.lock().unwrap().insert(lease.terms.first_game, (lease.games, receipt.shard));
            assert_eq!(before, None, "these games were leased to another worker");
        }
        None
    }
}

/// Acknowledged uploads: the lease's first game, the number of games, and the shard.
pub(crate) type Acknowledged = Arc<Mutex<BTreeMap<u64, (u64, Digest)>>>;

/// Starts this many workers, which run until `stop`.
pub(crate) fn start_workers(
    count: usize,
    ports: &Arc<Vec<AtomicU16>>,
    tokens: &[String],
    stop: &Arc<AtomicBool>,
    acknowledged: &Acknowledged,
) -> tokio::task::JoinSet<Option<()>> {
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..count {
        let volunteer = Volunteer {
            client: Client::new(),
            ports: Arc::clone(ports),
            token: tokens[number % tokens.len()].clone(),
            stop: Arc::clone(stop),
        };
        tasks.spawn(volunteer.work(number, Arc::clone(acknowledged)));
    }
    tasks
}

/// Kills coordinators, stops workers and checks all acknowledged uploads; returns their number.
pub(crate) async fn end(
    processes: &mut [&mut Child],
    mut workers: tokio::task::JoinSet<Option<()>>,
    stop: &AtomicBool,
    acknowledged: Acknowledged,
    place: &Place,
) -> usize {
    for process in processes {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
    let acknowledged = Arc::try_unwrap(acknowledged).unwrap().into_inner().unwrap();
    assert_all_there(place, &acknowledged).await;
    acknowledged.len()
}

/// Checks that every acknowledged upload exists, once.
async fn assert_all_there(place: &Place, acknowledged: &BTreeMap<u64, (u64, Digest)>) {
    let store = Database::open(&place.database, None).await.unwrap();
    let objects = place.objects();
    let held = store.read(query!(|c| {
        let query = "SELECT segments.first, segments.games, shards.hash FROM segments
                         JOIN shards ON shards.id = segments.shard WHERE segments.state = 'held' ORDER BY 1";
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(query).fetch_all(c.raw()).await?;
        Ok(rows)
    }));
    let held = held.await.unwrap();
    let mut end = 0;
    let mut there = BTreeMap::new();
    for (first, games, hash) in held {
        assert!(first >= end, "game {first} is counted twice");
        end = first + games;
        there.insert(first as u64, (games as u64, hash.parse::<Digest>().unwrap()));
    }
    for (first, upload) in acknowledged {
        assert_eq!(there.get(first), Some(upload), "games from {first} on");
        let bytes = objects.get(Kind::Shard, upload.1).await.unwrap();
        assert_eq!(Digest::of(&bytes), upload.1);
    }
    store.close().await;
}

fn count(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Kills a coordinator repeatedly.
async fn kill_repeatedly(place: &Place, kills: usize) {
    // A token has few request slots, so many workers need several tokens.
    let tokens = program::prepare_many(place, 16);
    let (mut process, port) = program::start(&[], place);
    let (ports, stop) = (Arc::new(vec![AtomicU16::new(port)]), Arc::new(AtomicBool::new(false)));
    let acknowledged = Acknowledged::default();
    let tasks = start_workers(count("CHUHE_WORKERS", 20), &ports, &tokens, &stop, &acknowledged);
    for kill in 0..kills {
        // Irregular, to hit different operations.
        tokio::time::sleep(Duration::from_millis(400 + (kill as u64 * 7919) % 613)).await;
        process.kill().unwrap();
        process.wait().unwrap();
        let (again, at) = program::start(&[], place);
        process = again;
        ports[0].store(at, Ordering::SeqCst);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let acknowledged = end(&mut [&mut process], tasks, &stop, acknowledged, place).await;
    assert!(acknowledged > kills, "only {acknowledged} uploads were acknowledged");
    println!("killed {kills} times: all of {acknowledged} acknowledged uploads exist, once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_uploads_survive_kills() {
    let folder = tempfile::tempdir().unwrap();
    kill_repeatedly(&Place::folder(folder.path()), count("CHUHE_KILLS", 5)).await;
}

/// The same with the database and the objects on servers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_uploads_survive_kills_on_servers() {
    let Some(server) = Server::start() else { return };
    let (folder, bucket) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let s3 = s3::serve(bucket.path()).await;
    let database = server.address(&server.database(None).await);
    let place = Place {
        objects: "s3://games/all".to_owned(),
        environment: s3::environment(s3, "secret"),
        ..Place::with(folder.path(), database)
    };
    kill_repeatedly(&place, count("CHUHE_KILLS", 5)).await;
}

/// A bucket that goes away stops new games until it is back; without one nothing is served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_bucket_is_reported() {
    let (folder, buckets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let s3 = s3::serve(buckets.path()).await;
    let bucket = buckets.path().join("games");
    let place = Place {
        objects: "s3://games/all".to_owned(),
        environment: s3::environment(s3, "secret"),
        ..Place::folder(folder.path())
    };
    place.objects().probe().await.unwrap();
    program::migrate(&place);
    let (mut process, port) = program::start(&[], &place);
    let until_readiness_is = async |wanted: u16| {
        loop {
            let response = reqwest::get(format!("http://127.0.0.1:{port}/readyz")).await.unwrap();
            if response.status() == wanted {
                break response.text().await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    until_readiness_is(200).await;
    std::fs::remove_dir_all(&bucket).unwrap();
    assert_eq!(until_readiness_is(503).await, "the store of objects does not answer: no new games\n");
    std::fs::create_dir(&bucket).unwrap();
    until_readiness_is(200).await;
    process.kill().unwrap();
    process.wait().unwrap();
    std::fs::remove_dir_all(&bucket).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chuhe-coordinator"));
    place.add_options(&mut command);
    let output = command.args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no bucket"), "{said}");
}
