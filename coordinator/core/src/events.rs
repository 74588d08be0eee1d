//! The log of events for people: administrative actions, promotions, rejections, quarantines,
//! failures.

use serde::Serialize;

use crate::{
    clock::Time,
    messages,
    store::{Connection, StoreError},
};

/// An event to record.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Its kind: a stable identifier.
    pub kind: &'a str,
    /// The acting account; the coordinator itself if none.
    pub account: Option<i64>,
    /// Its subject, as `net:<hash>` or `campaign:<name>`.
    pub subject: String,
    /// One sentence for people, with a translation in `messages`.
    pub text: String,
}

/// Records an event in the transaction that causes it, with its deliveries to webhooks
/// (transactional outbox).
pub async fn record_event(connection: &mut Connection<'_>, now: Time, event: Event<'_>) -> Result<i64, StoreError> {
    record_event_with(connection, now, event, &Option::<()>::None).await
}

/// [`record_event`] with structured data.
pub async fn record_event_with(
    connection: &mut Connection<'_>,
    now: Time,
    event: Event<'_>,
    data: &(impl Serialize + Sync),
) -> Result<i64, StoreError> {
    debug_assert!(
        messages::is_known(event.kind, &event.text),
        "there is no Chinese translation: {} {:?}",
        event.kind,
        event.text
    );
    let data = serde_json::to_string(data).ok().filter(|text| text != "null");
    let query =
        "INSERT INTO events (at, kind, account, subject, text, data) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
    let id: i64 = sqlx::query_scalar(query)
        .bind(now.0)
        .bind(event.kind.to_owned())
        .bind(event.account)
        .bind(event.subject)
        .bind(event.text)
        .bind(data)
        .fetch_one(connection.raw())
        .await?;
    let query = "INSERT INTO deliveries (webhook, event, next_at)
                 SELECT id, $1, $2 FROM webhooks WHERE ' ' || kinds || ' ' LIKE '% ' || $3 || ' %'";
    sqlx::query(query).bind(id).bind(now.0).bind(event.kind.to_owned()).execute(connection.raw()).await?;
    Ok(id)
}
