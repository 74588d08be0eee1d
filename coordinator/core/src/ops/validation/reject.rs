//! The verdict on an invalid shard.

use protocol::api::problem::Code;

use crate::{
    model::{Event, Fault, Part, Reason, ShardId, ShardState},
    ops::{holders, standing},
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
    /// Whether it is the account's fault; it is not if the coordinator lost the bytes.
    pub is_fault: bool,
}

impl Operation for RejectShard {
    const NAME: &'static str = "reject_shard";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
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
        let part = Part { shard: id, numbers: shard.numbers };
        holders::pass(tx, job.id, &part).await?;
        if self.is_fault {
            let nodes = job.nodes_per_game.saturating_mul(part.numbers.end - part.numbers.start);
            standing::charge(tx, shard.account, Fault::Rejected, nodes).await?;
        }
        let (worker, first, last) = (shard.worker, part.numbers.start, part.numbers.end - 1);
        let event = Event::Rejected { worker, job: job.id, first, last, code: self.code, detail: detail.clone() };
        tx.record_event(None, event).await?;
        Ok(())
    }
}
