//! A coordinator in this process, with a manual clock, and clients for it.

use std::{
    net::SocketAddr,
    sync::{Arc, RwLock},
    time::Duration,
};

use coordinator_core::{
    clock::{Clock, SECOND, Time},
    driver,
    model::AccountState,
    objects::Objects,
    ops::{accounts::CreateAccount, campaigns::CreateCampaign, tokens::CreateToken},
    people, query,
    service::Service,
    settings::Settings,
    store::Database,
    validator::Validator,
};
use coordinator_web::{app::App, engine::Engine, http, memory, router};
use dataset::{Digest, Header, Record, shard::ShardWriter};
use engine::Evaluation;
use protocol::api::{
    SHA256_HEADER, SHARD_TYPE, VERSION_HEADER, path,
    problem::{Code, Problem},
    work::{Answer, Ask, Lease, Role, Work, Worker},
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use selfplay::selfplay::Run;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::watch};

pub(crate) const NOW: Time = Time(1_800_000_000_000);

pub(crate) use crate::started::CAMPAIGN;

pub(crate) struct Bench {
    pub(crate) service: App,
    pub(crate) clock: Clock,
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
    stop: watch::Sender<bool>,
    _folder: TempDir,
}

pub(crate) fn settings() -> Settings {
    Settings {
        least_free_bytes: 0,
        requests_per_second: 1_000,
        burst: 10_000,
        request_timeout: Duration::from_mins(2),
        ..Settings::default()
    }
}

impl Bench {
    pub(crate) async fn start() -> Self {
        Self::with(settings()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        Self::with_memory(settings, memory::Memory::default()).await
    }

    pub(crate) async fn with_memory(settings: Settings, memory: memory::Memory) -> Self {
        Self::begin(settings, |service| App::new(service, memory)).await
    }

    pub(crate) async fn with_engine(settings: Settings, engine: Engine) -> Self {
        Self::begin(settings, |service| App::new(service, memory::Memory::default()).with_engine(engine)).await
    }

    async fn begin(settings: Settings, app: impl FnOnce(Service) -> App) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let folder = tempfile::tempdir().unwrap();
        let store = Database::open(&format!("sqlite:{}", folder.path().join("db").display()), None).await.unwrap();
        let objects = Objects::open(folder.path().join("objects").to_str().unwrap()).unwrap();
        let clock = Clock::manual(NOW);
        let (stop, stopping) = watch::channel(false);
        let service = Service {
            pulse: Arc::default(),
            store,
            objects,
            clock: clock.clone(),
            settings: Arc::new(settings),
            policy: Arc::new(RwLock::default()),
            stopping: stopping.clone(),
        };
        let service = app(service);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = router::router(service.clone());
        tokio::spawn(http::listen::serve(listener, app, false, stopping, Duration::from_secs(5)));
        Self { service, clock, address, client: Client::new(), stop, _folder: folder }
    }

    /// An account with a token.
    pub(crate) async fn account(&self, name: &str, role: Role) -> String {
        let (name, state, secret) = (name.to_owned(), AccountState::Active, people::new_token().unwrap());
        let account = self.service.run(CreateAccount { name, role, state, by: None }).await.unwrap().into();
        let token = CreateToken {
            account,
            name: "test".to_owned(),
            role: None,
            expires: None,
            by: None,
            secret: secret.clone(),
        };
        self.service.run(token).await.unwrap();
        secret
    }

    /// Begins a campaign, and creates its first job.
    pub(crate) async fn campaign(&self, text: &str) {
        self.service.run(CreateCampaign { text: text.to_owned(), by: None }).await.unwrap();
        self.step().await;
    }

    pub(crate) async fn step(&self) {
        driver::tick(&self.service).await.unwrap();
    }

    /// Counts the workers anew, and draws auditors among them.
    pub(crate) async fn draw_auditors(&self) {
        self.clock.advance(11 * SECOND);
        self.step().await;
    }

    /// Validates and compares all waiting uploads.
    pub(crate) async fn validate(&self) {
        let validator = Validator {
            store: self.service.store.clone(),
            objects: self.service.objects.clone(),
            clock: self.clock.clone(),
            threads: 1,
        };
        while validator.run_batch().await.unwrap() > 0 {}
    }

    pub(crate) fn request(&self, method: Method, path: &str, token: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("http://{}{path}", self.address));
        let request = request.header(VERSION_HEADER, env!("CARGO_PKG_VERSION"));
        if token.is_empty() { request } else { request.bearer_auth(token) }
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: &impl serde::Serialize) -> Response {
        let request = self.request(Method::POST, path, token).header("content-type", "application/json");
        request.body(serde_json::to_vec(body).unwrap()).send().await.unwrap()
    }

    /// Registers a worker that never asks for games.
    pub(crate) async fn register(&self, token: &str, name: &str) -> i64 {
        let worker: Worker = read(self.post(path::WORKERS, token, &machine(name)).await).await;
        worker.worker
    }

    /// Registers a worker, as if it had asked for games.
    pub(crate) async fn worker(&self, token: &str, name: &str) -> i64 {
        let worker = self.register(token, name).await;
        self.execute(format!("UPDATE workers SET asked = last_seen WHERE id = {worker}")).await;
        worker
    }

    pub(crate) async fn ask(&self, token: &str, worker: i64, nonce: &str) -> Answer {
        read(self.post(path::LEASES, token, &ask(worker, nonce)).await).await
    }

    /// A lease, which must be available.
    pub(crate) async fn lease(&self, token: &str, worker: i64, nonce: &str) -> Lease {
        match self.ask(token, worker, nonce).await.work {
            Work::Games(lease) => lease,
            Work::Wait { reason, .. } => panic!("no games: {reason}"),
        }
    }

    pub(crate) async fn upload(&self, token: &str, lease: &Lease, bytes: Vec<u8>) -> Response {
        self.upload_at(token, lease, lease.terms.first_game, bytes).await
    }

    pub(crate) async fn upload_at(&self, token: &str, lease: &Lease, first: u64, bytes: Vec<u8>) -> Response {
        let request = self.request(Method::PUT, &path::games(&lease.token, first), token);
        let request = request.header("content-type", SHARD_TYPE);
        let request = request.header(SHA256_HEADER, Digest::of(&bytes).to_string());
        request.body(bytes).send().await.unwrap()
    }

    /// Executes SQL, for states that no operation reaches.
    pub(crate) async fn execute(&self, query: String) {
        let done = self.service.store.write(move |mut c| {
            let query = query.clone();
            Box::pin(async move { Ok(sqlx::raw_sql(sqlx::AssertSqlSafe(query)).execute(c.raw()).await.map(drop)?) })
        });
        done.await.unwrap();
    }

    /// Reads one number from the database.
    pub(crate) async fn number(&self, query: &'static str) -> i64 {
        let found = self.service.store.read(query!(|c| Ok(sqlx::query_scalar(query).fetch_one(c.raw()).await?)));
        found.await.unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

pub(crate) use crate::started::machine;

/// A request of a slow worker, whose leases are short.
pub(crate) fn ask(worker: i64, nonce: &str) -> Ask {
    Ask {
        worker,
        nonce: nonce.to_owned(),
        threads: 1,
        nodes_per_second: Some(1_000),
        most_seconds: Some(24),
        acknowledged: Vec::new(),
    }
}

pub(crate) async fn read<T: DeserializeOwned>(answer: Response) -> T {
    let status = answer.status();
    let bytes = answer.bytes().await.unwrap();
    assert!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).unwrap()
}

/// The problem in a response, which must have this code and its status.
pub(crate) async fn problem(answer: Response, code: Code) -> Problem {
    let (status, kind) = (answer.status(), answer.headers().get("content-type").cloned());
    let bytes = answer.bytes().await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(kind.unwrap().to_str().unwrap(), "application/problem+json", "{status}: {text}");
    let problem: Problem = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((problem.code, status), (code, StatusCode::from_u16(code.status()).unwrap()), "{text}");
    assert!(!problem.detail.contains('\n') && !problem.detail.is_empty(), "{text}");
    problem
}

/// Plays the first games of a lease, or all.
pub(crate) fn play(terms: &Header, games: u64) -> Vec<Record> {
    let opponent = terms.opponent.map(|_| Evaluation::Plain);
    let mut run = Run::from_header(terms, Evaluation::Plain, opponent, None).unwrap();
    run.games = games;
    let mut records = Vec::new();
    run.play(|_, finished| {
        records.push(finished.record);
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap();
    records
}

/// Writes games as a shard.
pub(crate) fn shard(terms: &Header, records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ShardWriter::new(&mut bytes, terms.clone()).unwrap();
    for record in records {
        writer.add(record).unwrap();
    }
    writer.finish().unwrap();
    bytes
}
