//! Trust in workers.

use super::check_owner;
use crate::{
    model::{Authority, Event, WorkerId},
    store::{Operation, StoreError, Tx},
};

/// Sets whether a worker is trusted: its results settle disputes, and its games need no audit.
pub struct TrustWorker {
    /// The worker.
    pub worker: WorkerId,
    /// Whether it is trusted.
    pub is_trusted: bool,
    /// The rights with which it acts; all for the command line.
    pub by: Option<Authority>,
}

impl Operation for TrustWorker {
    const NAME: &'static str = "trust_worker";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (worker, is_trusted) = (self.worker, self.is_trusted);
        check_owner(tx, worker, self.by.as_ref()).await?;
        if let Some(by) = self.by.as_ref().filter(|_| is_trusted) {
            by.check_lasting()?;
        }
        tx.workers().trust(worker, is_trusted).await?;
        tx.record_event(Authority::account(self.by.as_ref()), Event::WorkerTrusted { worker, is_trusted }).await?;
        Ok(())
    }
}
