//! State shared by all tasks of a running coordinator: the database, the objects, the clock, the
//! settings.

use std::{
    path::Path,
    sync::{Arc, RwLock},
};

use crate::{
    choices::{self, Choices},
    clock::Clock,
    model::{Identity, Session},
    objects::Objects,
    ops::tokens::RecordTokenUse,
    people,
    pulse::Pulse,
    query,
    rules::granting::Policy,
    settings::Settings,
    store::{Database, Operation, Query, StoreError, Tokens},
};

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
    /// The current policy for new leases.
    pub policy: Arc<RwLock<Policy>>,
    /// The last steps of the background tasks.
    pub pulse: Arc<Pulse>,
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

    /// Runs an operation now.
    pub async fn run<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.store.run(self.clock.now(), operation).await
    }

    /// Reads in one transaction.
    ///
    /// # Errors
    ///
    /// If the operation fails.
    pub async fn read<T>(&self, query: impl Query<T>) -> Result<T, StoreError> {
        self.store.read(query).await
    }

    /// Reads for a page or a report: see [`Database::report`].
    ///
    /// # Errors
    ///
    /// If the operation fails, or there are too many reports.
    pub async fn report<T>(&self, query: impl Query<T>) -> Result<T, StoreError> {
        self.store.report(query).await
    }

    /// Identifies the account of a token. Records the token's use now and then, unless the disk is
    /// full.
    ///
    /// # Errors
    ///
    /// If the token is unknown.
    pub async fn identify(&self, token: &str) -> Result<Identity, StoreError> {
        let (now, token) = (self.clock.now(), token.to_owned());
        let identity = self.read(query!(|connection| people::authenticate(&mut connection, now, &token).await)).await?;
        if let Some(token) = identity.token.filter(|_| identity.record_use) {
            match self.run(RecordTokenUse { token }).await {
                Err(error) if error.is_disk_full() => tracing::debug!(%error, "the use of a token is not recorded"),
                recorded => recorded?,
            }
        }
        Ok(identity)
    }

    /// Finds the session of a cookie's value.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn session(&self, cookie: &str) -> Result<Option<Session>, StoreError> {
        let (now, hash) = (self.clock.now(), people::hash_of(cookie));
        self.read(query!(|connection| Tokens::on(connection).find_session(now, hash).await)).await
    }

    /// The settings chosen by administrators, or else those of the command line.
    ///
    /// # Errors
    ///
    /// If the database fails.
    pub async fn choices(&self) -> Result<Choices, StoreError> {
        let settings = Arc::clone(&self.settings);
        self.read(query!(|connection| choices::choices(&mut connection, &settings).await)).await
    }

    /// The current policy for new leases.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy.read().map(|policy| policy.clone()).unwrap_or_default()
    }
}
