//! The table of leases.

use std::{collections::BTreeSet, ops::Range};

use dataset::Header;
use protocol::api::problem::Code;
use sqlx::AssertSqlSafe;

use super::{
    convert::{header, numbers, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::Time,
    model::{
        AccountId, JobId, JobState, Lease, LeaseId, LeaseLoad, LeaseState, LeaseToken, MAX_GAMES_PER_LEASE, NewLease,
        Playing, WorkerId,
    },
};

const BY_TOKEN: &str =
    "SELECT id, job, worker, account, kind, state, first, games, finished, charged, audited, duration,
                               created, delivered, expires FROM leases WHERE token = $1";

/// Leases read per expiry: the rest waits for the next one.
const MAX_DUE: i64 = 200;

row!(Lease {
    id,
    job,
    worker,
    account,
    kind,
    state,
    first,
    games,
    finished,
    charged,
    audited,
    duration,
    created,
    delivered,
    expires,
});

row!(LeaseLoad { of_worker, of_account, lent_nodes, waiting });
row!(Playing { games, finished });

/// Leases looked at for games to play a second time.
const MAX_QUIET: i64 = 8;

/// A lease whose time is over.
pub struct DueLease {
    /// Its id.
    pub id: LeaseId,
    /// Its job.
    pub job: JobId,
    /// Its token.
    pub token: LeaseToken,
}

row!(DueLease { id, job, token });

/// An active lease and its job's header.
pub struct LeaseWithHeader {
    /// Its id.
    pub id: LeaseId,
    /// Its token.
    pub token: LeaseToken,
    /// Its account.
    pub account: AccountId,
    /// Its worker.
    pub worker: WorkerId,
    /// Its state.
    pub state: LeaseState,
    /// Numbers of its games.
    pub numbers: Range<i64>,
    /// The time at which it expires.
    pub expires: Time,
    /// Its job.
    pub job: JobId,
    /// The state of its job.
    pub job_state: JobState,
    /// The header of its job.
    pub header: Header,
}

row!(LeaseWithHeader { id, token, account, worker, state, numbers: numbers, expires, job, job_state, header: header });

/// Reads leases with headers.
macro_rules! with_header {
    ($condition:literal) => {
        concat!(
            "SELECT leases.id AS id, token, account, worker, leases.state AS state, first, games, expires, job,
                    jobs.state AS job_state, header
             FROM leases JOIN jobs ON jobs.id = leases.job WHERE ",
            $condition
        )
    };
}

repository!(
    /// The leases, within a transaction.
    Leases, leases
);

fn found<T>(found: Option<T>) -> Result<T, StoreError> {
    found.ok_or_else(|| StoreError::rejected(Code::NotFound, "there is no such lease"))
}

impl Leases<'_> {
    /// The games of active leases, of one job or of all.
    pub async fn playing(&mut self, job: Option<JobId>) -> Result<Playing, StoreError> {
        let query = "SELECT CAST(COALESCE(SUM(games), 0) AS BIGINT) AS games,
                            CAST(COALESCE(SUM(finished), 0) AS BIGINT) AS finished
                     FROM leases WHERE state = 'active' AND ($1 < 0 OR job = $1)";
        let query = sqlx::query_as(query).bind(job.map_or(-1, |job| job.0));
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// The job of a lease, which is locked before its lease is read.
    pub async fn job_of(&mut self, token: &LeaseToken) -> Result<JobId, StoreError> {
        let query = "SELECT job FROM leases WHERE token = $1";
        found(sqlx::query_scalar(query).bind(token.clone()).fetch_optional(self.0.raw()).await?)
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

    /// The oldest active leases of a job from before a time, with games that are missing.
    pub async fn quiet(&mut self, job: JobId, since: Time) -> Result<Vec<Lease>, StoreError> {
        let query = "SELECT id, job, worker, account, kind, state, first, games, finished, charged, audited, duration,
                            created, delivered, expires FROM leases
                     WHERE job = $1 AND state = 'active' AND created < $2
                     AND EXISTS (SELECT 1 FROM segments WHERE segments.lease = leases.id)
                     ORDER BY created LIMIT $3";
        Ok(sqlx::query_as(query).bind(job).bind(since).bind(MAX_QUIET).fetch_all(self.0.raw()).await?)
    }

    /// Leases whose time is over, in the order of locks.
    pub async fn due(&mut self, now: Time) -> Result<Vec<DueLease>, StoreError> {
        let query = "SELECT job, id, token FROM leases WHERE state = 'active' AND expires < $1
                     ORDER BY expires LIMIT $2";
        let query = sqlx::query_as(query).bind(now).bind(MAX_DUE);
        let mut due: Vec<DueLease> = query.fetch_all(self.0.raw()).await?;
        due.sort_unstable_by_key(|lease| (lease.job, lease.id));
        Ok(due)
    }

    /// Stores the progress of a lease.
    pub async fn save_progress(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let query = "UPDATE leases SET finished = $2, expires = $3, delivered = $4 WHERE id = $1";
        let query = sqlx::query(query).bind(lease.id).bind(lease.finished).bind(lease.expires);
        query.bind(lease.delivered).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The accounts that left audits which were granted since a time.
    pub async fn left_audits(&mut self, since: Time) -> Result<BTreeSet<AccountId>, StoreError> {
        let query = "SELECT account FROM leases
                     WHERE kind = 'audit' AND state IN ('expired', 'returned') AND created > $1";
        let left: Vec<AccountId> = sqlx::query_scalar(query).bind(since).fetch_all(self.0.raw()).await?;
        Ok(left.into_iter().collect())
    }

    /// Stores how many missing games of a lease are paid for.
    pub async fn save_charged(&mut self, lease: LeaseId, games: i64) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE leases SET charged = $2 WHERE id = $1").bind(lease).bind(games);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Makes active leases last until a time at least.
    pub async fn extend(&mut self, until: Time) -> Result<(), StoreError> {
        let query = "UPDATE leases SET expires = $1 WHERE state = 'active' AND expires < $1";
        sqlx::query(query).bind(until).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends a lease, unless it is over.
    pub async fn close(&mut self, lease: LeaseId, state: LeaseState) -> Result<(), StoreError> {
        let query = "UPDATE leases SET state = $2 WHERE id = $1 AND state = $3";
        let query = sqlx::query(query).bind(lease).bind(state).bind(LeaseState::Active);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends all active leases of an account, and reopens their games. The caller has locked their
    /// jobs.
    pub async fn expire_all(&mut self, account: AccountId) -> Result<(), StoreError> {
        let query = "UPDATE segments SET state = 'open', lease = NULL WHERE state = 'leased'
                     AND lease IN (SELECT id FROM leases WHERE account = $1 AND state = 'active')";
        sqlx::query(query).bind(account).execute(self.0.raw()).await?;
        let query = "UPDATE leases SET state = $2 WHERE account = $1 AND state = 'active'";
        sqlx::query(query).bind(account).bind(LeaseState::Expired).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The active leases of a worker and its account, and the account's waiting uploads.
    pub async fn load(&mut self, worker: WorkerId, account: AccountId) -> Result<LeaseLoad, StoreError> {
        let query = "SELECT (SELECT COUNT(*) FROM leases WHERE worker = $1 AND state = 'active') AS of_worker,
                            CAST(SUM(leases) AS BIGINT) AS of_account, CAST(SUM(nodes) AS BIGINT) AS lent_nodes,
                            CAST(SUM(waiting) AS BIGINT) AS waiting
                     FROM (SELECT COUNT(*) AS leases, 0 AS waiting,
                                  COALESCE(SUM(leases.games * jobs.nodes_per_game), 0) AS nodes
                           FROM leases JOIN jobs ON jobs.id = leases.job
                           WHERE account = $2 AND leases.state = 'active'
                           UNION ALL
                           SELECT 0, COUNT(*), COALESCE(SUM(waiting.games * jobs.nodes_per_game), 0)
                           FROM (SELECT job, games FROM shards WHERE account = $2 AND state = 'received'
                                 LIMIT 1000) AS waiting
                           JOIN jobs ON jobs.id = waiting.job) AS own";
        Ok(sqlx::query_as(query).bind(worker).bind(account).fetch_one(self.0.raw()).await?)
    }

    /// The number of leases that an account has fulfilled, up to a maximum.
    pub async fn fulfilled(&mut self, account: AccountId, max: i64) -> Result<i64, StoreError> {
        let query = "SELECT COUNT(*) FROM
                     (SELECT 1 FROM leases WHERE account = $1 AND state = 'done' LIMIT $2) AS fulfilled";
        Ok(sqlx::query_scalar(query).bind(account).bind(max).fetch_one(self.0.raw()).await?)
    }

    /// Whether an account was granted any of these games since a time and did not deliver it, or
    /// only in a rejected upload.
    pub async fn has_lost(
        &mut self,
        account: AccountId,
        job: JobId,
        games: &Range<i64>,
        since: Time,
    ) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM leases WHERE account = $1 AND state IN ('expired', 'returned') AND job = $2
                     AND first < $5 AND first > $3 - $4 AND first + games > $3 AND created > $6
                     UNION ALL SELECT COUNT(*) FROM shards WHERE account = $1 AND state = 'rejected' AND job = $2
                     AND first < $5 AND first > $3 - $4 AND first + games > $3 AND received > $6";
        let query = sqlx::query_scalar(query).bind(account).bind(job).bind(games.start).bind(MAX_GAMES_PER_LEASE);
        let query = query.bind(games.end).bind(since);
        let lost: Vec<i64> = query.fetch_all(self.0.raw()).await?;
        Ok(lost.into_iter().any(|lost| lost > 0))
    }

    /// The active lease of a worker that was granted for this nonce.
    pub async fn by_nonce(&mut self, worker: WorkerId, nonce: &str) -> Result<Option<LeaseWithHeader>, StoreError> {
        let query = with_header!("leases.worker = $1 AND leases.nonce = $2 AND leases.state = 'active'");
        Ok(sqlx::query_as(query).bind(worker).bind(nonce.to_owned()).fetch_optional(self.0.raw()).await?)
    }

    /// A lease of an account, with its job's header.
    pub async fn with_header(&mut self, token: &LeaseToken, account: AccountId) -> Result<LeaseWithHeader, StoreError> {
        let query = sqlx::query_as(with_header!("leases.token = $1")).bind(token.clone());
        let lease: LeaseWithHeader = found(query.fetch_optional(self.0.raw()).await?)?;
        if lease.account != account {
            return Err(StoreError::rejected(Code::NotOwner, "the lease belongs to another account"));
        }
        Ok(lease)
    }

    /// Whether a lease is active.
    pub async fn is_active(&mut self, lease: LeaseId) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM leases WHERE id = $1 AND state = $2";
        let query = sqlx::query_scalar(query).bind(lease).bind(LeaseState::Active);
        Ok(query.fetch_one(self.0.raw()).await.map(|active: i64| active > 0)?)
    }

    /// Adds a lease.
    pub async fn insert(&mut self, lease: &NewLease) -> Result<LeaseId, StoreError> {
        let query = "INSERT INTO leases (token, job, worker, account, nonce, kind, state, first, games, audited,
                                         duration, created, expires, attempts)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING id";
        let query = sqlx::query_scalar(query).bind(lease.token.clone()).bind(lease.job).bind(lease.worker);
        let query = query.bind(lease.account).bind(lease.nonce.clone()).bind(lease.kind).bind(LeaseState::Active);
        let query = query.bind(lease.numbers.start).bind(lease.numbers.end - lease.numbers.start).bind(lease.audited);
        let query = query.bind(lease.duration).bind(lease.created).bind(lease.created.after(lease.duration));
        Ok(query.bind(lease.attempts).fetch_one(self.0.raw()).await?)
    }

    /// Removes a lease that was not granted after all.
    pub async fn delete(&mut self, lease: LeaseId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM leases WHERE id = $1").bind(lease).execute(self.0.raw()).await?;
        Ok(())
    }
}
