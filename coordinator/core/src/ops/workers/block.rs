//! Blocks of workers.

use crate::{
    model::{AccountId, Event, Reason, WorkerId},
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
        let (worker, message) = (self.worker, self.message.as_deref().map(Reason::from));
        tx.workers().block(worker, message.clone()).await?;
        let message = message.map(|message| message.to_string());
        tx.record_event(self.by, Event::WorkerBlocked { worker, message }).await?;
        Ok(())
    }
}
