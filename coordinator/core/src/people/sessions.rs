//! Sessions of people signed in to the pages. A cookie holds a random secret, stored as its
//! SHA-256.

use protocol::api::work::Role;

use super::{hash_of, secret};
use crate::{
    clock::{DAY, Time},
    store::{Connection, StoreError},
};

/// Lifetime of a session.
pub const LIFETIME_MS: i64 = 14 * DAY;

/// A signed-in person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The account's id.
    pub account: i64,
    /// The account's name.
    pub name: String,
    /// The account's role.
    pub role: Role,
    /// The CSRF token of its forms.
    pub form: String,
}

/// Begins a session and returns the cookie's secret; deletes expired sessions too.
pub async fn begin(connection: &mut Connection<'_>, now: Time, account: i64) -> Result<String, StoreError> {
    sqlx::query("DELETE FROM sessions WHERE expires <= $1").bind(now.0).execute(connection.raw()).await?;
    let (cookie, form) = (secret("")?, secret("")?);
    let query = "INSERT INTO sessions (hash, account, csrf, created, expires) VALUES ($1, $2, $3, $4, $5)";
    let query = sqlx::query(query).bind(hash_of(&cookie)).bind(account).bind(form).bind(now.0);
    query.bind(now.after(LIFETIME_MS).0).execute(connection.raw()).await?;
    Ok(cookie)
}

/// Returns the session of a cookie, if it is valid and its account may sign in.
pub async fn find(connection: &mut Connection<'_>, now: Time, cookie: &str) -> Result<Option<Session>, StoreError> {
    let query = "SELECT sessions.account, accounts.name, accounts.role, sessions.csrf
                 FROM sessions JOIN accounts ON accounts.id = sessions.account
                 WHERE sessions.hash = $1 AND sessions.expires > $2 AND accounts.state IN ('active', 'quarantined')";
    let query = sqlx::query_as(query).bind(hash_of(cookie)).bind(now.0);
    let row: Option<(i64, String, String, String)> = query.fetch_optional(connection.raw()).await?;
    row.map(|(account, name, role, form)| {
        let role = role.parse().map_err(|_| StoreError::Corrupt(format!("the role {role}")))?;
        Ok(Session { account, name, role, form })
    })
    .transpose()
}

/// Ends a session.
pub async fn end(connection: &mut Connection<'_>, cookie: &str) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM sessions WHERE hash = $1").bind(hash_of(cookie)).execute(connection.raw()).await?;
    Ok(())
}
