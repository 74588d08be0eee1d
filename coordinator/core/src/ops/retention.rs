//! Expiry of games.

use std::{collections::BTreeSet, sync::Arc};

use protocol::campaign::Campaign;

use crate::{
    clock::Time,
    model::{CampaignState, JobKind, ShardId},
    store::{Current, Expirable, Operation, StoreError, Tx},
};

/// Shards looked at by one operation.
const WINDOW: i64 = 500;

/// Marks shards as expired, among a number of shards. Of self-play, segments and finished leases go
/// too: the job is closed for ever, and pairs are not needed.
pub struct ExpireShards {
    /// Only shards received before this time.
    pub before: Time,
    /// Hashes of shards that stay, from [`pinned`](crate::retention::pinned).
    pub pinned: Arc<BTreeSet<String>>,
    /// Only shards after this one.
    pub after: ShardId,
}

impl Operation for ExpireShards {
    const NAME: &'static str = "expire_shards";
    /// The number of marked shards, and the last shard that was looked at, if others follow.
    type Output = (u64, Option<ShardId>);

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(u64, Option<ShardId>), StoreError> {
        let found = tx.retention().expirable(self.before, self.after, WINDOW).await?;
        let last = ShardId(self.after.0 + WINDOW);
        let next = (last < tx.retention().newest().await?).then_some(last);
        let mut sources = BTreeSet::new();
        for text in tx.retention().texts().await? {
            sources.extend(plan(&text)?.learns_from);
        }
        // Whether a shard is counted does not change meanwhile.
        let counted = tx.accounts().lock_counted_until().await?.unwrap_or_default();
        let mut expired = 0;
        for shard in found {
            if !self.pinned.contains(&shard.hash) && !is_needed(&shard, &sources)? {
                expired += u64::from(expire(tx, shard.shard, counted).await?);
                if shard.kind == JobKind::Selfplay {
                    tx.retention().drop_segments(shard.shard).await?;
                    tx.retention().merge_lease(shard.shard).await?;
                }
            }
        }
        Ok((expired, next))
    }
}

/// Marks the games of rejected uploads as expired. Returns whether others may follow.
pub struct ExpireRejected {
    /// Only uploads received before this time.
    pub before: Time,
}

impl Operation for ExpireRejected {
    const NAME: &'static str = "expire_rejected";
    type Output = bool;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let counted = tx.accounts().lock_counted_until().await?.unwrap_or_default();
        let found = tx.retention().rejected(self.before, WINDOW).await?;
        for shard in &found {
            expire(tx, *shard, counted).await?;
        }
        Ok(found.len() as i64 == WINDOW)
    }
}

/// Marks a shard's bytes as expired, also in the count of stored bytes up to a shard. Whether they
/// were present.
async fn expire(tx: &mut Tx<'_>, shard: ShardId, counted: ShardId) -> Result<bool, StoreError> {
    let is_new = tx.retention().expire(shard).await?;
    if is_new && shard <= counted {
        tx.accounts().subtract_stored(shard).await?;
    }
    Ok(is_new)
}

/// Whether the next training of its campaign uses the shard, or one of a campaign that learns from
/// it.
fn is_needed(shard: &Expirable, sources: &BTreeSet<String>) -> Result<bool, StoreError> {
    let Some(Current { newest, state, text, name }) = &shard.campaign else { return Ok(false) };
    if shard.kind != JobKind::Selfplay {
        return Ok(false);
    }
    if sources.contains(name) {
        return Ok(true);
    }
    let is_over = matches!(state, CampaignState::Stopped | CampaignState::Complete);
    Ok(!is_over && shard.generation > newest - i64::from(plan(text)?.generation.window))
}

fn plan(text: &str) -> Result<Campaign, StoreError> {
    Campaign::from_text(text).map_err(|error| StoreError::Corrupt(format!("a campaign that is none: {error}")))
}
