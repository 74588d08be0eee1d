//! The table of events, and the outbox of their deliveries.

use super::{
    error::StoreError,
    operation::{Tx, repository},
};
use crate::{
    clock::Time,
    model::{AccountId, Event, EventId},
};

repository!(
    /// The events, within a transaction.
    Events, events
);

impl Tx<'_> {
    /// Records an event of this operation. `by` is the acting account; none for the coordinator.
    pub async fn record_event(&mut self, by: Option<AccountId>, event: Event) -> Result<(), StoreError> {
        let now = self.now();
        self.events().record(now, by, &event).await.map(drop)
    }
}

impl Events<'_> {
    /// Records an event, with its deliveries to webhooks (transactional outbox).
    pub async fn record(&mut self, now: Time, by: Option<AccountId>, event: &Event) -> Result<EventId, StoreError> {
        let (kind, data) = event.to_columns().map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let query =
            "INSERT INTO events (at, kind, account, subject, text, data) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
        let query = sqlx::query_scalar(query).bind(now.0).bind(kind.clone()).bind(by).bind(event.subject());
        let id: EventId = query.bind(event.to_string()).bind(data).fetch_one(self.0.raw()).await?;
        let query = "INSERT INTO deliveries (webhook, event, next_at)
                     SELECT id, $1, $2 FROM webhooks WHERE ' ' || kinds || ' ' LIKE '% ' || $3 || ' %'";
        sqlx::query(query).bind(id).bind(now.0).bind(kind).execute(self.0.raw()).await?;
        Ok(id)
    }

    /// Erases the parameters of events about an account. Reasons for withdrawn games stay public;
    /// they no longer name it.
    pub async fn erase(&mut self, account: AccountId) -> Result<(), StoreError> {
        let query = "UPDATE events SET text = $2, data = NULL
                     WHERE subject = $1 AND kind NOT IN ('quarantine', 'quarantine_lifted', 'account_changed')";
        let query = sqlx::query(query).bind(format!("account:{account}")).bind(Event::ERASED);
        query.execute(self.0.raw()).await?;
        Ok(())
    }
}
