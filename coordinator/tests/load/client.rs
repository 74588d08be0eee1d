//! A client process with many workers.

use std::{cell::RefCell, collections::BTreeMap, net::SocketAddr, rc::Rc, time::Duration};

use dataset::Digest;
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    work::{Answer as WorkAnswer, Ask, Lease, Receipt, Renew, Work},
};
use serde::{Deserialize, Serialize};
use tokio::{
    task::LocalSet,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    exchange::{self, Request},
    plan::{Kind, Plan, draw},
    shard,
};

/// Approximate games per lease.
const GAMES: u64 = 36;

/// Measurements of a client process.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Response times by call, in microseconds from when the request was due.
    pub(crate) took: BTreeMap<String, Vec<u32>>,
    /// Rejections with a time to retry, by call and status.
    pub(crate) rejected: BTreeMap<String, u64>,
    /// Other failures, by call and cause.
    pub(crate) wrong: BTreeMap<String, u64>,
    /// Acknowledged uploads: the lease and the shard.
    pub(crate) acknowledged: Vec<(String, String)>,
    /// Seconds of processor time.
    pub(crate) cpu: f64,
}

struct Client {
    plan: Plan,
    begin: Instant,
    seen: RefCell<Seen>,
}

/// Runs the client process; the environment names its plan.
pub(crate) fn main() {
    let plan = std::fs::read(std::env::var("CHUHE_LOAD_PLAN").expect("the tests say where the plan is")).unwrap();
    let plan: Plan = serde_json::from_slice(&plan).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = plan.report.clone();
    let mut seen = LocalSet::new().block_on(&runtime, async {
        let client = Rc::new(Client { plan, begin: Instant::now(), seen: RefCell::default() });
        let workers = 0..client.plan.workers.len();
        let tasks: Vec<_> = workers.map(|worker| tokio::task::spawn_local(Rc::clone(&client).live(worker))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        client.seen.take()
    });
    seen.cpu = crate::scene::cpu_seconds(std::process::id());
    std::fs::write(report, serde_json::to_vec(&seen).unwrap()).unwrap();
}

impl Client {
    fn at(&self, after: Duration) -> Instant {
        self.begin + after
    }

    /// Runs one worker until the end of the load.
    async fn live(self: Rc<Self>, worker: usize) {
        let load = self.plan.load.clone();
        let share = worker as f64 / self.plan.workers.len() as f64;
        let end = load.warm_up + load.measured;
        let (mut ask_at, mut due) = match load.kind {
            // Uploads are spread evenly afterwards, as in steady operation.
            Kind::Steady => {
                (load.warm_up.mul_f64(share), load.warm_up + load.job.mul_f64(draw(self.plan.seed, worker as u64)))
            }
            Kind::Storm => (load.job.mul_f64(share), load.job + load.job.mul_f64(share)),
        };
        for round in 0.. {
            let Some(lease) = self.lease(worker, round, ask_at).await else { return };
            if load.kind == Kind::Steady {
                let renewal = due.saturating_sub(load.job / 2);
                if renewal > ask_at && renewal <= end {
                    self.renew(worker, &lease, renewal).await;
                }
            }
            if due > end {
                return;
            }
            self.deliver(worker, &lease, due).await;
            if load.kind == Kind::Storm {
                return;
            }
            (ask_at, due) = (due + Duration::from_millis(100), due + load.job);
            if ask_at > end {
                return;
            }
        }
    }

    async fn lease(&self, worker: usize, round: u32, due: Duration) -> Option<Lease> {
        let (id, _) = self.plan.workers[worker];
        // The speed that gives this many games of 500,000 nodes.
        let ask = Ask {
            worker: id,
            nonce: format!("{round}"),
            threads: 4,
            nodes_per_second: Some(GAMES * 500_000 / 300 + 1),
            most_seconds: Some(300),
            acknowledged: Vec::new(),
        };
        let body = serde_json::to_vec(&ask).unwrap();
        for _ in 0..100 {
            let json = [("content-type", "application/json")];
            let answer = self.ask("lease", worker, due, "POST", path::LEASES, &json, &body).await?;
            match serde_json::from_slice::<WorkAnswer>(&answer).unwrap().work {
                Work::Games(lease) => return Some(lease),
                Work::Wait { reason, .. } => {
                    self.count(|seen| &mut seen.wrong, format!("lease: wait: {reason}"));
                    sleep(Duration::from_secs(1)).await;
                }
            }
        }
        None
    }

    async fn renew(&self, worker: usize, lease: &Lease, due: Duration) {
        let body = serde_json::to_vec(&Renew { finished: 1 }).unwrap();
        let json = [("content-type", "application/json")];
        self.ask("renewal", worker, due, "POST", &path::renewal(&lease.token), &json, &body).await;
    }

    async fn deliver(&self, worker: usize, lease: &Lease, due: Duration) {
        // Built before it is due: a real worker has its games at that time.
        sleep_until(self.at(due) - Duration::from_millis(50)).await;
        let bytes = shard::of(&lease.terms, lease.games, self.plan.load.shard_bytes);
        let hash = Digest::of(&bytes).to_string();
        let headers = [("content-type", SHARD_TYPE), (SHA256_HEADER, hash.as_str())];
        let place = path::games(&lease.token, lease.terms.first_game);
        if let Some(answer) = self.ask("upload", worker, due, "PUT", &place, &headers, &bytes).await {
            let receipt: Receipt = serde_json::from_slice(&answer).unwrap();
            assert_eq!(receipt.shard.to_string(), hash);
            self.seen.borrow_mut().acknowledged.push((lease.token.clone(), hash));
        }
    }

    fn count(&self, which: impl Fn(&mut Seen) -> &mut BTreeMap<String, u64>, what: String) {
        *which(&mut self.seen.borrow_mut()).entry(what).or_default() += 1;
    }

    /// Sends a request when due, and retries as the server says, until a 2xx response; none if
    /// there is none.
    #[allow(clippy::too_many_arguments, reason = "a request has many parts")]
    async fn ask(
        &self,
        what: &str,
        worker: usize,
        due: Duration,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<Vec<u8>> {
        let load = &self.plan.load;
        let due_at = self.at(due);
        sleep_until(due_at).await;
        let mut all = vec![(VERSION_HEADER, env!("CARGO_PKG_VERSION"))];
        all.extend(headers);
        let from: SocketAddr = self.plan.from[worker % self.plan.from.len()];
        let request = Request { method, path, token: &self.plan.workers[worker].1, headers: &all, body };
        for _ in 0..1_000 {
            let wait = match exchange::ask(self.plan.server, from, &request).await {
                Ok(answer) if (200..300).contains(&answer.status) => {
                    if (load.warm_up..=load.warm_up + load.measured).contains(&due) {
                        let took = due_at.elapsed().as_micros() as u32;
                        self.seen.borrow_mut().took.entry(what.to_owned()).or_default().push(took);
                    }
                    return Some(answer.body);
                }
                Ok(answer) => match (answer.status, answer.retry_after) {
                    (408 | 429 | 500..600, Some(seconds)) => {
                        self.count(|seen| &mut seen.rejected, format!("{what}: {}", answer.status));
                        seconds
                    }
                    (status, _) => {
                        let detail = String::from_utf8_lossy(&answer.body);
                        self.count(|seen| &mut seen.wrong, format!("{what}: {status} {detail}"));
                        return None;
                    }
                },
                Err(error) => {
                    self.count(|seen| &mut seen.wrong, format!("{what}: connection: {error}"));
                    5
                }
            };
            if self.begin.elapsed() > load.warm_up + load.measured + Duration::from_secs(10) {
                return None;
            }
            sleep(Duration::from_secs(wait)).await;
        }
        None
    }
}
