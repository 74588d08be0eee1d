//! The tables of webhooks and of their deliveries.

use serde_json::{Value, json};
use sqlx::Row as _;

use super::{error::StoreError, operation::repository};
use crate::{
    clock::{DAY, Time},
    model::{DeliveryId, WebhookId},
};

/// How long a delivery is kept after it succeeded, in milliseconds.
const KEPT_MS: i64 = 30 * DAY;

repository!(
    /// The webhooks, within a transaction.
    Webhooks, webhooks
);

/// A delivery that is due.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its id.
    pub delivery: DeliveryId,
    /// The receiver's address.
    pub address: String,
    /// The secret that signs it.
    pub secret: String,
    /// The kind of its event.
    pub kind: String,
    /// Its body.
    pub body: String,
}

impl Webhooks<'_> {
    /// Adds a webhook.
    pub async fn add(
        &mut self,
        now: Time,
        address: &str,
        secret: &str,
        kinds: &[String],
    ) -> Result<WebhookId, StoreError> {
        let query = "INSERT INTO webhooks (address, secret, kinds, created) VALUES ($1, $2, $3, $4) RETURNING id";
        let query = sqlx::query_scalar(query).bind(address.to_owned()).bind(secret.to_owned()).bind(kinds.join(" "));
        Ok(query.bind(now.0).fetch_one(self.0.raw()).await?)
    }

    /// Removes a webhook and its pending deliveries; whether there was one.
    pub async fn remove(&mut self, webhook: WebhookId) -> Result<bool, StoreError> {
        sqlx::query("DELETE FROM deliveries WHERE webhook = $1").bind(webhook).execute(self.0.raw()).await?;
        let query = sqlx::query("DELETE FROM webhooks WHERE id = $1").bind(webhook);
        Ok(query.execute(self.0.raw()).await?.rows_affected() > 0)
    }

    /// All webhooks with their pending and failed deliveries, without secrets.
    pub async fn list(&mut self) -> Result<Value, StoreError> {
        let query = "SELECT id, address, kinds, created,
                            (SELECT COUNT(*) FROM deliveries WHERE webhook = webhooks.id AND done = 0) AS waiting,
                            (SELECT COUNT(*) FROM deliveries WHERE webhook = webhooks.id AND done < 0) AS given_up
                     FROM webhooks ORDER BY id";
        let rows = sqlx::query(query).fetch_all(self.0.raw()).await?;
        let webhooks = rows.iter().map(|row| {
            let kinds: String = row.try_get("kinds")?;
            let number = |column| row.try_get::<i64, _>(column);
            Ok(json!({ "webhook": number("id")?, "address": row.try_get::<String, _>("address")?,
                       "kinds": kinds.split(' ').collect::<Vec<_>>(), "created": number("created")?,
                       "waiting": number("waiting")?, "given_up": number("given_up")? }))
        });
        webhooks.collect()
    }

    /// Whether a delivery is due.
    pub async fn is_any_due(&mut self, now: Time) -> Result<bool, StoreError> {
        let query = "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE done = 0 AND next_at <= $1 LIMIT 1) AS due";
        let due: i64 = sqlx::query_scalar(query).bind(now.0).fetch_one(self.0.raw()).await?;
        Ok(due > 0)
    }

    /// Claims deliveries that are due until this time.
    pub async fn claim(&mut self, now: Time, until: Time, limit: i64) -> Result<Vec<Due>, StoreError> {
        let query = self.0.skip_locked(
            "SELECT deliveries.id AS delivery, address, secret, events.id AS event, at, kind, subject, text, data
             FROM deliveries JOIN webhooks ON webhooks.id = deliveries.webhook JOIN events ON events.id = deliveries.event
             WHERE deliveries.done = 0 AND deliveries.next_at <= $1 ORDER BY deliveries.next_at, deliveries.id LIMIT $2",
            "deliveries",
        );
        let rows = sqlx::query(query).bind(now.0).bind(limit).fetch_all(self.0.raw()).await?;
        let mut due = Vec::new();
        for row in rows {
            let delivery: DeliveryId = row.try_get("delivery")?;
            let query = "UPDATE deliveries SET next_at = $2 WHERE id = $1";
            sqlx::query(query).bind(delivery).bind(until.0).execute(self.0.raw()).await?;
            let data = row.try_get::<Option<String>, _>("data")?;
            let data = data.and_then(|data| serde_json::from_str::<Value>(&data).ok());
            let text = |column| row.try_get::<String, _>(column);
            let number = |column| row.try_get::<i64, _>(column);
            let body = json!({ "delivery": delivery, "event": number("event")?, "at": number("at")?,
                               "kind": text("kind")?, "subject": text("subject")?, "text": text("text")?,
                               "data": data });
            let (address, secret, kind) = (text("address")?, text("secret")?, text("kind")?);
            due.push(Due { delivery, address, secret, kind, body: body.to_string() });
        }
        Ok(due)
    }

    /// The number of attempts at a delivery that is not done.
    pub async fn attempts(&mut self, delivery: DeliveryId) -> Result<Option<i64>, StoreError> {
        let query = "SELECT attempts FROM deliveries WHERE id = $1 AND done = 0";
        Ok(sqlx::query_scalar(query).bind(delivery).fetch_optional(self.0.raw()).await?)
    }

    /// Stores the result of an attempt: `done` is its time, negative if the delivery is given up, 0
    /// if it is tried again.
    pub async fn save_attempt(
        &mut self,
        delivery: DeliveryId,
        attempts: i64,
        next: Time,
        done: i64,
    ) -> Result<(), StoreError> {
        let query = "UPDATE deliveries SET attempts = $2, next_at = $3, done = $4 WHERE id = $1";
        let query = sqlx::query(query).bind(delivery).bind(attempts).bind(next.0).bind(done);
        query.execute(self.0.raw()).await?;
        if done > 0 {
            let query = "DELETE FROM deliveries WHERE webhook = (SELECT webhook FROM deliveries WHERE id = $1)
                         AND done > 0 AND done < $2";
            sqlx::query(query).bind(delivery).bind(done - KEPT_MS).execute(self.0.raw()).await?;
        }
        Ok(())
    }
}
