//! The bytes that each account's games take, kept for quotas.

use crate::{
    model::ShardId,
    store::{Operation, StoreError, Tx},
};

/// Counts the bytes of the next uploads. The newest stay uncounted: of several coordinators, one
/// may still commit an earlier upload.
pub struct CountStoredBytes {
    /// Uploads of a step, and those that stay uncounted.
    pub step: i64,
}

impl Default for CountStoredBytes {
    fn default() -> Self {
        Self { step: 1_000 }
    }
}

impl Operation for CountStoredBytes {
    const NAME: &'static str = "count_stored_bytes";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let newest = tx.retention().newest().await?;
        let Some(counted) = tx.accounts().lock_counted_until().await? else {
            // Until there is a row to lock, two coordinators would count the same.
            return tx.accounts().count_stored(ShardId(0), ShardId(0)).await;
        };
        let until = ShardId(counted.0 + self.step);
        if newest.0 < until.0 + self.step {
            return Ok(());
        }
        tx.accounts().count_stored(counted, until).await
    }
}
