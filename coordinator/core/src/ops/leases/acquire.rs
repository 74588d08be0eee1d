//! Grants games to a worker.

use protocol::api::work::{Answer, Ask};

use crate::{
    store::{Operation, StoreError, Tx},
    work::{
        leasing::{self, Caller, Policy},
        notices,
    },
};

/// Grants a worker a lease, or a time to wait. Also returns the notices for the worker.
pub struct AcquireLease {
    /// The authenticated caller.
    pub caller: Caller,
    /// The request.
    pub ask: Ask,
    /// Conditions of the whole coordinator.
    pub policy: Policy,
}

impl Operation for AcquireLease {
    const NAME: &'static str = "acquire_lease";
    type Output = Answer;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Answer, StoreError> {
        let now = tx.now();
        let mut connection = tx.connection();
        let work = leasing::acquire(&mut connection, now, self.caller, &self.ask, &self.policy).await?;
        Ok(Answer { work, notices: notices::unacknowledged(&mut connection, self.ask.worker).await? })
    }
}
