//! Reviews of accounts whose standing changed, in steps of a bounded size.

use std::collections::BTreeSet;

use super::{
    conclude::{conclude, end_review},
    quarantine::SetQuarantine,
};
use crate::{
    clock::{Clock, Time},
    model::{JobId, ShardId},
    query,
    rules::case::Case,
    store::{Database, Operation, Reviews, StoreError, Tx},
};

/// Shards of a step.
const MAX_SHARDS: i64 = 100;

/// Reviews the next shards of an account. Any coordinator may run it, and a crash between two steps
/// loses nothing.
pub struct ReviewShards {
    /// Maximum number of shards.
    pub limit: i64,
}

impl Default for ReviewShards {
    fn default() -> Self {
        Self { limit: MAX_SHARDS }
    }
}

impl Operation for ReviewShards {
    const NAME: &'static str = "review_shards";
    /// Whether there was a review.
    type Output = bool;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let Some(review) = tx.reviews().first().await? else { return Ok(false) };
        let (account, after) = (review.account, review.reviewed_until);
        let shards = tx.shards().next_of(account, after, self.limit).await?;
        for job in shards.iter().map(|(_, job)| *job).collect::<BTreeSet<JobId>>() {
            tx.jobs().lock(job).await?;
        }
        if tx.reviews().lock(account).await?.as_ref() != Some(&review) {
            // Another coordinator was faster.
            return Ok(true);
        }
        if let Some(&(last, _)) = shards.last() {
            let mut case = Case::default();
            case.extend(tx.comparisons().evidence_on(account, after, last).await?);
            case.review(shards.iter().map(|(shard, _)| *shard).collect::<Vec<ShardId>>());
            conclude(tx, &mut case, None).await?;
            tx.reviews().advance(&review, last).await?;
        }
        if (shards.len() as i64) < self.limit {
            end_review(tx, account).await?;
        }
        Ok(true)
    }
}

/// Runs all reviews to their end, one step after the other.
pub async fn finish_reviews(store: &Database, clock: &Clock) -> Result<(), StoreError> {
    let any = || store.read(query!(|connection| Reviews::on(connection).any().await));
    while any().await? {
        store.run(clock.now(), ReviewShards::default()).await?;
    }
    Ok(())
}

/// Changes the standing of an account, and reviews its first shards. The scheduler reviews the
/// rest.
pub async fn set_quarantine(store: &Database, now: Time, change: SetQuarantine) -> Result<(), StoreError> {
    store.run(now, change).await?;
    store.run(now, ReviewShards::default()).await.map(drop)
}
