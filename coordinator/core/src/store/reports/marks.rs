//! Change markers: what a page shows has changed if its marker has.

use serde::Serialize;

use crate::store::{Connection, StoreError, convert::row};

/// Change markers by topic; each is read from the end of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Campaigns and their jobs.
    pub campaigns: i64,
    /// Uploads, leases and their heartbeats.
    pub games: i64,
    /// The event log.
    pub events: i64,
}

row!(Marks { campaigns, games, events });

impl Marks {
    /// JSON for pages and streams.
    #[must_use]
    pub fn to_text(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// The current marks.
pub async fn marks(connection: &mut Connection<'_>) -> Result<Marks, StoreError> {
    let query = "SELECT CAST(COALESCE((SELECT SUM(changed) FROM campaigns), 0)
                             + COALESCE((SELECT MAX(closed) FROM jobs), 0) AS BIGINT) AS campaigns,
                        CAST(COALESCE((SELECT MAX(validated) FROM shards), 0)
                             + COALESCE((SELECT MAX(id) FROM shards), 0)
                             + COALESCE((SELECT MAX(expires) FROM leases WHERE state = 'active'), 0) AS BIGINT) AS games,
                        CAST(COALESCE((SELECT MAX(id) FROM events), 0) AS BIGINT) AS events";
    Ok(sqlx::query_as(query).fetch_one(connection.raw()).await?)
}
