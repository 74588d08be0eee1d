//! Group commit with savepoints: the single writer of a coordinator commits queued operations
//! together.
//!
//! Each commit waits for the disk, and on `PostgreSQL` it holds the lock on a busy job's row for
//! that time. One connection therefore writes there too, and a batch waits once.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use sqlx::{Any, AnyPool, pool::PoolConnection};
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    connection::{Connection, Dialect},
    error::StoreError,
    operation::{Operation, Tx},
};
use crate::clock::Time;

/// Maximum length of the queue; further operations fail as busy.
const MAX_QUEUED: usize = 2_048;

/// Maximum operations per commit. `PostgreSQL` caches 64 subtransactions per backend; more
/// savepoints make visibility checks slow.
const MAX_BATCH: usize = 60;

/// Maximum runs of an operation that collides with another coordinator's.
const MAX_ATTEMPTS: u32 = 8;

/// An operation that takes longer is reported: it holds up all other writes.
const SLOW: Duration = Duration::from_secs(1);

/// A handle to the writing task.
#[derive(Clone)]
pub(super) struct Writer {
    sender: mpsc::Sender<Box<dyn QueuedOp>>,
    stop: Arc<Notify>,
    /// Carries no messages; closes when everything is written.
    running: watch::Receiver<()>,
    /// Whether an operation found the disk full.
    is_disk_full: Arc<AtomicBool>,
}

/// Receives the result of an operation.
pub(super) type Received<T> = oneshot::Receiver<Result<T, StoreError>>;

/// A queued operation and the channel to its caller.
trait QueuedOp: Send {
    /// Runs the operation.
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, OpStatus>;

    /// Whether it failed because the disk is full.
    fn is_disk_full(&self) -> bool;

    /// Sends the result to the caller. An error means that nothing was committed.
    fn reply(self: Box<Self>, committed: Result<(), StoreError>);
}

/// The result of running an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpStatus {
    /// It succeeded; its writes are kept.
    Committed,
    /// It failed; its writes are rolled back.
    Failed,
    /// It collided with another coordinator and runs again.
    Retry,
}

struct Entry<O: Operation> {
    operation: O,
    now: Time,
    attempts: u32,
    result: Option<Result<O::Output, StoreError>>,
    response: oneshot::Sender<Result<O::Output, StoreError>>,
}

impl<O: Operation> QueuedOp for Entry<O> {
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, OpStatus> {
        Box::pin(async move {
            let started = Instant::now();
            let mut tx = Tx::new(connection, self.now);
            // A panic must not take the other operations of the batch with it.
            let result = AssertUnwindSafe(self.operation.run(&mut tx)).catch_unwind().await;
            let result =
                result.unwrap_or_else(|_| Err(StoreError::Corrupt("data on which an operation panics".to_owned())));
            self.attempts += 1;
            let took = started.elapsed();
            tracing::trace!(operation = O::NAME, attempts = self.attempts, ?took, is_ok = result.is_ok());
            if took > SLOW {
                tracing::warn!(operation = O::NAME, ?took, "an operation held up all writes");
            }
            let status = match &result {
                Ok(_) => OpStatus::Committed,
                Err(failure) if failure.is_collision() && self.attempts < MAX_ATTEMPTS => OpStatus::Retry,
                Err(_) => OpStatus::Failed,
            };
            self.result = Some(result);
            status
        })
    }

    fn is_disk_full(&self) -> bool {
        matches!(&self.result, Some(Err(failure)) if failure.is_disk_full())
    }

    fn reply(self: Box<Self>, committed: Result<(), StoreError>) {
        let result = match (self.result, committed) {
            (Some(Ok(_)) | None, Err(failure)) => Err(failure),
            (Some(result), _) => result,
            (None, Ok(())) => Err(StoreError::Busy),
        };
        // The receiver is gone if the request was cancelled; committed writes stay.
        drop(self.response.send(result));
    }
}

impl Writer {
    /// Spawns the writing task.
    pub(super) fn start(pool: AnyPool, dialect: Dialect) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED);
        let stop = Arc::new(Notify::new());
        let (stopped, running) = watch::channel(());
        let is_disk_full = Arc::new(AtomicBool::new(false));
        tokio::spawn(serve(pool, dialect, receiver, Arc::clone(&stop), Arc::clone(&is_disk_full), stopped));
        Self { sender, stop, running, is_disk_full }
    }

    /// Whether an operation found the disk full, until that is taken back.
    pub(super) fn is_disk_full(&self) -> &AtomicBool {
        &self.is_disk_full
    }

    /// Queues an operation; the receiver gets its result after the commit.
    ///
    /// The future of the caller holds the receiver alone, so it is `Send` whatever the operation
    /// borrows.
    pub(super) fn queue<O: Operation>(&self, now: Time, operation: O) -> Result<Received<O::Output>, StoreError> {
        let (response, received) = oneshot::channel();
        let entry = Box::new(Entry { operation, now, attempts: 0, result: None, response });
        self.sender.try_send(entry).map_err(|_| StoreError::Busy)?;
        Ok(received)
    }

    /// Stops accepting operations and waits for the queued ones.
    pub(super) async fn stop(&self) {
        self.stop.notify_one();
        let mut running = self.running.clone();
        while running.changed().await.is_ok() {}
    }
}

async fn serve(
    pool: AnyPool,
    dialect: Dialect,
    mut receiver: mpsc::Receiver<Box<dyn QueuedOp>>,
    stop: Arc<Notify>,
    is_disk_full: Arc<AtomicBool>,
    stopped: watch::Sender<()>,
) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    loop {
        // Retried operations are in the batch already.
        if batch.is_empty() {
            tokio::select! {
                received = receiver.recv_many(&mut batch, MAX_BATCH) => if received == 0 { break },
                () = stop.notified() => {
                    receiver.close();
                    continue;
                }
            }
        }
        let (committed, statuses) = commit(&pool, dialect, &mut batch).await;
        let mut committed = committed.map_err(StoreError::from);
        let is_batch_full = matches!(&committed, Err(failure) if failure.is_disk_full());
        if is_batch_full || batch.iter().any(|entry| entry.is_disk_full()) {
            is_disk_full.store(true, Ordering::Relaxed);
            // SQLite may then roll back the whole transaction, and no savepoint is found any more.
            committed = committed.map_err(|_| StoreError::DiskFull);
        }
        let mut statuses = statuses.into_iter();
        let mut retried = Vec::with_capacity(MAX_BATCH);
        for entry in batch.drain(..) {
            match (statuses.next(), &committed) {
                (Some(OpStatus::Retry) | None, Ok(())) => retried.push(entry),
                (_, committed) => entry.reply(committed.as_ref().map(|&()| ()).map_err(batch_error)),
            }
        }
        batch = retried;
    }
    pool.close().await;
    drop(stopped);
}

/// The error for each caller of a batch that was not committed.
fn batch_error(error: &StoreError) -> StoreError {
    // SQLITE_BUSY: another coordinator wrote for longer than the busy timeout.
    if let StoreError::Database(sqlx::Error::Database(error)) = error
        && error.code().as_deref() == Some("5")
    {
        return StoreError::Busy;
    }
    if error.is_disk_full() {
        return StoreError::DiskFull;
    }
    StoreError::Database(sqlx::Error::Protocol(format!("nothing was committed: {error}")))
}

/// Runs a batch in one transaction; returns each operation's result.
async fn commit(
    pool: &AnyPool,
    dialect: Dialect,
    batch: &mut [Box<dyn QueuedOp>],
) -> (Result<(), sqlx::Error>, Vec<OpStatus>) {
    let mut connection = match pool.acquire().await {
        Ok(connection) => connection,
        Err(error) => return (Err(error), Vec::new()),
    };
    let begin = match dialect {
        Dialect::Sqlite => "BEGIN IMMEDIATE",
        Dialect::Postgres => "BEGIN",
    };
    if let Err(error) = execute(&mut connection, begin).await {
        drop(connection.detach());
        return (Err(error), Vec::new());
    }
    let mut statuses = Vec::with_capacity(batch.len());
    let result = run_all(&mut connection, dialect, batch, &mut statuses).await;
    let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = execute(&mut connection, end).await;
    if result.is_err() || ended.is_err() {
        // The connection's state is unknown: close it.
        drop(connection.detach());
    }
    (result.and(ended), statuses)
}

async fn run_all(
    connection: &mut PoolConnection<Any>,
    dialect: Dialect,
    batch: &mut [Box<dyn QueuedOp>],
    statuses: &mut Vec<OpStatus>,
) -> Result<(), sqlx::Error> {
    for entry in batch {
        execute(connection, "SAVEPOINT one").await?;
        let status = entry.run(Connection::new(connection, dialect)).await;
        execute(connection, if status == OpStatus::Committed { "RELEASE one" } else { "ROLLBACK TO one; RELEASE one" })
            .await?;
        statuses.push(status);
        if status == OpStatus::Retry {
            // Retrying within this transaction could deadlock: it would wait while holding rows
            // that the other coordinator waits for.
            break;
        }
    }
    Ok(())
}

async fn execute(connection: &mut PoolConnection<Any>, query: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(query).execute(&mut **connection).await.map(drop)
}
