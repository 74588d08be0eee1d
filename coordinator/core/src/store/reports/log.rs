//! The event log, as administrators read it.

use serde::Serialize;

use crate::{
    model::EventId,
    store::{Connection, StoreError, convert::row},
};

/// An event with its author.
#[derive(Clone, Debug, Serialize)]
pub struct LoggedEvent {
    /// Primary key of the row.
    pub event: EventId,
    /// Milliseconds since 1970.
    pub at: i64,
    /// A stable identifier.
    pub kind: String,
    /// The name of the acting account.
    pub by: Option<String>,
    /// The subject, as `net:<hash>`.
    pub subject: String,
    /// One sentence for people.
    pub text: String,
    /// Its parameters as JSON.
    #[serde(skip)]
    pub data: Option<String>,
}

row!(LoggedEvent { event, at, kind, by, subject, text, data });

/// The 100 events before a given one, the newest first.
pub async fn before(connection: &mut Connection<'_>, event: i64) -> Result<Vec<LoggedEvent>, StoreError> {
    let query = "SELECT events.id AS event, at, kind, accounts.name AS \"by\", subject, text, data FROM events
                 LEFT JOIN accounts ON accounts.id = events.account WHERE events.id < $1
                 ORDER BY events.id DESC LIMIT 100";
    Ok(sqlx::query_as(query).bind(event).fetch_all(connection.raw()).await?)
}
