//! A coordinator as a process, its database, and the client processes.

use std::{
    io::Write as _,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use coordinator_core::{
    clock::Clock,
    model::{AccountState, Standing},
    ops::{accounts::CreateAccount, tokens::CreateToken, workers::RegisterWorker},
    people, query,
    store::{Database, Operation, StoreError, Tx},
};
use protocol::api::work::{Machine, Role};
use tempfile::TempDir;

use crate::{
    client::Seen,
    plan::{Load, Plan},
    postgres::Server,
    report::{Kept, Outcome, Usage},
    started,
};

/// Number of client processes.
const PROCESSES: u8 = 2;

/// Source addresses per process, since ports per address are limited.
const ADDRESSES: u8 = 4;

/// Games as long as a fleet's, without limit.
const CHANGES: [(&str, &str); 5] = [
    ("hash_mebibytes = 1", "hash_mebibytes = 8"),
    ("hard_nodes = 60", "hard_nodes = 5_000"),
    ("ply_cap = 60", "ply_cap = 400"),
    ("plies = 6", "plies = 8"),
    ("positions = 400", "positions = 100_000_000_000"),
];

/// The data of a coordinator.
pub(crate) struct Scene {
    folder: TempDir,
    server: Option<Server>,
    database: String,
}

impl Scene {
    pub(crate) fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}", folder.path().join("chuhe.db").display());
        Self { folder, server: None, database }
    }

    pub(crate) fn on_postgres() -> Self {
        let server = Server::start_durable();
        let name = runtime().block_on(server.database(None));
        let database = server.address(&name);
        Self { folder: tempfile::tempdir().unwrap(), server: Some(server), database }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // Another build than the one beside the tests may be measured.
        let program = std::env::var_os("CHUHE_COORDINATOR").unwrap_or(env!("CARGO_BIN_EXE_chuhe-coordinator").into());
        let mut command = Command::new(program);
        command.arg("--data").arg(self.folder.path()).args(["--database", &self.database]).args(arguments);
        command
    }

    /// Starts a coordinator and waits until it listens.
    fn serve(&self) -> (Child, u16) {
        // No validators: validation is measured separately, and would reject these made-up shards.
        let mut command = self.command(&["serve", "--validators", "0", "--most-waiting", "1000000000"]);
        let mut log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        started::serve(&mut command, move |line| drop(writeln!(log, "{line}")))
    }

    /// Runs a load.
    pub(crate) fn run(&self, load: &Load) -> Outcome {
        let campaign = self.folder.path().join("load.toml");
        std::fs::write(&campaign, started::campaign(&CHANGES)).unwrap();
        for words in [&["migrate"][..], &["admin", "campaign", "create", campaign.to_str().unwrap()]] {
            assert!(self.command(words).status().unwrap().success());
        }
        let (mut process, port) = self.serve();
        let workers = runtime().block_on(self.prepare(load));
        let server = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let began = Instant::now();
        let mut clients = Vec::new();
        for number in 0..PROCESSES {
            let file = |what: &str| self.folder.path().join(format!("{what}-{number}"));
            let own = workers.iter().skip(usize::from(number)).step_by(usize::from(PROCESSES));
            let address = |index| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 1 + number, 1 + index)), 0);
            let plan = Plan {
                load: load.clone(),
                server,
                from: (0..ADDRESSES).map(address).collect(),
                workers: own.cloned().collect(),
                report: file("report"),
                seed: u64::from(number),
            };
            std::fs::write(file("plan"), serde_json::to_vec(&plan).unwrap()).unwrap();
            let mut client = Command::new(std::env::current_exe().unwrap());
            client.args(["--exact", "client_process", "--ignored", "--nocapture"]).stdout(Stdio::null());
            clients.push((client.env("CHUHE_LOAD_PLAN", file("plan")).spawn().unwrap(), file("report")));
        }
        std::thread::sleep(load.warm_up);
        let before = self.usage(process.id());
        std::thread::sleep(load.measured);
        let after = self.usage(process.id());
        let seen: Vec<Seen> = clients
            .into_iter()
            .map(|(mut client, report): (Child, PathBuf)| {
                assert!(client.wait().unwrap().success(), "a client process has failed");
                serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
            })
            .collect();
        let took = began.elapsed();
        assert!(process.try_wait().unwrap().is_none(), "the coordinator has ended by itself");
        // Killed without shutdown: acknowledged uploads must be durable.
        process.kill().unwrap();
        process.wait().unwrap();
        let kept = runtime().block_on(self.kept());
        Outcome::new(load, took, seen, &kept, after.since(&before), self.server.is_some())
    }

    /// Creates accounts, tokens and workers once there is a job. A job created after many workers
    /// would spread its start over them.
    async fn prepare(&self, load: &Load) -> Vec<(i64, String)> {
        let store = Database::open(&self.database, None).await.unwrap();
        let until = Instant::now() + Duration::from_mins(1);
        while number(&store, "SELECT COUNT(*) FROM jobs WHERE state = 'open'").await == 0 {
            assert!(Instant::now() < until, "the campaign has no job");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let now = Clock::System.now();
        let each = load.workers.div_ceil(load.accounts);
        let mut all = Vec::new();
        for account in 0..load.accounts {
            all.extend(store.run(now, AddAccount { account, workers: each }).await.unwrap());
        }
        all.truncate(load.workers as usize);
        store.close().await;
        // Interleaved, so that the workers of an account are not adjacent.
        let stride = each as usize;
        (0..stride).flat_map(|first| all.iter().skip(first).step_by(stride).cloned().collect::<Vec<_>>()).collect()
    }

    /// Reads the state of the database.
    async fn kept(&self) -> Kept {
        let store = Database::open(&self.database, None).await.unwrap();
        let shards = store.read(query!(|c| {
            let query = "SELECT leases.token, shards.hash FROM shards JOIN leases ON leases.id = shards.lease";
            let rows: Vec<(String, String)> = sqlx::query_as(query).fetch_all(c.raw()).await?;
            Ok(rows)
        }));
        let shards = shards.await.unwrap();
        let waiting = number(&store, "SELECT COUNT(*) FROM shards WHERE state = 'received'").await;
        let twice = "SELECT COUNT(*) FROM segments AS a JOIN segments AS b ON a.job = b.job AND a.first < b.first
                     AND a.first + a.games > b.first WHERE b.first < a.first + 4096";
        let twice = if shards.len() < 10_000 { number(&store, twice).await } else { 0 };
        store.close().await;
        Kept { shards, waiting, twice, objects: self.folder.path().join("objects/shards") }
    }

    /// Resources used so far by the coordinator and its database server.
    fn usage(&self, process: u32) -> Usage {
        let children = self.server.as_ref().map(|server| family(server.process())).unwrap_or_default();
        Usage {
            cpu: cpu_seconds(process),
            memory: status(process, "VmHWM:"),
            database_cpu: children.iter().map(|&child| cpu_seconds(child)).sum(),
            database_memory: children.iter().map(|&child| status(child, "RssAnon:")).sum(),
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

async fn number(store: &Database, query: &'static str) -> i64 {
    let found = store.read(query!(|c| Ok(sqlx::query_scalar(query).fetch_one(c.raw()).await?)));
    found.await.unwrap()
}

fn machine(name: &str) -> Machine {
    Machine { threads: 4, memory_mebibytes: 8_192, ..started::machine(name) }
}

/// Processor time of a process with all its threads.
pub(crate) fn cpu_seconds(process: u32) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    ticks as f64 / TICKS_PER_SECOND
}

/// A line of a process's status file, in bytes.
fn status(process: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// A process and its children.
fn family(process: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    std::iter::once(process).chain(children.split_whitespace().filter_map(|child| child.parse().ok())).collect()
}

/// Adds an account with a token and workers, in one transaction.
struct AddAccount {
    account: u32,
    workers: u32,
}

impl Operation for AddAccount {
    const NAME: &'static str = "add_account";
    type Output = Vec<(i64, String)>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<(i64, String)>, StoreError> {
        let (name, state) = (format!("account-{}", self.account), AccountState::Active);
        let account = CreateAccount { name, role: Role::Volunteer, state, by: None }.run(tx).await?;
        // Nothing is validated here, so the account has proven its work before.
        let standing = Standing { proven_nodes: 1 << 60, ..Standing::default() };
        tx.accounts().save_standing(account, standing).await?;
        let (name, secret) = ("load".to_owned(), people::new_token()?);
        let token =
            CreateToken { account: account.into(), name, role: None, expires: None, by: None, secret: secret.clone() };
        token.run(tx).await?;
        let mut workers = Vec::new();
        for number in 0..self.workers {
            let machine = machine(&format!("machine-{number}"));
            workers.push((
                RegisterWorker { account, token: None, machine, network: None }.run(tx).await?.0,
                secret.clone(),
            ));
        }
        Ok(workers)
    }
}
