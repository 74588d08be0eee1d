//! Records events.

use crate::{
    clock::Time,
    model::{AccountId, EventId},
    store::{Connection, Events, StoreError},
};

pub use crate::model::Event;

/// Records an event in the transaction that causes it. `by` is the acting account; none for the
/// coordinator itself.
pub async fn record_event(
    connection: &mut Connection<'_>,
    now: Time,
    by: Option<AccountId>,
    event: Event,
) -> Result<EventId, StoreError> {
    Events::on(connection.reborrow()).record(now, by, &event).await
}
