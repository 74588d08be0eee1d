//! Reads in a transaction.

use coordinator_core::store::{Connection, Database, Running, Store as _, StoreError};

pub(super) async fn read<T, F>(store: &Database, operation: F) -> Result<T, StoreError>
where
    T: Send + 'static,
    F: for<'c> Fn(Connection<'c>) -> Running<'c, T> + Send + Sync + 'static,
{
    store.read(operation).await
}
