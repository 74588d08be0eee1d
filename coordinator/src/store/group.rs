//! The one writer of a coordinator. Operations that wait at the same time are committed together.
//!
//! A commit is a wait for the disk, whatever the database; and on `PostgreSQL` whoever holds the row of a busy job holds
//! it for that long. So one connection writes there too, and the wait is had once by all.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture};
use sqlx::{Any, AnyPool, pool::PoolConnection};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::{Connection, Dialect, Failure, Operation, Outcome};

/// How many operations wait before others are sent away.
const QUEUE: usize = 2_048;

/// How many operations are committed together. `PostgreSQL` keeps 64 savepoints of a transaction where all see them
/// cheaply.
const TOGETHER: usize = 60;

/// How often an operation is tried again that collided with another coordinator's.
const ATTEMPTS: u32 = 8;

/// Operations for the one who writes.
#[derive(Clone)]
pub(super) struct Writer {
    sender: mpsc::Sender<Box<dyn Waiting>>,
    stop: Arc<Notify>,
    /// Nobody sends anything here; it is gone when everything is written.
    running: watch::Receiver<()>,
}

/// An operation that waits for its turn, and somebody who waits for it.
trait Waiting: Send {
    /// Runs it.
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, Ran>;

    /// Tells who waits. An error says that nothing was committed.
    fn tell(self: Box<Self>, committed: Result<(), Failure>);
}

/// What became of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// What it wrote is to be kept.
    Well,
    /// It failed, and nothing of it is to be kept.
    Badly,
    /// Another coordinator was in its way: it has its turn again.
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
            // Others' operations do not die with one that panics.
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
        // Nobody listens any more when a request was broken off; what was committed stays.
        drop(self.answer.send(result));
    }
}

impl Writer {
    /// Starts the task that writes.
    pub(super) fn start(pool: AnyPool, dialect: Dialect) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let stop = Arc::new(Notify::new());
        let (stopped, running) = watch::channel(());
        tokio::spawn(serve(pool, dialect, receiver, Arc::clone(&stop), stopped));
        Self { sender, stop, running }
    }

    /// Runs an operation when it is its turn, and waits until it is committed.
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

    /// Lets what waits be written, and nothing more.
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
        // Those that have their turn again are in it already.
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

/// What each of those is told whose operations were not committed, because of the one error of all.
fn why(error: &sqlx::Error) -> Failure {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // SQLITE_BUSY: another coordinator has been writing for longer than anybody waits.
    if code.as_deref() == Some("5") {
        return Failure::Busy;
    }
    Failure::Database(sqlx::Error::Protocol(format!("nothing was committed: {error}")))
}

/// Runs all in one transaction, and says what became of each of them.
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
        // Whatever state it is in, nobody meets it again.
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
            // What others hold until they commit must not be waited for with what they wait for.
            break;
        }
    }
    Ok(())
}

async fn execute(connection: &mut PoolConnection<Any>, query: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(query).execute(&mut **connection).await.map(drop)
}
