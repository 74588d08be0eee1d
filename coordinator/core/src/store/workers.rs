//! The table of workers.

use protocol::api::work::{Failure, Machine};
use sqlx::{FromRow as _, any::AnyRow};

use super::{
    convert::{flag, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::{HOUR, Time},
    model::{
        AccountId, Auditor, Fleet, Job, MAX_GAMES_PER_LEASE, Player, Reason, Refusal, Standing, TokenId, WorkerId,
        WorkerKey,
    },
    rules::sizing,
};

/// Relatives of an account that are looked at.
const MAX_RELATED: i64 = 1_000;

/// Workers of other accounts that are looked at for lost games.
const MAX_OTHERS: i64 = 2_000;

/// Reads accounts that may audit games of an engine. A worker of theirs has asked for games in the
/// last ten minutes, and they wait for no fault. Trainers see games before their audit.
macro_rules! auditors {
    ($columns:literal, $end:literal) => {
        concat!(
            $columns,
            " FROM workers JOIN accounts ON accounts.id = workers.account
              WHERE workers.asked > $1 AND workers.bench_signature = $2 AND workers.blocked IS NULL
              AND accounts.state = 'active' AND accounts.waits_until <= $1 + 600000 AND (accounts.role <> 'trainer' OR trusted = 1) ",
            $end
        )
    };
}

/// Active workers of an account.
struct OwnWorkers {
    proven_nodes: i64,
    workers: i64,
    active: i64,
}

impl OwnWorkers {
    fn counted(&self, workers: i64) -> i64 {
        sizing::counted_workers(workers, self.proven_nodes)
    }
}

row!(Auditor { account, proven_nodes, is_trusted: flag });
row!(OwnWorkers { proven_nodes, workers, active });
row!(Player {
    id,
    account,
    bench_signature,
    threads,
    nodes_per_second,
    key: key,
    blocked,
    state,
    message,
    has_delivered: flag,
    standing: standing,
});

row!(WorkerKey { is_trusted: flag, token });

/// Reads the columns of a key.
fn key(row: &AnyRow, _: &str) -> Result<WorkerKey, sqlx::Error> {
    WorkerKey::from_row(row)
}

/// Reads the columns of a standing.
fn standing(row: &AnyRow, _: &str) -> Result<Standing, sqlx::Error> {
    Standing::from_row(row)
}

repository!(
    /// The workers, within a transaction.
    Workers, workers
);

impl Workers<'_> {
    /// Records that a worker has sent something; returns its key.
    pub async fn record_contact(&mut self, worker: WorkerId, now: Time) -> Result<WorkerKey, StoreError> {
        let query =
            "UPDATE workers SET last_seen = $2, asked = $2 WHERE id = $1 RETURNING trusted AS is_trusted, token";
        Ok(sqlx::query_as(query).bind(worker).bind(now).fetch_one(self.0.raw()).await?)
    }

    /// The key of a worker.
    pub async fn key(&mut self, worker: WorkerId) -> Result<WorkerKey, StoreError> {
        let query = "SELECT trusted AS is_trusted, token FROM workers WHERE id = $1";
        Ok(sqlx::query_as(query).bind(worker).fetch_one(self.0.raw()).await?)
    }

    /// The number of other workers of an account.
    pub async fn count_others(&mut self, account: AccountId, name: &str) -> Result<i64, StoreError> {
        let query = "SELECT COUNT(*) FROM workers WHERE account = $1 AND name <> $2";
        Ok(sqlx::query_scalar(query).bind(account).bind(name.to_owned()).fetch_one(self.0.raw()).await?)
    }

    /// Whether a worker is of this account.
    pub async fn is_of(&mut self, worker: i64, account: AccountId) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM workers WHERE id = $1 AND account = $2";
        let own: i64 = sqlx::query_scalar(query).bind(worker).bind(account).fetch_one(self.0.raw()).await?;
        Ok(own > 0)
    }

    /// Adds a worker, or updates the one of this name. `network` is a hash of its block of
    /// addresses.
    pub async fn register(
        &mut self,
        now: Time,
        account: AccountId,
        machine: &Machine,
        network: Option<&str>,
    ) -> Result<WorkerId, StoreError> {
        let short = |text: &str| text.chars().filter(|c| !c.is_control()).take(100).collect::<String>();
        let query = "INSERT INTO workers (account, name, version, bench_signature, threads, memory_mebibytes, system,
                                          instruction_set, created, last_seen, network)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)
                     ON CONFLICT (account, name) DO UPDATE SET version = excluded.version,
                     bench_signature = excluded.bench_signature, threads = excluded.threads,
                     memory_mebibytes = excluded.memory_mebibytes, system = excluded.system,
                     instruction_set = excluded.instruction_set, last_seen = excluded.last_seen,
                     network = excluded.network RETURNING id";
        let query = sqlx::query_scalar(query).bind(account).bind(machine.name.clone()).bind(short(&machine.version));
        let query = query.bind(machine.bench_signature as i64).bind(i64::from(machine.threads));
        let query = query.bind(machine.memory_mebibytes.min(1 << 40) as i64).bind(short(&machine.system));
        let query = query.bind(short(&machine.instruction_set)).bind(now.0).bind(network.map(ToOwned::to_owned));
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// The account of a worker.
    pub async fn owner(&mut self, worker: WorkerId) -> Result<AccountId, StoreError> {
        let query = sqlx::query_scalar("SELECT account FROM workers WHERE id = $1").bind(worker);
        query.fetch_optional(self.0.raw()).await?.ok_or_else(|| Refusal::NoWorker { worker }.into())
    }

    /// Blocks a worker, or unblocks it.
    pub async fn block(&mut self, worker: WorkerId, reason: Option<Reason>) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE workers SET blocked = $2 WHERE id = $1").bind(worker).bind(reason);
        one(worker, query.execute(self.0.raw()).await?.rows_affected())
    }

    /// Sets whether a worker is trusted, from its next upload on and with its last token alone.
    pub async fn trust(&mut self, worker: WorkerId, is_trusted: bool) -> Result<(), StoreError> {
        let query = "UPDATE workers SET trusted = $2, trusted_after = CASE WHEN trusted = 1 THEN trusted_after
                     ELSE (SELECT COALESCE(MAX(id), 0) FROM shards) END WHERE id = $1";
        let query = sqlx::query(query).bind(worker).bind(i64::from(is_trusted));
        one(worker, query.execute(self.0.raw()).await?.rows_affected())
    }

    /// Adds a failure report, and deletes all but the newest `limit` of the account.
    pub async fn add_failure(
        &mut self,
        now: Time,
        account: AccountId,
        report: &Failure,
        limit: i64,
    ) -> Result<(), StoreError> {
        let query = "INSERT INTO failures (account, worker, at, kind, version, detail) VALUES ($1, $2, $3, $4, $5, $6)";
        let query = sqlx::query(query).bind(account).bind(report.worker).bind(now.0).bind(report.kind.name());
        query.bind(report.version.clone()).bind(report.detail.clone()).execute(self.0.raw()).await?;
        let query = "DELETE FROM failures WHERE account = $1 AND id <=
                     (SELECT id FROM failures WHERE account = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
        sqlx::query(query).bind(account).bind(limit).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The worker of an account that asks for games, if it has it.
    pub async fn player(&mut self, account: AccountId, worker: WorkerId) -> Result<Option<Player>, StoreError> {
        let query = "SELECT workers.id AS id, account, bench_signature, threads, nodes_per_second,
                            trusted AS is_trusted, token, blocked, accounts.state AS state, message,
                            proven_nodes, faults, waits_until,
                            CASE WHEN EXISTS (SELECT 1 FROM leases
                                              WHERE leases.worker = workers.id AND leases.state = 'done')
                                 THEN 1 ELSE 0 END AS has_delivered
                     FROM workers JOIN accounts ON accounts.id = workers.account
                     WHERE workers.id = $1 AND workers.account = $2";
        Ok(sqlx::query_as(query).bind(worker).bind(account).fetch_optional(self.0.raw()).await?)
    }

    /// Records a request for games.
    pub async fn record_request(
        &mut self,
        worker: WorkerId,
        now: Time,
        threads: u32,
        nodes_per_second: Option<u64>,
    ) -> Result<(), StoreError> {
        let query = "UPDATE workers SET last_seen = $2, asked = $2, threads = $3, nodes_per_second = $4 WHERE id = $1";
        let query = sqlx::query(query).bind(worker).bind(now).bind(i64::from(threads));
        query.bind(nodes_per_second.map(|speed| speed as i64)).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Binds a worker to a token.
    pub async fn bind_token(&mut self, worker: WorkerId, token: Option<TokenId>) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE workers SET token = $2 WHERE id = $1").bind(worker).bind(token);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// The number of workers that asked for games since a time. The latest ones are looked at, up
    /// to a maximum.
    pub async fn active_since(&mut self, since: Time, max: i64) -> Result<i64, StoreError> {
        let query = "SELECT proven_nodes, COUNT(*) AS workers, CAST(0 AS BIGINT) AS active
                     FROM (SELECT account FROM workers WHERE asked > $1 ORDER BY asked DESC LIMIT $2) AS newest
                     JOIN accounts ON accounts.id = newest.account GROUP BY accounts.id, proven_nodes";
        let own: Vec<OwnWorkers> = sqlx::query_as(query).bind(since).bind(max).fetch_all(self.0.raw()).await?;
        Ok(own.iter().map(|own| own.counted(own.workers)).sum())
    }

    /// The active workers of an engine. It reads all of them, so it is no part of an operation.
    pub async fn fleet(&mut self, now: Time, bench_signature: i64) -> Result<Fleet, StoreError> {
        let query = auditors!(
            "SELECT accounts.id AS account, proven_nodes, MAX(trusted) AS is_trusted",
            "GROUP BY accounts.id, proven_nodes ORDER BY accounts.id"
        );
        let query = sqlx::query_as(query).bind(now.after(-HOUR / 6)).bind(bench_signature);
        let auditors: Vec<Auditor> = query.fetch_all(self.0.raw()).await?;
        // A worker that has fulfilled no lease may be a name alone.
        let query = "SELECT proven_nodes, COUNT(*) AS workers,
                            CAST(SUM(CASE WHEN asked > $2 AND EXISTS (SELECT 1 FROM leases WHERE worker = workers.id
                                                                      AND leases.state = 'done')
                                          THEN 1 ELSE 0 END) AS BIGINT) AS active
                     FROM workers JOIN accounts ON accounts.id = workers.account
                     WHERE asked > $1 GROUP BY accounts.id, proven_nodes";
        let query = sqlx::query_as(query).bind(now.after(-HOUR)).bind(now.after(-HOUR / 6));
        let own: Vec<OwnWorkers> = query.fetch_all(self.0.raw()).await?;
        let workers = own.iter().map(|own| own.counted(own.workers)).sum();
        let active = own.iter().map(|own| own.counted(own.active)).sum();
        Ok(Fleet { workers, active: Some(active), auditors: auditors.into(), at: now })
    }

    /// The accounts related to others: invited by them or inviting them, or with a worker in the
    /// same block of addresses.
    pub async fn related(&mut self, accounts: &[AccountId]) -> Result<Vec<AccountId>, StoreError> {
        let mut related = Vec::new();
        for account in accounts {
            let query = "SELECT created_by AS account FROM invitations WHERE used_by = $1
                         UNION SELECT used_by FROM invitations WHERE created_by = $1 AND used_by IS NOT NULL
                         UNION SELECT others.account FROM workers AS own CROSS JOIN workers AS others
                         WHERE own.account = $1 AND others.network = own.network
                         LIMIT $2";
            let query = sqlx::query_scalar(query).bind(*account).bind(MAX_RELATED);
            related.extend(query.fetch_all(self.0.raw()).await? as Vec<AccountId>);
        }
        Ok(related)
    }

    /// Whether another account may audit games of a job now.
    pub async fn any_auditor(&mut self, account: AccountId, job: &Job, now: Time) -> Result<bool, StoreError> {
        let query = auditors!("SELECT 1 AS other", "AND accounts.id <> $3 LIMIT 1");
        let query = sqlx::query(query).bind(now.after(-HOUR / 6)).bind(job.header.bench_signature as i64);
        Ok(query.bind(account).fetch_optional(self.0.raw()).await?.is_some())
    }

    /// Whether a worker of another account asked for games since a time, may play this job now and
    /// has not lost this game. The workers that asked last are looked at.
    pub async fn others_may_play(
        &mut self,
        account: AccountId,
        job: &Job,
        game: i64,
        now: Time,
        since: Time,
    ) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM (SELECT 1 FROM
                         (SELECT DISTINCT account FROM
                              (SELECT account FROM workers
                               WHERE asked > $4 AND account <> $1 AND bench_signature = $5 AND blocked IS NULL
                               AND (trusted <> 0 OR $6 = 0) ORDER BY asked DESC LIMIT $7) AS latest) AS recent
                         JOIN accounts ON accounts.id = recent.account
                         WHERE accounts.state = 'active' AND accounts.waits_until < $9
                         AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.account = recent.account
                                         AND leases.state IN ('expired', 'returned') AND leases.job = $2
                                         AND leases.first <= $3 AND leases.first > $3 - $8
                                         AND leases.first + leases.games > $3)
                         AND NOT EXISTS (SELECT 1 FROM shards WHERE shards.account = recent.account
                                         AND shards.state = 'rejected' AND shards.job = $2 AND shards.first <= $3
                                         AND shards.first > $3 - $8 AND shards.first + shards.games > $3)
                         LIMIT 1) AS other";
        let query = sqlx::query_scalar(query).bind(account).bind(job.id).bind(game).bind(since);
        let query = query.bind(job.header.bench_signature as i64).bind(i64::from(job.is_timed()));
        let query = query.bind(MAX_OTHERS).bind(MAX_GAMES_PER_LEASE).bind(now);
        Ok(query.fetch_one(self.0.raw()).await.map(|others: i64| others > 0)?)
    }
}

fn one(worker: WorkerId, changed: u64) -> Result<(), StoreError> {
    if changed == 0 { Err(Refusal::NoWorker { worker }.into()) } else { Ok(()) }
}
