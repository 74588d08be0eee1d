//! Blocks of workers.

use crate::{
    events::{Event, record_event},
    model::{AccountId, WorkerId},
    store::{Operation, StoreError, Tx},
};

/// Blocks a worker with a message for its user, or unblocks it.
pub struct BlockWorker {
    /// The worker.
    pub worker: WorkerId,
    /// The message; none unblocks it.
    pub message: Option<String>,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for BlockWorker {
    const NAME: &'static str = "block_worker";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let (worker, message) = (self.worker, self.message.clone());
        tx.workers().block(worker, message.as_deref().map(Into::into)).await?;
        record_event(&mut tx.connection(), now, self.by, Event::WorkerBlocked { worker, message }).await?;
        Ok(())
    }
}
