//! Accounts and their tokens.

use protocol::api::work::Role;
use serde::Serialize;

use super::{
    super::convert::{role, row},
    ROWS,
};
use crate::{
    model::{AccountId, AccountState, Reason, TokenId},
    store::{Connection, StoreError},
};

/// An account's token, without its secret.
#[derive(Clone, Debug, Serialize)]
pub struct Token {
    /// The token's id, by which it is revoked.
    pub token: TokenId,
    /// Purpose, as named by the owner.
    pub name: String,
    /// The first characters of the secret.
    pub begins: String,
    /// Role of its requests, at most the account's.
    pub role: Role,
    /// Time of creation, in milliseconds since 1970.
    pub created: i64,
    /// Time of the last use, in milliseconds since 1970; none before the first.
    pub last_used: Option<i64>,
    /// Time of expiry, in milliseconds since 1970; none if it never expires.
    pub expires: Option<i64>,
    /// Time of revocation, in milliseconds since 1970.
    pub revoked: Option<i64>,
}

row!(Token { token, name, begins, role: role, created, last_used, expires, revoked });

/// An account's tokens after some others, the newest first, without their secrets.
pub async fn tokens(
    connection: &mut Connection<'_>,
    account: AccountId,
    after: i64,
    limit: i64,
) -> Result<Vec<Token>, StoreError> {
    let query = "SELECT id AS token, name, prefix AS begins, role, created, last_used, expires, revoked
                 FROM tokens WHERE account = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";
    let query = sqlx::query_as(query).bind(account).bind(limit).bind(after.max(0));
    Ok(query.fetch_all(connection.raw()).await?)
}

/// An account's tokens, the oldest first, without their secrets.
pub async fn all_tokens(connection: &mut Connection<'_>, account: AccountId) -> Result<Vec<Token>, StoreError> {
    let mut all = tokens(connection, account, 0, 1_000).await?;
    all.reverse();
    Ok(all)
}

/// An account, as administrators see it.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// The account's id.
    pub account: AccountId,
    /// Name, unique among accounts.
    pub name: String,
    /// Role: volunteer, trainer, maintainer, admin.
    pub role: Role,
    /// State: pending, active, blocked, quarantined, deleted.
    pub state: AccountState,
    /// The message of its block, sent to its workers.
    #[serde(serialize_with = "Reason::as_text")]
    pub message: Option<Reason>,
    /// Time of creation, in milliseconds since 1970.
    pub created: i64,
    /// Number of games confirmed by audits.
    pub clean_games: i64,
}

row!(Account { account, name, role: role, state, message, created, clean_games });

/// All accounts, in the order of their creation.
pub async fn all_accounts(connection: &mut Connection<'_>) -> Result<Vec<Account>, StoreError> {
    let query =
        "SELECT id AS account, name, role, state, message, created, clean_games FROM accounts ORDER BY id LIMIT 10000";
    Ok(sqlx::query_as(query).fetch_all(connection.raw()).await?)
}

/// A page of accounts: pending first, then quarantined.
pub async fn accounts(connection: &mut Connection<'_>, page: i64) -> Result<Vec<Account>, StoreError> {
    let query = "SELECT id AS account, name, role, state, message, created, clean_games FROM accounts
                 ORDER BY CASE state WHEN 'pending' THEN 0 WHEN 'quarantined' THEN 1 ELSE 2 END, id DESC
                 LIMIT $1 OFFSET $2";
    Ok(sqlx::query_as(query).bind(ROWS).bind(page.max(0) * ROWS).fetch_all(connection.raw()).await?)
}
