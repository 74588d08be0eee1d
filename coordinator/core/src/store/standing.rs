//! The standing of accounts, in their table: state, clean games, credit, what may be lent to them,
//! and whether they are distrusted.

use super::{accounts::Accounts, convert::row, error::StoreError};
use crate::{
    clock::Time,
    model::{AccountId, AccountState, Reason, Standing},
    rules::Credit,
};

row!(Standing { proven_nodes, faults, waits_until });

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

    /// Adds to the clean games of an account, or subtracts.
    pub async fn add_clean_games(&mut self, account: AccountId, gain: i64) -> Result<(), StoreError> {
        let query = "UPDATE accounts SET clean_games = clean_games + $2 WHERE id = $1";
        sqlx::query(query).bind(account).bind(gain).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The standing of an account, locked until the transaction ends.
    pub async fn standing(&mut self, account: AccountId) -> Result<Standing, StoreError> {
        let query = self.0.for_update("SELECT proven_nodes, faults, waits_until FROM accounts WHERE id = $1");
        Ok(sqlx::query_as(query).bind(account).fetch_one(self.0.raw()).await?)
    }

    /// Stores the standing of an account.
    pub async fn save_standing(&mut self, account: AccountId, standing: Standing) -> Result<(), StoreError> {
        let query = "UPDATE accounts SET proven_nodes = $2, faults = $3, waits_until = $4 WHERE id = $1";
        let query = sqlx::query(query).bind(account).bind(standing.proven_nodes).bind(standing.faults);
        query.bind(standing.waits_until).execute(self.0.raw()).await?;
        Ok(())
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
