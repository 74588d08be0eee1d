//! Webhooks: addresses to which events are posted.
//!
//! Transactional outbox: the transaction that records an event ([`events`](crate::events)) also
//! inserts a delivery per address. So deliveries survive restarts, and a rolled-back event is never
//! sent. [`deliver`] posts those that are due and retries all without a 2xx response, with
//! exponential backoff, for some days.
//!
//! Delivery is at least once: a receiver recognises a repeated delivery by its number.

mod sender;

use protocol::api::problem::Code;
use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    clock::{HOUR, SECOND, Time},
    events::{Event, record_event},
    people::secret,
    store::{Connection, StoreError},
};

pub use sender::{Sender, deliver, serve, signature};

/// The kinds of events that webhooks may receive.
pub const KINDS: [&str; 9] =
    ["promotion", "rejection", "rollback", "disputed", "dispute", "quarantine", "quarantine_lifted", "stall", "disk"];

/// The default kinds.
pub const DEFAULT_KINDS: [&str; 4] = ["promotion", "quarantine", "stall", "disk"];

/// Duration of a claim on a delivery; others may take it afterwards.
const CLAIM_MS: i64 = 60 * SECOND;

/// Pause after the first failure; doubled after each further one.
const FIRST_PAUSE_MS: i64 = 15 * SECOND;

/// Maximum pause.
const MAX_PAUSE_MS: i64 = 6 * HOUR;

/// Maximum attempts before a delivery is given up: about three days.
const MAX_ATTEMPTS: i64 = 22;

/// Adds a webhook; returns its id and its secret, which is shown once.
///
/// # Errors
///
/// If the address or a kind is invalid.
pub async fn add(
    connection: &mut Connection<'_>,
    now: Time,
    address: &str,
    kinds: &[String],
) -> Result<(i64, String), StoreError> {
    let url =
        Url::parse(address).map_err(|error| StoreError::rejected(Code::Invalid, format!("{address:?}: {error}")))?;
    let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    if !(url.scheme() == "https" || url.scheme() == "http" && is_here) {
        return Err(StoreError::rejected(
            Code::Invalid,
            "an address begins with https://; http:// only on this machine",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(StoreError::rejected(Code::Invalid, "an address holds no password: what is posted is signed"));
    }
    if let Some(unknown) = kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
        let detail = format!("{unknown:?} is no kind of event; there are {}", KINDS.join(", "));
        return Err(StoreError::rejected(Code::Invalid, detail));
    }
    let secret = secret("webhook_")?;
    let query = "INSERT INTO webhooks (address, secret, kinds, created) VALUES ($1, $2, $3, $4) RETURNING id";
    let query = sqlx::query_scalar(query).bind(url.to_string()).bind(secret.clone()).bind(kinds.join(" "));
    let id: i64 = query.bind(now.0).fetch_one(connection.raw()).await?;
    let text = format!("{} is subscribed to {}", origin(url.as_str()), kinds.join(", "));
    let subject = format!("webhook:{id}");
    record_event(connection, now, Event { kind: "webhook_added", account: None, subject, text }).await?;
    Ok((id, secret))
}

/// Removes a webhook and its pending deliveries.
///
/// # Errors
///
/// If there is none.
pub async fn remove(connection: &mut Connection<'_>, now: Time, webhook: i64) -> Result<(), StoreError> {
    let query = "DELETE FROM deliveries WHERE webhook = $1";
    sqlx::query(query).bind(webhook).execute(connection.raw()).await?;
    let query = "DELETE FROM webhooks WHERE id = $1";
    if sqlx::query(query).bind(webhook).execute(connection.raw()).await?.rows_affected() == 0 {
        return Err(StoreError::rejected(Code::NotFound, format!("there is no webhook {webhook}")));
    }
    let subject = format!("webhook:{webhook}");
    let text = "its subscription has ended".to_owned();
    record_event(connection, now, Event { kind: "webhook_removed", account: None, subject, text }).await?;
    Ok(())
}

/// Returns all webhooks with their pending and failed deliveries, without secrets.
///
/// # Errors
///
/// If the database fails.
pub async fn list(connection: &mut Connection<'_>) -> Result<Value, StoreError> {
    let query = "SELECT id, address, kinds, created,
                        (SELECT COUNT(*) FROM deliveries WHERE webhook = webhooks.id AND done = 0),
                        (SELECT COUNT(*) FROM deliveries WHERE webhook = webhooks.id AND done < 0)
                 FROM webhooks ORDER BY id";
    type Row = (i64, String, String, i64, i64, i64);
    let rows: Vec<Row> = sqlx::query_as(query).fetch_all(connection.raw()).await?;
    let webhook = |(id, address, kinds, created, waiting, given_up): Row| {
        json!({ "webhook": id, "address": address, "kinds": kinds.split(' ').collect::<Vec<_>>(), "created": created,
                "waiting": waiting, "given_up": given_up })
    };
    Ok(rows.into_iter().map(webhook).collect())
}

/// A claimed delivery.
#[derive(Clone, Debug)]
pub struct Due {
    delivery: i64,
    address: String,
    secret: String,
    kind: String,
    body: String,
}

/// Claims deliveries that are due.
async fn claim(connection: &mut Connection<'_>, now: Time, limit: i64) -> Result<Vec<Due>, StoreError> {
    let query = connection.skip_locked(
        "SELECT deliveries.id, webhooks.address, webhooks.secret, events.id, events.at, events.kind, events.subject,
                events.text, events.data
         FROM deliveries JOIN webhooks ON webhooks.id = deliveries.webhook JOIN events ON events.id = deliveries.event
         WHERE deliveries.done = 0 AND deliveries.next_at <= $1 ORDER BY deliveries.next_at, deliveries.id LIMIT $2",
        "deliveries",
    );
    type Row = (i64, String, String, i64, i64, String, String, String, Option<String>);
    let rows: Vec<Row> = sqlx::query_as(query).bind(now.0).bind(limit).fetch_all(connection.raw()).await?;
    let mut due = Vec::new();
    for (delivery, address, secret, event, at, kind, subject, text, data) in rows {
        let query = "UPDATE deliveries SET next_at = $2 WHERE id = $1";
        sqlx::query(query).bind(delivery).bind(now.0 + CLAIM_MS).execute(connection.raw()).await?;
        let data = data.and_then(|data| serde_json::from_str::<Value>(&data).ok());
        let body = json!({ "delivery": delivery, "event": event, "at": at, "kind": kind, "subject": subject,
                           "text": text, "data": data });
        due.push(Due { delivery, address, secret, kind, body: body.to_string() });
    }
    Ok(due)
}

/// Records the result of a delivery.
async fn record_attempt(
    connection: &mut Connection<'_>,
    now: Time,
    delivery: i64,
    is_delivered: bool,
) -> Result<(), StoreError> {
    let query = "SELECT attempts FROM deliveries WHERE id = $1 AND done = 0";
    let attempts: Option<i64> = sqlx::query_scalar(query).bind(delivery).fetch_optional(connection.raw()).await?;
    let Some(attempts) = attempts.map(|attempts| attempts + 1) else { return Ok(()) };
    let done = match is_delivered {
        true => now.0,
        false if attempts >= MAX_ATTEMPTS => -now.0,
        false => 0,
    };
    let query = "UPDATE deliveries SET attempts = $2, next_at = $3, done = $4 WHERE id = $1";
    let query = sqlx::query(query).bind(delivery).bind(attempts).bind(now.0 + pause(attempts, delivery)).bind(done);
    query.execute(connection.raw()).await?;
    Ok(())
}

/// Exponential backoff: the pause after this many failures, with up to 25% jitter by delivery.
fn pause(attempts: i64, delivery: i64) -> i64 {
    let whole = (FIRST_PAUSE_MS << (attempts - 1).clamp(0, 12)).min(MAX_PAUSE_MS);
    whole - whole / 4 * (delivery.wrapping_mul(7_919).rem_euclid(100)) / 100
}

/// The origin of an address, for logs; the path may be secret.
fn origin(address: &str) -> String {
    Url::parse(address).map_or_else(|_| "an address".to_owned(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_hours_and_a_delivery_is_tried_for_days() {
        let pauses: Vec<i64> = (1..MAX_ATTEMPTS).map(|attempts| pause(attempts, 3)).collect();
        assert!(pauses.is_sorted() && pauses[0] >= 10 * SECOND, "{pauses:?}");
        assert!(*pauses.last().unwrap() <= MAX_PAUSE_MS);
        assert!((36..96).contains(&(pauses.iter().sum::<i64>() / HOUR)), "{pauses:?}");
    }

    #[test]
    fn logs_omit_the_path_of_an_address() {
        assert_eq!(origin("https://example.org:8443/hooks/secret?token=1"), "https://example.org:8443");
    }
}
