//! The table of workers.

use super::{connection::Connection, error::StoreError, operation::Tx};
use crate::{clock::Time, model::WorkerId};

/// The workers, within a transaction.
pub struct Workers<'t>(Connection<'t>);

impl Tx<'_> {
    /// The workers.
    pub fn workers(&mut self) -> Workers<'_> {
        Workers(self.connection())
    }
}

impl Workers<'_> {
    /// Records that a worker has sent something.
    pub async fn record_contact(&mut self, worker: WorkerId, now: Time) -> Result<(), StoreError> {
        let query = "UPDATE workers SET last_seen = $2 WHERE id = $1";
        sqlx::query(query).bind(worker).bind(now.0).execute(self.0.raw()).await?;
        Ok(())
    }
}
