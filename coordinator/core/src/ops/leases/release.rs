//! Voluntary end of a lease.

use crate::{
    model::{AccountId, LeaseKind, LeaseState, LeaseToken},
    store::{Operation, StoreError, Tx},
    work::{lock_job, segments},
};

/// Releases the games of a lease from a number on. A lease that is over is no error: its games are
/// granted to others.
pub struct ReleaseLease {
    /// The account that asks.
    pub account: AccountId,
    /// The lease.
    pub lease: LeaseToken,
    /// The first game that is released.
    pub from: u64,
}

impl Operation for ReleaseLease {
    const NAME: &'static str = "release_lease";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let job = tx.leases().job_of(&self.lease).await?;
        let job = lock_job(&mut tx.connection(), job.0).await?;
        let lease = tx.leases().get(&self.lease).await?.owned_by(self.account)?;
        if lease.state != LeaseState::Active {
            return Ok(());
        }
        let from = lease.released_from(self.from, job.unit())?;
        let mut connection = tx.connection();
        segments::release(&mut connection, job.id, lease.id.0, from, true).await?;
        let is_fresh = lease.kind == LeaseKind::Fresh;
        let any_undelivered = is_fresh && segments::any_undelivered(&mut connection, lease.id.0).await?;
        if lease.is_over_after_release(from, any_undelivered) {
            tx.leases().close(lease.id, LeaseState::Returned).await?;
        }
        Ok(())
    }
}
