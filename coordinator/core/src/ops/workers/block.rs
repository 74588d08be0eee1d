//! Blocks of workers.

use super::check_owner;
use crate::{
    model::{Authority, Event, Reason, WorkerId},
    store::{Operation, StoreError, Tx},
};

/// Blocks a worker with a message for its user, or unblocks it.
pub struct BlockWorker {
    /// The worker.
    pub worker: WorkerId,
    /// The message; none unblocks it.
    pub message: Option<String>,
    /// The rights with which it acts; all for the command line.
    pub by: Option<Authority>,
}

impl Operation for BlockWorker {
    const NAME: &'static str = "block_worker";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (worker, message) = (self.worker, self.message.as_deref().map(Reason::from));
        check_owner(tx, worker, self.by.as_ref()).await?;
        tx.workers().block(worker, message.clone()).await?;
        let message = message.map(|message| message.to_string());
        tx.record_event(Authority::account(self.by.as_ref()), Event::WorkerBlocked { worker, message }).await?;
        Ok(())
    }
}
