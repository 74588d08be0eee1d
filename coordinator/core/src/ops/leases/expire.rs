//! Expiry of leases.

use crate::{
    store::{Operation, StoreError, Tx},
    work::{audit, leases, lock_job},
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
        for token in tx.leases().due(now).await? {
            let job = tx.leases().job_of(&token).await?;
            let job = lock_job(&mut tx.connection(), job.0).await?;
            let lease = tx.leases().get(&token).await?;
            // Another coordinator may have ended it while this one waited for the lock.
            if lease.is_due(now) {
                leases::end(&mut tx.connection(), job.id, lease.id.0, lease.first).await?;
                expired += 1;
            }
        }
        audit::reopen_abandoned(&mut tx.connection()).await?;
        Ok(expired)
    }
}
