//! The queue of deliveries.

use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    clock::{HOUR, SECOND, Time},
    store::{Connection, StoreError},
};

/// Duration of a claim on a delivery; others may take it afterwards.
const CLAIM_MS: i64 = 60 * SECOND;

/// Pause after the first failure; doubled after each further one.
const FIRST_PAUSE_MS: i64 = 15 * SECOND;

/// Maximum pause.
const MAX_PAUSE_MS: i64 = 6 * HOUR;

/// Maximum attempts before a delivery is given up: about three days.
const MAX_ATTEMPTS: i64 = 22;

/// A claimed delivery.
#[derive(Clone, Debug)]
pub(super) struct Due {
    pub(super) delivery: i64,
    pub(super) address: String,
    pub(super) secret: String,
    pub(super) kind: String,
    pub(super) body: String,
}

/// Whether a delivery is due.
pub(super) async fn is_any_due(connection: &mut Connection<'_>, now: Time) -> Result<bool, StoreError> {
    let query = "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE done = 0 AND next_at <= $1 LIMIT 1) AS due";
    let due: i64 = sqlx::query_scalar(query).bind(now.0).fetch_one(connection.raw()).await?;
    Ok(due > 0)
}

/// Claims deliveries that are due.
pub(super) async fn claim(connection: &mut Connection<'_>, now: Time, limit: i64) -> Result<Vec<Due>, StoreError> {
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
pub(super) async fn record_attempt(
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
pub(super) fn origin(address: &str) -> String {
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
