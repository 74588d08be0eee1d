//! The table of leases.

use protocol::api::problem::Code;
use sqlx::{AssertSqlSafe, FromRow, Row as _, any::AnyRow};

use super::{connection::Connection, error::StoreError, operation::Tx};
use crate::{
    clock::Time,
    model::{JobId, Lease, LeaseId, LeaseState, LeaseToken, WorkerId},
};

const BY_TOKEN: &str = "SELECT id, job, worker, account, kind, state, first, games, finished, audited, duration,
                               created, delivered, expires FROM leases WHERE token = $1";

/// Leases read per expiry: the rest waits for the next one.
const MAX_DUE: i64 = 200;

impl FromRow<'_, AnyRow> for Lease {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            job: row.try_get("job")?,
            worker: row.try_get("worker")?,
            account: row.try_get("account")?,
            kind: row.try_get("kind")?,
            state: row.try_get("state")?,
            first: row.try_get("first")?,
            games: row.try_get("games")?,
            finished: row.try_get("finished")?,
            audited: row.try_get("audited")?,
            duration: row.try_get("duration")?,
            created: Time(row.try_get("created")?),
            delivered: Time(row.try_get("delivered")?),
            expires: Time(row.try_get("expires")?),
        })
    }
}

/// The leases, within a transaction.
pub struct Leases<'t>(Connection<'t>);

impl Tx<'_> {
    /// The leases.
    pub fn leases(&mut self) -> Leases<'_> {
        Leases(self.connection())
    }
}

fn found<T>(found: Option<T>) -> Result<T, StoreError> {
    found.ok_or_else(|| StoreError::rejected(Code::NotFound, "there is no such lease"))
}

impl<'t> Leases<'t> {
    /// The leases, for a function that is no operation yet.
    #[must_use]
    pub const fn on(connection: Connection<'t>) -> Self {
        Self(connection)
    }

    /// The job of a lease, which is locked before its lease is read.
    pub async fn job_of(&mut self, token: &LeaseToken) -> Result<JobId, StoreError> {
        let query = "SELECT job FROM leases WHERE token = $1";
        found(sqlx::query_scalar(query).bind(token.clone()).fetch_optional(self.0.raw()).await?)
    }

    /// The worker of a lease.
    pub async fn worker_of(&mut self, token: &LeaseToken) -> Result<WorkerId, StoreError> {
        let query = "SELECT worker FROM leases WHERE token = $1";
        Ok(sqlx::query_scalar(query).bind(token.clone()).fetch_one(self.0.raw()).await?)
    }

    /// A lease, under the lock of its job.
    pub async fn get(&mut self, token: &LeaseToken) -> Result<Lease, StoreError> {
        found(sqlx::query_as(BY_TOKEN).bind(token.clone()).fetch_optional(self.0.raw()).await?)
    }

    /// A lease, locked until the transaction ends.
    pub async fn lock(&mut self, token: &LeaseToken) -> Result<Lease, StoreError> {
        let query: AssertSqlSafe<String> = self.0.for_update(BY_TOKEN);
        found(sqlx::query_as(query).bind(token.clone()).fetch_optional(self.0.raw()).await?)
    }

    /// The tokens of leases whose time is over, in the order of locks.
    pub async fn due(&mut self, now: Time) -> Result<Vec<LeaseToken>, StoreError> {
        let query = "SELECT token FROM leases WHERE state = $2 AND expires < $1 ORDER BY job, id LIMIT $3";
        let query = sqlx::query_scalar(query).bind(now.0).bind(LeaseState::Active).bind(MAX_DUE);
        Ok(query.fetch_all(self.0.raw()).await?)
    }

    /// Stores the progress of a lease.
    pub async fn save_progress(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let query = "UPDATE leases SET finished = $2, expires = $3, delivered = $4 WHERE id = $1";
        let query = sqlx::query(query).bind(lease.id).bind(lease.finished).bind(lease.expires.0);
        query.bind(lease.delivered.0).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends a lease, unless it is over.
    pub async fn close(&mut self, lease: LeaseId, state: LeaseState) -> Result<(), StoreError> {
        let query = "UPDATE leases SET state = $2 WHERE id = $1 AND state = $3";
        let query = sqlx::query(query).bind(lease).bind(state).bind(LeaseState::Active);
        query.execute(self.0.raw()).await?;
        Ok(())
    }
}
