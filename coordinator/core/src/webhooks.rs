//! Webhooks: addresses to which events are posted.
//!
//! Transactional outbox: the transaction that records an event ([`events`](crate::events)) also
//! inserts a delivery per address. So deliveries survive restarts, and a rolled-back event is never
//! sent. [`deliver`] posts those that are due and retries all without a 2xx response, with
//! exponential backoff, for some days.
//!
//! Delivery is at least once: a receiver recognises a repeated delivery by its number.

mod queue;
mod sender;

use protocol::api::problem::Code;
use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    clock::Time,
    events::{Event, record_event},
    model::WebhookId,
    people::secret,
    store::{Connection, StoreError},
};

use queue::origin;
pub use sender::{Sender, deliver, serve, signature};

/// The kinds of events that webhooks may receive.
pub const KINDS: [&str; 9] =
    ["promotion", "rejection", "rollback", "disputed", "dispute", "quarantine", "quarantine_lifted", "stall", "disk"];

/// The default kinds.
pub const DEFAULT_KINDS: [&str; 4] = ["promotion", "quarantine", "stall", "disk"];

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
    let (webhook, address) = (WebhookId(id), origin(url.as_str()));
    record_event(connection, now, None, Event::WebhookAdded { webhook, address, kinds: kinds.to_vec() }).await?;
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
    record_event(connection, now, None, Event::WebhookRemoved { webhook: WebhookId(webhook) }).await?;
    Ok(())
}

/// Returns all webhooks with their pending and failed deliveries, without secrets.
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
