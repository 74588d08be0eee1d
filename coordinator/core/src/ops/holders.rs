//! Steps of several operations: the games of a shard get a holder. The caller has locked the job.

use crate::{
    model::{JobId, Part},
    rules::segments,
    store::{StoreError, Tx},
};

/// Gives a shard its unheld games. Returns the other shards with the games they hold.
pub(super) async fn hold(tx: &mut Tx<'_>, job: JobId, part: &Part) -> Result<Vec<Part>, StoreError> {
    let around = tx.segments().overlapping(job, &part.numbers).await?;
    let holding = segments::hold(&around, &part.numbers, part.shard);
    if !holding.edits.is_empty() {
        tx.segments().apply(job, holding.edits).await?;
        tx.shards().require_audit(part.shard).await?;
    }
    Ok(holding.others)
}

/// Passes the games that a shard holds to the earliest other upload of each; the rest is played
/// again.
pub(super) async fn pass(tx: &mut Tx<'_>, job: JobId, part: &Part) -> Result<(), StoreError> {
    let held = tx.segments().held(part.shard).await?;
    if held.is_empty() {
        return Ok(());
    }
    let others = tx.shards().others_with(job, &part.numbers, part.shard).await?;
    let (edits, holders) = segments::pass(&held, &others);
    tx.segments().apply(job, edits).await?;
    for holder in holders {
        tx.shards().require_audit(holder).await?;
    }
    Ok(())
}
