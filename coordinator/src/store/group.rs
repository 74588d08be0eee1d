//! Group commit: the single writer of a coordinator commits queued operations together.
//!
//! Each commit waits for the disk, and on `PostgreSQL` it holds the lock on a busy job's row for
//! that time. One connection therefore writes there too, and a batch waits once.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture};
use sqlx::{Any, AnyPool, pool::PoolConnection};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::{Connection, Dialect, Failure, Operation, Outcome};

/// Maximum length of the queue; further operations fail as busy.
const QUEUE: usize = 2_048;

/// Maximum operations per commit. `PostgreSQL` caches 64 subtransactions per backend; more
/// savepoints make visibility checks slow.
const TOGETHER: usize = 60;

/// Maximum runs of an operation that collides with another coordinator's.
const ATTEMPTS: u32 = 8;

/// A handle to the writing task.
#[derive(Clone)]
pub(super) struct Writer {
    sender: mpsc::Sender<Box<dyn Waiting>>,
    stop: Arc<Notify>,
    /// Carries no messages; closes when everything is written.
    running: watch::Receiver<()>,
}

/// A queued operation and the channel to its caller.
trait Waiting: Send {
    /// Runs the operation.
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, Ran>;

    /// Sends the result to the caller. An error means that nothing was committed.
    fn tell(self: Box<Self>, committed: Result<(), Failure>);
}

/// The result of running an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// It succeeded; its writes are kept.
    Well,
    /// It failed; its writes are rolled back.
    Badly,
    /// It collided with another coordinator and runs again.
    Again,
}

struct Entry<T, F> {
    operation: F,
    attempts: u32,
    result: Option<Outcome<T>>,
    answer: oneshot::Sender<Outcome<T>>,
}

impl<T, F> Waiting for Entry<T, F>
where
    T: Send + 'static,
    F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
{
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, Ran> {
        Box::pin(async move {
            // A panic must not take the other operations of the batch with it.
            let result = AssertUnwindSafe((self.operation)(connection)).catch_unwind().await;
            let result = result.unwrap_or_else(|_| Err(Failure::Broken("what an operation cannot stand".to_owned())));
            self.attempts += 1;
            let ran = match &result {
                Ok(_) => Ran::Well,
                Err(failure) if failure.is_collision() && self.attempts < ATTEMPTS => Ran::Again,
                Err(_) => Ran::Badly,
            };
            self.result = Some(result);
            ran
        })
    }

    fn tell(self: Box<Self>, committed: Result<(), Failure>) {
        let result = match (self.result, committed) {
            (Some(Ok(_)) | None, Err(failure)) => Err(failure),
            (Some(result), _) => result,
            (None, Ok(())) => Err(Failure::Busy),
        };
        // The receiver is gone if the request was cancelled; committed writes stay.
        drop(self.answer.send(result));
    }
}

impl Writer {
    /// Spawns the writing task.
    pub(super) fn start(pool: AnyPool, dialect: Dialect) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let stop = Arc::new(Notify::new());
        let (stopped, running) = watch::channel(());
        tokio::spawn(serve(pool, dialect, receiver, Arc::clone(&stop), stopped));
        Self { sender, stop, running }
    }

    /// Queues an operation and waits for its commit.
    pub(super) async fn write<T, F>(&self, operation: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let entry = Box::new(Entry { operation, attempts: 0, result: None, answer });
        self.sender.try_send(entry).map_err(|_| Failure::Busy)?;
        answered.await.unwrap_or(Err(Failure::Busy))
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
    mut receiver: mpsc::Receiver<Box<dyn Waiting>>,
    stop: Arc<Notify>,
    stopped: watch::Sender<()>,
) {
    let mut batch = Vec::with_capacity(TOGETHER);
    loop {
        // Retried operations are in the batch already.
        if batch.is_empty() {
            tokio::select! {
                received = receiver.recv_many(&mut batch, TOGETHER) => if received == 0 { break },
                () = stop.notified() => {
                    receiver.close();
                    continue;
                }
            }
        }
        let (committed, ran) = commit(&pool, dialect, &mut batch).await;
        let mut ran = ran.into_iter();
        let mut again = Vec::with_capacity(TOGETHER);
        for entry in batch.drain(..) {
            match (ran.next(), &committed) {
                (Some(Ran::Again) | None, Ok(())) => again.push(entry),
                (_, committed) => entry.tell(committed.as_ref().map(|&()| ()).map_err(why)),
            }
        }
        batch = again;
    }
    pool.close().await;
    drop(stopped);
}

/// The error for each caller of a batch that was not committed.
fn why(error: &sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // SQLITE_BUSY: another coordinator wrote for longer than the busy timeout.
    if code.as_deref() == Some("5") {
        return Failure::Busy;
    }
    Failure::Database(sqlx::Error::Protocol(format!("nothing was committed: {error}")))
}

/// Runs a batch in one transaction; returns each operation's result.
async fn commit(
    pool: &AnyPool,
    dialect: Dialect,
    batch: &mut [Box<dyn Waiting>],
) -> (Result<(), sqlx::Error>, Vec<Ran>) {
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
    let mut ran = Vec::with_capacity(batch.len());
    let result = run_all(&mut connection, dialect, batch, &mut ran).await;
    let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = execute(&mut connection, end).await;
    if result.is_err() || ended.is_err() {
        // The connection's state is unknown: close it.
        drop(connection.detach());
    }
    (result.and(ended), ran)
}

async fn run_all(
    connection: &mut PoolConnection<Any>,
    dialect: Dialect,
    batch: &mut [Box<dyn Waiting>],
    ran: &mut Vec<Ran>,
) -> Result<(), sqlx::Error> {
    for entry in batch {
        execute(connection, "SAVEPOINT one").await?;
        let this = entry.run(Connection { raw: connection, dialect }).await;
        execute(connection, if this == Ran::Well { "RELEASE one" } else { "ROLLBACK TO one; RELEASE one" }).await?;
        ran.push(this);
        if this == Ran::Again {
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
