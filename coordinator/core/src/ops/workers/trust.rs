//! Trust in workers.

use crate::{
    model::{AccountId, Event, WorkerId},
    store::{Operation, StoreError, Tx},
};

/// Sets whether a worker is trusted: its results settle disputes, and its games need no audit.
pub struct TrustWorker {
    /// The worker.
    pub worker: WorkerId,
    /// Whether it is trusted.
    pub is_trusted: bool,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for TrustWorker {
    const NAME: &'static str = "trust_worker";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (worker, is_trusted) = (self.worker, self.is_trusted);
        tx.workers().trust(worker, is_trusted).await?;
        tx.record_event(self.by, Event::WorkerTrusted { worker, is_trusted }).await?;
        Ok(())
    }
}
