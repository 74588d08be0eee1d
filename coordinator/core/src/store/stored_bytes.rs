//! The bytes of each account's stored games, for quotas. They are counted up to an upload, in
//! steps; those of later uploads are added when asked for.

use super::{accounts::Accounts, error::StoreError};
use crate::model::{AccountId, ShardId};

/// The setting with the last counted shard.
const UNTIL: &str = "stored_bytes_until";

impl Accounts<'_> {
    /// The bytes of an account's stored games.
    pub async fn stored_bytes(&mut self, account: AccountId) -> Result<u64, StoreError> {
        let query = "SELECT CAST(accounts.stored_bytes + COALESCE((SELECT SUM(bytes) FROM shards
                         WHERE account = $1 AND object = 'present' AND id > COALESCE(
                             (SELECT CAST(value AS BIGINT) FROM settings WHERE name = $2), 0)), 0) AS BIGINT)
                     FROM accounts WHERE id = $1";
        let query = sqlx::query_scalar(query).bind(account).bind(UNTIL);
        Ok(query.fetch_one(self.0.raw()).await.map(|bytes: i64| bytes.max(0) as u64)?)
    }

    /// The last counted shard, locked until the transaction ends; none at first.
    pub async fn lock_counted_until(&mut self) -> Result<Option<ShardId>, StoreError> {
        let query = self.0.for_update("SELECT CAST(value AS BIGINT) FROM settings WHERE name = $1");
        Ok(sqlx::query_scalar(query).bind(UNTIL).fetch_optional(self.0.raw()).await?)
    }

    /// Counts the shards after one, up to another.
    pub async fn count_stored(&mut self, after: ShardId, until: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE accounts SET stored_bytes = stored_bytes + COALESCE((SELECT SUM(bytes) FROM shards
                         WHERE account = accounts.id AND id > $1 AND id <= $2 AND object = 'present'), 0)
                     WHERE id IN (SELECT account FROM shards WHERE id > $1 AND id <= $2)";
        sqlx::query(query).bind(after).bind(until).execute(self.0.raw()).await?;
        let query = "INSERT INTO settings (name, value) VALUES ($1, $2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        sqlx::query(query).bind(UNTIL).bind(until.0.to_string()).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Subtracts a counted shard whose bytes are gone.
    pub async fn subtract_stored(&mut self, shard: ShardId) -> Result<(), StoreError> {
        let query = "UPDATE accounts SET stored_bytes = stored_bytes - (SELECT bytes FROM shards WHERE id = $1)
                     WHERE id = (SELECT account FROM shards WHERE id = $1)";
        sqlx::query(query).bind(shard).execute(self.0.raw()).await?;
        Ok(())
    }
}
