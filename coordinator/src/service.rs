//! State shared by a running coordinator: the database, the objects, the clock, and limits and
//! caches in memory, which may differ between coordinators without harm.

use std::{
    path::Path,
    sync::{Arc, RwLock},
    time::Duration,
};

use protocol::api::work::Role;

use crate::{
    choices::{self, Choices},
    clock::Clock,
    http::limits::Limits,
    live::Boards,
    objects::Objects,
    pages::Memory,
    people::{
        self, Identity,
        sessions::{self, Session},
    },
    store::{Connection, Database, Operation, Store as _, StoreError},
    work::leasing::{self, Policy},
};

/// Settings from the command line.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub struct Settings {
    /// The server's name, for people.
    pub name: String,
    /// The oldest accepted version of a worker.
    pub least_worker: String,
    /// The bench node count of the engine that new games need.
    pub bench_signature: u64,
    /// Whether accounts are by invitation only.
    pub invitation_only: bool,
    /// Whether new accounts wait for approval.
    pub approval: bool,
    /// Another address of nets, books and shards.
    pub mirror: Option<String>,
    /// Minimum of free bytes; below it, no new self-play is handed out.
    pub least_free_bytes: u64,
    /// Maximum of uploads waiting for validation; above it, no new self-play is handed out.
    pub most_waiting: i64,
    /// Days until games expire, unless a published net learned from them; none: never.
    pub keep_days: Option<u32>,
    /// Bytes of games that an account may keep here; none: unlimited.
    pub quota_bytes: Option<u64>,
    /// Maximum of simultaneous requests.
    pub most_requests: usize,
    /// Rate limit: requests per second of a token, on average.
    pub requests_per_second: u32,
    /// Rate limit: burst of requests.
    pub burst: u32,
    /// Timeout of a request with its body.
    pub request_timeout: Duration,
    /// Whether a proxy stands in front: addresses are then read from `X-Forwarded-For`.
    pub behind_proxy: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "Chuhe".to_owned(),
            least_worker: env!("CARGO_PKG_VERSION").to_owned(),
            bench_signature: protocol::BENCH_SIGNATURE,
            invitation_only: false,
            approval: false,
            mirror: None,
            least_free_bytes: 2 << 30,
            most_waiting: leasing::MAX_VALIDATION_BACKLOG,
            keep_days: None,
            quota_bytes: None,
            most_requests: 512,
            requests_per_second: 20,
            burst: 200,
            request_timeout: Duration::from_mins(1),
            behind_proxy: false,
        }
    }
}

/// A running coordinator.
#[derive(Clone)]
pub struct Service {
    /// The database.
    pub store: Database,
    /// The object store.
    pub objects: Objects,
    /// The clock.
    pub clock: Clock,
    /// Settings from the command line.
    pub settings: Arc<Settings>,
    /// Rate limits and admission control.
    pub limits: Arc<Limits>,
    /// The current policy for new leases.
    pub policy: Arc<RwLock<Policy>>,
    /// Live matches.
    pub live: Arc<Boards>,
    /// Memory of the pages: sign-in attempts and viewers.
    pub pages: Arc<Memory>,
    /// True once the coordinator stops.
    pub stopping: tokio::sync::watch::Receiver<bool>,
}

impl Service {
    /// Free bytes on the disks of objects and database, the smaller; none if both are remote.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        let free = |folder: &Path| {
            let found = rustix::fs::statvfs(folder).ok()?;
            Some(found.f_bavail.saturating_mul(found.f_frsize))
        };
        [self.objects.folder(), self.store.folder()].into_iter().flatten().filter_map(free).min()
    }

    /// Reads in one transaction.
    ///
    /// # Errors
    ///
    /// If the operation fails.
    pub async fn read<T, F>(&self, operation: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        self.store.read(operation).await
    }

    /// Writes in one transaction.
    ///
    /// # Errors
    ///
    /// If the operation fails.
    pub async fn write<T, F>(&self, operation: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        self.store.write(operation).await
    }

    /// Identifies the account of a token. Records the token's use now and then.
    ///
    /// # Errors
    ///
    /// If the token is unknown.
    pub async fn identify(&self, token: &str) -> Result<Identity, StoreError> {
        let (now, token) = (self.clock.now(), token.to_owned());
        let identity = self
            .read(move |mut connection| {
                let token = token.clone();
                Box::pin(async move { people::authenticate(&mut connection, now, &token).await })
            })
            .await?;
        if identity.record_use {
            let id = identity.token;
            self.write(move |mut connection| {
                Box::pin(async move { people::record_use(&mut connection, now, id).await })
            })
            .await?;
        }
        Ok(identity)
    }

    /// Finds the session of a cookie's value.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn session(&self, cookie: &str) -> Result<Option<Session>, StoreError> {
        let (now, cookie) = (self.clock.now(), cookie.to_owned());
        self.read(move |mut connection| {
            let cookie = cookie.clone();
            Box::pin(async move { sessions::find(&mut connection, now, &cookie).await })
        })
        .await
    }

    /// The settings chosen by administrators, or else those of the command line.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn choices(&self) -> Result<Choices, StoreError> {
        let settings = Arc::clone(&self.settings);
        self.read(move |mut connection| {
            let settings = Arc::clone(&settings);
            Box::pin(async move { choices::choices(&mut connection, &settings).await })
        })
        .await
    }

    /// The current policy for new leases.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy.read().map(|policy| policy.clone()).unwrap_or_default()
    }

    /// The reason why a role does not suffice, if it does not.
    #[must_use]
    pub fn lacks(role: Role, needed: Role) -> Option<String> {
        (role < needed).then(|| format!("that takes a {needed}; the token is a {role}'s"))
    }
}
