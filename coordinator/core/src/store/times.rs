//! Times of rows that wait for the clock.

use super::{error::StoreError, operation::repository};
use crate::{
    clock::{SECOND, Time},
    rules::standing::MAX_WAIT_MS,
    rules::trainings::LEASE_SECONDS,
};

repository!(
    /// Times, within a transaction.
    Times, times
);

impl Times<'_> {
    /// The time of the newest event or lease.
    pub async fn newest(&mut self) -> Result<Time, StoreError> {
        let mut newest = Time::default();
        for query in
            ["SELECT at FROM events ORDER BY id DESC LIMIT 1", "SELECT created FROM leases ORDER BY id DESC LIMIT 1"]
        {
            let found: Option<Time> = sqlx::query_scalar(query).fetch_optional(self.0.raw()).await?;
            newest = newest.max(found.unwrap_or_default());
        }
        Ok(newest)
    }

    /// Moves times that lie ahead to now: a claim or a lease lasts no longer than from now. It
    /// reads all of them, once after a clock was set back.
    pub async fn follow(&mut self, now: Time) -> Result<(), StoreError> {
        for query in [
            "UPDATE leases SET expires = $1 + duration, created = $1,
                               delivered = CASE WHEN delivered > $1 THEN $1 ELSE delivered END
             WHERE state = 'active' AND expires > $1 + duration",
            "UPDATE shards SET claimed_until = 0 WHERE state IN ('received', 'validated') AND claimed_until > $1",
            "UPDATE comparisons SET claimed_until = 0 WHERE state IN ('waiting', 'different') AND claimed_until > $1",
            "UPDATE jobs SET created = $1 WHERE state <> 'closed' AND created > $1",
            "UPDATE deliveries SET next_at = $1 WHERE done = 0 AND next_at > $1",
        ] {
            sqlx::query(query).bind(now).execute(self.0.raw()).await?;
        }
        // No wait is longer than from now.
        let query = "UPDATE accounts SET waits_until = $1 WHERE waits_until > $1";
        sqlx::query(query).bind(now.after(MAX_WAIT_MS)).execute(self.0.raw()).await?;
        let query = "UPDATE trainings SET expires = $1 + $2, moved = CASE WHEN moved > $1 THEN $1 ELSE moved END
                     WHERE state IN ('leased', 'open') AND expires > $1 + $2";
        let query = sqlx::query(query).bind(now).bind(i64::from(LEASE_SECONDS) * SECOND);
        query.execute(self.0.raw()).await?;
        Ok(())
    }
}
