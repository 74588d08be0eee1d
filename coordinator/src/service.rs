//! What a running coordinator has: the database, the objects, the time, and what it decides in memory because another
//! could decide otherwise without harm (limits, caches).

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
    store::{Connection, Database, Operation, Outcome, Store as _},
    work::leasing::{self, Policy},
};

/// What whoever starts a coordinator says.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Settings {
    /// Its name, for people.
    pub name: String,
    /// The oldest version of a worker that it takes games from.
    pub least_worker: String,
    /// The nodes of the bench of the engine whose games are wanted now.
    pub bench_signature: u64,
    /// Whether accounts are by invitation only.
    pub invitation_only: bool,
    /// Whether new accounts wait for approval.
    pub approval: bool,
    /// Where nets, books and shards may be had as well.
    pub mirror: Option<String>,
    /// Below so many free bytes no new games for training are handed out.
    pub least_free_bytes: u64,
    /// While more uploads wait for validation no new games for training are handed out.
    pub most_waiting: i64,
    /// After how many days games expire that no published net learned from; none: never.
    pub keep_days: Option<u32>,
    /// How many bytes of games an account may have here; none: as many as it wants.
    pub quota_bytes: Option<u64>,
    /// How many requests at the same time.
    pub most_requests: usize,
    /// How many requests a second of one token or address, in the long run.
    pub requests_per_second: u32,
    /// How many requests at once after a pause.
    pub burst: u32,
    /// How long a request may take, with its body.
    pub request_timeout: Duration,
    /// Whether addresses are taken from `X-Forwarded-For`, because a proxy stands before it.
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
            most_waiting: leasing::MOST_BACKLOG,
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
    /// The objects.
    pub objects: Objects,
    /// The time.
    pub clock: Clock,
    /// What whoever started it said.
    pub settings: Arc<Settings>,
    /// Who asks too often.
    pub limits: Arc<Limits>,
    /// What holds for new leases now.
    pub policy: Arc<RwLock<Policy>>,
    /// What people see of matches while they are played.
    pub live: Arc<Boards>,
    /// What its pages remember: who tried to sign in, and who watches.
    pub pages: Arc<Memory>,
    /// Whether it is stopping.
    pub stopping: tokio::sync::watch::Receiver<bool>,
}

impl Service {
    /// How many bytes are free where games and the database are, whichever has less; none if both are elsewhere.
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
    pub async fn read<T, F>(&self, operation: F) -> Outcome<T>
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
    pub async fn write<T, F>(&self, operation: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        self.store.write(operation).await
    }

    /// Who has this token. Its use is noted now and then.
    ///
    /// # Errors
    ///
    /// If nobody has.
    pub async fn identify(&self, token: &str) -> Outcome<Identity> {
        let (now, token) = (self.clock.now(), token.to_owned());
        let identity = self
            .read(move |mut connection| {
                let token = token.clone();
                Box::pin(async move { people::authenticate(&mut connection, now, &token).await })
            })
            .await?;
        if identity.note_use {
            let id = identity.token;
            self.write(move |mut connection| Box::pin(async move { people::note_use(&mut connection, now, id).await }))
                .await?;
        }
        Ok(identity)
    }

    /// Whose session it is, by what its cookie holds.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn session(&self, cookie: &str) -> Outcome<Option<Session>> {
        let (now, cookie) = (self.clock.now(), cookie.to_owned());
        self.read(move |mut connection| {
            let cookie = cookie.clone();
            Box::pin(async move { sessions::find(&mut connection, now, &cookie).await })
        })
        .await
    }

    /// What administrators chose, or whoever started it said.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn choices(&self) -> Outcome<Choices> {
        let settings = Arc::clone(&self.settings);
        self.read(move |mut connection| {
            let settings = Arc::clone(&settings);
            Box::pin(async move { choices::choices(&mut connection, &settings).await })
        })
        .await
    }

    /// What holds for new leases now.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy.read().map(|policy| policy.clone()).unwrap_or_default()
    }

    /// Why a role may not do what only another may.
    #[must_use]
    pub fn lacks(role: Role, needed: Role) -> Option<String> {
        (role < needed).then(|| format!("that takes a {needed}; the token is a {role}'s"))
    }
}
