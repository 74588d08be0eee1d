//! The table of accounts, with their invitations and contributions.

use protocol::api::work::{Contribution, Role};
use sqlx::{AssertSqlSafe, Row as _};

use super::{
    convert::{role, row},
    error::StoreError,
    operation::repository,
};
use crate::{
    clock::Time,
    model::{Account, AccountId, AccountKey, AccountState, Reason, Refusal},
};

const BY_ID: &str = "SELECT id, name, role, state, message, password FROM accounts WHERE id = $1";
const BY_NAME: &str = "SELECT id, name, role, state, message, password FROM accounts WHERE LOWER(name) = LOWER($1)";

row!(Account { id, name, role: role, state, message, password });

repository!(
    /// The accounts, within a transaction.
    Accounts, accounts
);

impl Accounts<'_> {
    async fn fetch(&mut self, key: &AccountKey, is_locked: bool) -> Result<Account, StoreError> {
        let query = match key {
            AccountKey::Id(_) => BY_ID,
            AccountKey::Name(_) => BY_NAME,
        };
        let query = if is_locked { self.0.for_update(query) } else { AssertSqlSafe(query.to_owned()) };
        let (query, name) = match key {
            AccountKey::Id(id) => (sqlx::query_as(query).bind(*id), id.to_string()),
            AccountKey::Name(name) => (sqlx::query_as(query).bind(name.clone()), name.clone()),
        };
        let found = query.fetch_optional(self.0.raw()).await?;
        found.ok_or_else(|| Refusal::NoAccount { account: name }.into())
    }

    /// An account.
    pub async fn get(&mut self, key: &AccountKey) -> Result<Account, StoreError> {
        self.fetch(key, false).await
    }

    /// An account, locked until the transaction ends.
    pub async fn lock(&mut self, key: &AccountKey) -> Result<Account, StoreError> {
        self.fetch(key, true).await
    }

    /// Adds an account.
    pub async fn add(
        &mut self,
        now: Time,
        name: &str,
        role: Role,
        state: AccountState,
    ) -> Result<AccountId, StoreError> {
        let taken: Option<AccountId> = sqlx::query_scalar("SELECT id FROM accounts WHERE LOWER(name) = LOWER($1)")
            .bind(name.to_owned())
            .fetch_optional(self.0.raw())
            .await?;
        if taken.is_some() {
            return Err(Refusal::AccountTaken { name: name.to_owned() }.into());
        }
        let query = "INSERT INTO accounts (name, role, state, created) VALUES ($1, $2, $3, $4) RETURNING id";
        let query = sqlx::query_scalar(query).bind(name.to_owned()).bind(role.name()).bind(state).bind(now.0);
        Ok(query.fetch_one(self.0.raw()).await?)
    }

    /// Stores an account.
    pub async fn save(&mut self, account: &Account) -> Result<(), StoreError> {
        let query = "UPDATE accounts SET name = $2, role = $3, state = $4, message = $5, password = $6 WHERE id = $1";
        let query = sqlx::query(query).bind(account.id).bind(account.name.clone()).bind(account.role.name());
        let query = query.bind(account.state).bind(account.message.clone()).bind(account.password.clone());
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Removes the traces of an account in other tables; its games stay.
    pub async fn anonymize(&mut self, now: Time, account: AccountId) -> Result<(), StoreError> {
        let query = "UPDATE tokens SET revoked = $2, name = 'deleted' WHERE account = $1";
        sqlx::query(query).bind(account).bind(now.0).execute(self.0.raw()).await?;
        let query = "UPDATE workers SET name = 'deleted:' || CAST(id AS TEXT), system = '', instruction_set = '',
                                        memory_mebibytes = 0, blocked = $2 WHERE account = $1";
        sqlx::query(query).bind(account).bind(Reason::AccountDeleted).execute(self.0.raw()).await?;
        for query in ["DELETE FROM failures WHERE account = $1", "DELETE FROM sessions WHERE account = $1"] {
            sqlx::query(query).bind(account).execute(self.0.raw()).await?;
        }
        Ok(())
    }

    /// Adds an invitation by the hash of its secret.
    pub async fn invite(
        &mut self,
        now: Time,
        hash: String,
        role: Role,
        by: AccountId,
        expires: Time,
    ) -> Result<(), StoreError> {
        let query = "INSERT INTO invitations (hash, role, created_by, created, expires) VALUES ($1, $2, $3, $4, $5)";
        let query = sqlx::query(query).bind(hash).bind(role.name()).bind(by).bind(now.0).bind(expires.0);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Redeems an invitation and returns its role. It is void if its sender could not send it now.
    pub async fn redeem(&mut self, now: Time, hash: String, account: AccountId) -> Result<Role, StoreError> {
        let query = "SELECT accounts.role FROM invitations JOIN accounts ON accounts.id = created_by
                     WHERE hash = $1 AND accounts.state = 'active'";
        let sender: Option<String> = sqlx::query_scalar(query).bind(hash.clone()).fetch_optional(self.0.raw()).await?;
        let query =
            "UPDATE invitations SET used_by = $2 WHERE hash = $1 AND used_by IS NULL AND expires > $3 RETURNING role";
        let query = sqlx::query(query).bind(hash).bind(account).bind(now.0);
        let row = query.fetch_optional(self.0.raw()).await?.ok_or(Refusal::BadInvitation)?;
        let role = role(&row, "role")?;
        let sender = sender.and_then(|sender| sender.parse::<Role>().ok());
        if sender.is_none_or(|sender| sender < role) { Err(Refusal::BadInvitation.into()) } else { Ok(role) }
    }

    /// The validated games of an account since a day.
    pub async fn contribution(&mut self, account: AccountId, since_day: i64) -> Result<Contribution, StoreError> {
        let query = "SELECT CAST(COALESCE(SUM(games), 0) AS BIGINT) AS games,
                            CAST(COALESCE(SUM(positions), 0) AS BIGINT) AS positions
                     FROM contributions WHERE account = $1 AND day >= $2";
        let row = sqlx::query(query).bind(account).bind(since_day).fetch_one(self.0.raw()).await?;
        let number = |column| row.try_get::<i64, _>(column).map(|number| number as u64);
        Ok(Contribution { games: number("games")?, positions: number("positions")? })
    }

    /// The rank of an account by validated games, from 1; none without games.
    pub async fn rank(&mut self, account: AccountId) -> Result<Option<u64>, StoreError> {
        let own = self.contribution(account, i64::MIN).await?;
        if own.games == 0 {
            return Ok(None);
        }
        let query = "SELECT COUNT(*) FROM (SELECT account FROM contributions GROUP BY account HAVING SUM(games) > $1) AS better";
        let better: i64 = sqlx::query_scalar(query).bind(own.games as i64).fetch_one(self.0.raw()).await?;
        Ok(Some(better as u64 + 1))
    }
}
