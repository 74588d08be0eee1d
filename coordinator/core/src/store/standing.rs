//! The standing of accounts, in their table: state, clean games, credit, and whether they are
//! distrusted.

use super::{accounts::Accounts, error::StoreError};
use crate::{
    clock::Time,
    model::{AccountId, AccountState, Reason, ShardId},
    rules::{Credit, case::Gain},
};

impl Accounts<'_> {
    /// The state of an account. The shared lock orders an upload and a concurrent quarantine: one
    /// sees the other.
    pub async fn shared_state(&mut self, account: AccountId) -> Result<AccountState, StoreError> {
        let query = self.0.for_share("SELECT state FROM accounts WHERE id = $1");
        Ok(sqlx::query_scalar(query).bind(account).fetch_one(self.0.raw()).await?)
    }

    /// Quarantines an account and voids its confirmations; returns whether its state changed.
    /// Blocked and deleted accounts keep their state.
    pub async fn quarantine(&mut self, account: AccountId, message: Reason) -> Result<bool, StoreError> {
        let query = "UPDATE accounts SET state = $3, message = $2 WHERE id = $1 AND state IN ('active', 'pending')";
        let query = sqlx::query(query).bind(account).bind(message).bind(AccountState::Quarantined);
        let changed = query.execute(self.0.raw()).await?.rows_affected() > 0;
        let query = "UPDATE accounts SET distrusted = 1 WHERE id = $1";
        sqlx::query(query).bind(account).execute(self.0.raw()).await?;
        Ok(changed)
    }

    /// Lifts the quarantine of an account; returns whether its state changed.
    pub async fn lift(&mut self, account: AccountId) -> Result<bool, StoreError> {
        let query = "UPDATE accounts SET distrusted = 0 WHERE id = $1";
        sqlx::query(query).bind(account).execute(self.0.raw()).await?;
        let query = "UPDATE accounts SET state = $2, message = NULL WHERE id = $1 AND state = $3";
        let query = sqlx::query(query).bind(account).bind(AccountState::Active).bind(AccountState::Quarantined);
        Ok(query.execute(self.0.raw()).await?.rows_affected() > 0)
    }

    /// Changes the clean games of an account; returns its newest clean shard. After a loss that is
    /// looked for among its shards.
    pub async fn save_gain(&mut self, account: AccountId, gain: Gain) -> Result<ShardId, StoreError> {
        if gain.is_loss {
            let query = "UPDATE accounts SET clean_games = clean_games + $2,
                         clean_until = COALESCE((SELECT id FROM shards WHERE account = $1 AND audited_games > 0
                                                 AND audited_games >= games / 10 ORDER BY id DESC LIMIT 1), 0)
                         WHERE id = $1 RETURNING clean_until";
            return Ok(sqlx::query_scalar(query).bind(account).bind(gain.games).fetch_one(self.0.raw()).await?);
        }
        let query = "UPDATE accounts SET clean_games = clean_games + $2,
                     clean_until = CASE WHEN clean_until < $3 THEN $3 ELSE clean_until END
                     WHERE id = $1 RETURNING clean_until";
        let query =
            sqlx::query_scalar(query).bind(account).bind(gain.games).bind(gain.until.map_or(0, |shard| shard.0));
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// Credits games to an account.
    pub async fn credit(&mut self, account: AccountId, now: Time, credit: Credit) -> Result<(), StoreError> {
        let query = "INSERT INTO contributions (account, day, games, positions) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (account, day) DO UPDATE SET games = contributions.games + excluded.games,
                     positions = contributions.positions + excluded.positions";
        let query = sqlx::query(query).bind(account).bind(now.day()).bind(credit.games).bind(credit.positions);
        query.execute(self.0.raw()).await?;
        Ok(())
    }
}
