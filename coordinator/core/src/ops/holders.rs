//! Steps of several operations: the games of a shard get a holder. The caller has locked the job.

use crate::{
    model::{JobId, Part, Segment, SegmentEdit},
    rules::segments,
    store::{StoreError, Tx},
};

/// Gives a shard its unheld games. Returns the other shards with the games they hold.
pub(super) async fn hold(tx: &mut Tx<'_>, job: JobId, part: &Part) -> Result<Vec<Part>, StoreError> {
    let around = tx.segments().overlapping(job, &part.numbers).await?;
    let holding = segments::hold(&around, &part.numbers, part.shard);
    assign(tx, job, &around, holding.edits).await?;
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
    assign(tx, job, &held, segments::pass(&held, &others)).await
}

/// Applies edits of segments, and counts the games of each shard that holds more or fewer.
async fn assign(tx: &mut Tx<'_>, job: JobId, before: &[Segment], edits: Vec<SegmentEdit>) -> Result<(), StoreError> {
    let gains = segments::gains(before, &edits);
    tx.segments().apply(job, edits).await?;
    for (shard, gain) in gains {
        tx.shards().hold(shard, gain).await?;
    }
    Ok(())
}
