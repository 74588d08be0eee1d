//! The one writer of a `SQLite` database. Operations that wait at the same time are committed together.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture};
use sqlx::{Any, AnyPool, pool::PoolConnection};
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::{Connection, Dialect, Failure, Operation, Outcome};

/// How many operations wait before others are sent away.
const QUEUE: usize = 2_048;

/// How many operations are committed together.
const TOGETHER: usize = 256;

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
    /// Runs it; whether what it wrote is to be kept.
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, bool>;

    /// Tells who waits. An error says that nothing was committed.
    fn tell(self: Box<Self>, committed: Result<(), Failure>);
}

struct Entry<T, F> {
    operation: F,
    result: Option<Outcome<T>>,
    answer: oneshot::Sender<Outcome<T>>,
}

impl<T, F> Waiting for Entry<T, F>
where
    T: Send + 'static,
    F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
{
    fn run<'c>(&'c mut self, connection: Connection<'c>) -> BoxFuture<'c, bool> {
        Box::pin(async move {
            // Others' operations do not die with one that panics.
            let result = AssertUnwindSafe((self.operation)(connection)).catch_unwind().await;
            let result = result.unwrap_or_else(|_| Err(Failure::Broken("what an operation cannot stand".to_owned())));
            let keep = result.is_ok();
            self.result = Some(result);
            keep
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
    pub(super) fn start(pool: AnyPool) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let stop = Arc::new(Notify::new());
        let (stopped, running) = watch::channel(());
        tokio::spawn(serve(pool, receiver, Arc::clone(&stop), stopped));
        Self { sender, stop, running }
    }

    /// Runs an operation when it is its turn, and waits until it is committed.
    pub(super) async fn write<T, F>(&self, operation: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: for<'c> Fn(Connection<'c>) -> Operation<'c, T> + Send + Sync + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let entry = Box::new(Entry { operation, result: None, answer });
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
    mut receiver: mpsc::Receiver<Box<dyn Waiting>>,
    stop: Arc<Notify>,
    stopped: watch::Sender<()>,
) {
    let mut batch = Vec::with_capacity(TOGETHER);
    loop {
        tokio::select! {
            received = receiver.recv_many(&mut batch, TOGETHER) => if received == 0 { break },
            () = stop.notified() => {
                receiver.close();
                continue;
            }
        }
        let committed = commit(&pool, &mut batch).await;
        for entry in batch.drain(..) {
            entry.tell(committed.as_ref().map(|&()| ()).map_err(why));
        }
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

async fn commit(pool: &AnyPool, batch: &mut [Box<dyn Waiting>]) -> Result<(), sqlx::Error> {
    let mut connection = pool.acquire().await?;
    execute(&mut connection, "BEGIN IMMEDIATE").await?;
    let result = run_all(&mut connection, batch).await;
    let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = execute(&mut connection, end).await;
    if result.is_err() || ended.is_err() {
        // Whatever state it is in, nobody meets it again.
        drop(connection.detach());
    }
    result.and(ended)
}

async fn run_all(connection: &mut PoolConnection<Any>, batch: &mut [Box<dyn Waiting>]) -> Result<(), sqlx::Error> {
    for entry in batch {
        execute(connection, "SAVEPOINT one").await?;
        if !entry.run(Connection { raw: connection, dialect: Dialect::Sqlite }).await {
            execute(connection, "ROLLBACK TO one").await?;
        }
        execute(connection, "RELEASE one").await?;
    }
    Ok(())
}

async fn execute(connection: &mut PoolConnection<Any>, query: &'static str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(query).execute(&mut **connection).await.map(drop)
}
