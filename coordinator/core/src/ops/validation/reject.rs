//! The verdict on an invalid shard.

use protocol::api::problem::Code;

use crate::{
    events::{Event, record_event},
    model::{Fault, Part, Reason, ShardId, ShardState},
    ops::holders,
    store::{Operation, StoreError, Tx},
};

/// Rejects an invalid shard: it is kept, and does not count.
pub struct RejectShard {
    /// The shard.
    pub shard: ShardId,
    /// Why.
    pub code: Code,
    /// The sentence for its worker.
    pub detail: Reason,
}

impl Operation for RejectShard {
    const NAME: &'static str = "reject_shard";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let (id, detail) = (self.shard, &self.detail);
        let job = tx.shards().job_of(id).await?;
        let job = tx.jobs().lock(job).await?;
        let shard = tx.shards().to_validate(id).await?;
        if !shard.is_pending() {
            return Ok(());
        }
        tx.shards().reject(id, self.code, detail).await?;
        tx.totals().transfer(id, shard.state, ShardState::Rejected).await?;
        tx.comparisons().void_of(id).await?;
        let nodes = job.nodes_per_game.saturating_mul(shard.numbers.end - shard.numbers.start);
        let (job, mut standing) = (job.id, tx.accounts().standing(shard.account).await?);
        standing.charge(now, Fault::Rejected, nodes);
        tx.accounts().save_standing(shard.account, standing).await?;
        let part = Part { shard: id, numbers: shard.numbers };
        holders::pass(tx, job, &part).await?;
        let (worker, first, last) = (shard.worker, part.numbers.start, part.numbers.end - 1);
        let event = Event::Rejected { worker, job, first, last, code: self.code, detail: detail.clone() };
        record_event(&mut tx.connection(), now, None, event).await?;
        Ok(())
    }
}
