//! Expiry of leases.

use crate::{
    model::LeaseState,
    rules::segments,
    store::{DueLease, Operation, StoreError, Tx},
};

/// Ends leases whose time is over, and reopens their games and abandoned audits. Returns the number
/// of leases.
pub struct ExpireLeases;

impl Operation for ExpireLeases {
    const NAME: &'static str = "expire_leases";
    type Output = u64;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        let now = tx.now();
        let mut expired = 0;
        for DueLease { job, token, .. } in tx.leases().due(now).await? {
            tx.jobs().lock(job).await?;
            let lease = tx.leases().get(&token).await?;
            // Another coordinator may have ended it while this one waited for the lock.
            if lease.is_due(now) {
                let leased = tx.segments().leased(lease.id).await?;
                tx.segments().apply(job, segments::release(&leased, lease.first, false)).await?;
                tx.leases().close(lease.id, LeaseState::Expired).await?;
                expired += 1;
            }
        }
        tx.shards().reopen_audits().await?;
        tx.comparisons().reopen_disputes().await?;
        Ok(expired)
    }
}
