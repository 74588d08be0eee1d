//! Sessions of people who signed in to the pages. What their cookie holds is random and kept as its SHA-256.

use protocol::api::work::Role;

use super::{hash_of, secret};
use crate::{
    clock::{DAY, Time},
    store::{Connection, Failure, Outcome},
};

/// So long somebody stays signed in.
pub const LASTS: i64 = 14 * DAY;

/// Somebody who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The account.
    pub account: i64,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What its forms carry.
    pub form: String,
}

/// Begins one and gives back what the cookie holds; sessions that are over go on the way.
///
/// # Errors
///
/// If the database fails.
pub async fn begin(connection: &mut Connection<'_>, now: Time, account: i64) -> Outcome<String> {
    sqlx::query("DELETE FROM sessions WHERE expires <= $1").bind(now.0).execute(connection.raw()).await?;
    let (cookie, form) = (secret("")?, secret("")?);
    let query = "INSERT INTO sessions (hash, account, csrf, created, expires) VALUES ($1, $2, $3, $4, $5)";
    let query = sqlx::query(query).bind(hash_of(&cookie)).bind(account).bind(form).bind(now.0);
    query.bind(now.after(LASTS).0).execute(connection.raw()).await?;
    Ok(cookie)
}

/// Whose session it is, if it is one and its account may do anything.
///
/// # Errors
///
/// If the database fails.
pub async fn find(connection: &mut Connection<'_>, now: Time, cookie: &str) -> Outcome<Option<Session>> {
    let query = "SELECT sessions.account, accounts.name, accounts.role, sessions.csrf
                 FROM sessions JOIN accounts ON accounts.id = sessions.account
                 WHERE sessions.hash = $1 AND sessions.expires > $2 AND accounts.state IN ('active', 'quarantined')";
    let query = sqlx::query_as(query).bind(hash_of(cookie)).bind(now.0);
    let row: Option<(i64, String, String, String)> = query.fetch_optional(connection.raw()).await?;
    row.map(|(account, name, role, form)| {
        let role = role.parse().map_err(|_| Failure::Broken(format!("the role {role}")))?;
        Ok(Session { account, name, role, form })
    })
    .transpose()
}

/// Ends one.
///
/// # Errors
///
/// If the database fails.
pub async fn end(connection: &mut Connection<'_>, cookie: &str) -> Outcome<()> {
    sqlx::query("DELETE FROM sessions WHERE hash = $1").bind(hash_of(cookie)).execute(connection.raw()).await?;
    Ok(())
}
