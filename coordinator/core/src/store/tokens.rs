//! The tables of tokens and of sessions. Their secrets are stored as SHA-256.

use protocol::api::work::Role;
use sqlx::{FromRow as _, Row as _};

use super::{convert::role, error::StoreError, operation::repository};
use crate::{
    clock::Time,
    model::{Account, AccountId, Session, Token, TokenId},
};

repository!(
    /// The tokens and sessions, within a transaction.
    Tokens, tokens
);

/// A token to add.
pub struct NewToken<'a> {
    /// The account.
    pub account: AccountId,
    /// Its name, for people.
    pub name: &'a str,
    /// The first characters of its secret, for people.
    pub begins: &'a str,
    /// The hash of its secret.
    pub hash: String,
    /// Its role.
    pub role: Role,
    /// The time at which it expires; never if none.
    pub expires: Option<Time>,
}

impl Tokens<'_> {
    /// The token with this hash, and its account.
    pub async fn find(&mut self, hash: String) -> Result<Option<(Token, Account)>, StoreError> {
        let query = "SELECT accounts.id AS id, accounts.name AS name, accounts.role AS role, state, message, password,
                            tokens.id AS token, tokens.role AS token_role, expires, revoked, last_used
                     FROM tokens JOIN accounts ON accounts.id = tokens.account WHERE tokens.hash = $1";
        let Some(row) = sqlx::query(query).bind(hash).fetch_optional(self.0.raw()).await? else { return Ok(None) };
        let time = |column| row.try_get::<Option<i64>, _>(column).map(|time| time.map(Time));
        let token = Token {
            id: row.try_get("token")?,
            role: role(&row, "token_role")?,
            expires: time("expires")?,
            revoked: time("revoked")?,
            last_used: time("last_used")?,
        };
        Ok(Some((token, Account::from_row(&row)?)))
    }

    /// The number of valid tokens of an account.
    pub async fn count_valid(&mut self, account: AccountId, now: Time) -> Result<i64, StoreError> {
        let query =
            "SELECT COUNT(*) FROM tokens WHERE account = $1 AND revoked IS NULL AND (expires IS NULL OR expires > $2)";
        Ok(sqlx::query_scalar(query).bind(account).bind(now.0).fetch_one(self.0.raw()).await?)
    }

    /// Adds a token.
    pub async fn add(&mut self, now: Time, token: NewToken<'_>) -> Result<(), StoreError> {
        let query = "INSERT INTO tokens (account, name, prefix, hash, role, created, expires)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let query = sqlx::query(query).bind(token.account).bind(token.name.to_owned()).bind(token.begins.to_owned());
        let query = query.bind(token.hash).bind(token.role.name()).bind(now.0).bind(token.expires.map(|time| time.0));
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// The account of a token.
    pub async fn owner(&mut self, token: TokenId) -> Result<Option<AccountId>, StoreError> {
        let query = sqlx::query_scalar("SELECT account FROM tokens WHERE id = $1").bind(token);
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// Revokes a token; whether it was valid.
    pub async fn revoke(&mut self, now: Time, token: TokenId) -> Result<bool, StoreError> {
        let query = "UPDATE tokens SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
        let query = sqlx::query(query).bind(token).bind(now.0);
        Ok(query.execute(self.0.raw()).await?.rows_affected() > 0)
    }

    /// Records the use of a token.
    pub async fn record_use(&mut self, now: Time, token: TokenId) -> Result<(), StoreError> {
        let query = "UPDATE tokens SET last_used = $2 WHERE id = $1";
        sqlx::query(query).bind(token).bind(now.0).execute(self.0.raw()).await?;
        Ok(())
    }

    /// The session with this hash, if it is valid and its account may sign in.
    pub async fn find_session(&mut self, now: Time, hash: String) -> Result<Option<Session>, StoreError> {
        let query = "SELECT sessions.account AS account, accounts.name AS name, accounts.role AS role, sessions.csrf AS form
                     FROM sessions JOIN accounts ON accounts.id = sessions.account
                     WHERE sessions.hash = $1 AND sessions.expires > $2 AND accounts.state IN ('active', 'quarantined')";
        let row = sqlx::query(query).bind(hash).bind(now.0).fetch_optional(self.0.raw()).await?;
        let session = row.map(|row| {
            let (account, name, form) = (row.try_get("account")?, row.try_get("name")?, row.try_get("form")?);
            Ok(Session { account, name, role: role(&row, "role")?, form })
        });
        session.transpose()
    }

    /// Adds a session by the hash of its cookie; deletes those that are over.
    pub async fn add_session(
        &mut self,
        now: Time,
        account: AccountId,
        hash: String,
        form: String,
        expires: Time,
    ) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE expires <= $1").bind(now.0).execute(self.0.raw()).await?;
        let query = "INSERT INTO sessions (hash, account, csrf, created, expires) VALUES ($1, $2, $3, $4, $5)";
        let query = sqlx::query(query).bind(hash).bind(account).bind(form).bind(now.0).bind(expires.0);
        query.execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends a session.
    pub async fn end_session(&mut self, hash: String) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE hash = $1").bind(hash).execute(self.0.raw()).await?;
        Ok(())
    }

    /// Ends all sessions of an account.
    pub async fn end_sessions_of(&mut self, account: AccountId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE account = $1").bind(account).execute(self.0.raw()).await?;
        Ok(())
    }
}
