//! The table of segments. The caller has locked the job.

use std::ops::Range;

use sqlx::{FromRow, Row as _, any::AnyRow};

use super::{convert::numbers, error::StoreError, operation::repository};
use crate::{
    clock::Time,
    model::{AccountId, Holder, JobId, LeaseId, MAX_GAMES_PER_LEASE, Segment, SegmentEdit, SegmentState, ShardId},
};

/// Open segments read for one lease.
const MAX_OPEN: i64 = 64;

impl FromRow<'_, AnyRow> for Segment {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let holder = match row.try_get("state")? {
            SegmentState::Open => Holder::Open,
            SegmentState::Leased => Holder::Leased(row.try_get("lease")?),
            SegmentState::Held => Holder::Held(row.try_get("shard")?),
        };
        Ok(Self { numbers: numbers(row, "")?, holder, attempts: row.try_get("attempts")? })
    }
}

repository!(
    /// The segments, within a transaction.
    Segments, segments
);

impl Segments<'_> {
    /// The first open segments of a job.
    pub async fn open(&mut self, job: JobId) -> Result<Vec<Segment>, StoreError> {
        let query = "SELECT first, games, state, lease, shard, attempts FROM segments
                     WHERE job = $1 AND state = 'open' ORDER BY first LIMIT $2";
        Ok(sqlx::query_as(query).bind(job).bind(MAX_OPEN).fetch_all(self.0.raw()).await?)
    }

    /// The segments with any of these games.
    pub async fn overlapping(&mut self, job: JobId, range: &Range<i64>) -> Result<Vec<Segment>, StoreError> {
        // Segments do not overlap: only the last one that begins before can reach this far.
        let query = "SELECT first, games, state, lease, shard, attempts FROM segments
                     WHERE job = $1 AND first < $3 AND first >=
                     COALESCE((SELECT MAX(first) FROM segments WHERE job = $1 AND first <= $2), $2) ORDER BY first";
        Ok(sqlx::query_as(query).bind(job).bind(range.start).bind(range.end).fetch_all(self.0.raw()).await?)
    }

    /// The first contested games whose last lease began before a time, if they are not granted to
    /// this account, nor lost by it.
    pub async fn contested(
        &mut self,
        job: JobId,
        account: AccountId,
        before: Time,
    ) -> Result<Option<Segment>, StoreError> {
        let query = "SELECT first, games, state, lease, shard, attempts FROM segments
                     WHERE job = $1 AND state = 'leased' AND attempts >= 3
                     AND (SELECT created FROM leases WHERE leases.id = segments.lease) < $4
                     AND NOT EXISTS (SELECT 1 FROM leases AS own WHERE own.account = $2 AND own.job = $1
                                     AND own.state = 'active' AND own.first <= segments.first
                                     AND own.first + own.games > segments.first)
                     AND NOT EXISTS (SELECT 1 FROM leases AS own WHERE own.account = $2 AND own.job = $1
                                     AND own.state IN ('expired', 'returned') AND own.first <= segments.first
                                     AND own.first > segments.first - $3 AND own.first + own.games > segments.first)
                     ORDER BY first LIMIT 1";
        let query = sqlx::query_as(query).bind(job).bind(account).bind(MAX_GAMES_PER_LEASE).bind(before);
        Ok(query.fetch_optional(self.0.raw()).await?)
    }

    /// The undelivered segments of a lease.
    pub async fn leased(&mut self, lease: LeaseId) -> Result<Vec<Segment>, StoreError> {
        let query = "SELECT first, games, state, lease, shard, attempts FROM segments
                     WHERE lease = $1 AND state = 'leased' ORDER BY first";
        Ok(sqlx::query_as(query).bind(lease).fetch_all(self.0.raw()).await?)
    }

    /// The segments that a shard holds.
    pub async fn held(&mut self, shard: ShardId) -> Result<Vec<Segment>, StoreError> {
        let query = "SELECT first, games, state, lease, shard, attempts FROM segments
                     WHERE shard = $1 AND state = 'held' ORDER BY first";
        Ok(sqlx::query_as(query).bind(shard).fetch_all(self.0.raw()).await?)
    }

    /// Applies edits, one statement each.
    pub async fn apply(&mut self, job: JobId, edits: Vec<SegmentEdit>) -> Result<(), StoreError> {
        for edit in edits {
            match edit {
                SegmentEdit::Put(segment) => self.put(job, &segment).await?,
                SegmentEdit::Remove { first } => {
                    let query = "DELETE FROM segments WHERE job = $1 AND first = $2";
                    sqlx::query(query).bind(job).bind(first).execute(self.0.raw()).await?;
                }
            }
        }
        Ok(())
    }

    async fn put(&mut self, job: JobId, segment: &Segment) -> Result<(), StoreError> {
        let (lease, shard) = match segment.holder {
            Holder::Open => (None, None),
            Holder::Leased(lease) => (Some(lease), None),
            Holder::Held(shard) => (None, Some(shard)),
        };
        let query = "INSERT INTO segments (job, first, games, state, lease, shard, attempts)
                     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (job, first) DO UPDATE SET
                     games = excluded.games, state = excluded.state, lease = excluded.lease, shard = excluded.shard,
                     attempts = excluded.attempts";
        let query = sqlx::query(query).bind(job).bind(segment.numbers.start);
        let query = query.bind(segment.numbers.end - segment.numbers.start).bind(segment.holder.state());
        query.bind(lease).bind(shard).bind(segment.attempts).execute(self.0.raw()).await?;
        Ok(())
    }
}
