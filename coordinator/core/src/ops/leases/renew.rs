//! Heartbeat of a lease.

use protocol::api::work::Renewed;

use crate::{
    clock::SECOND,
    model::{AccountId, LeaseToken},
    rules::leases::heartbeat_seconds,
    store::{Operation, StoreError, Tx},
};

/// Renews a lease whose worker makes progress.
pub struct RenewLease {
    /// The account that asks.
    pub account: AccountId,
    /// The lease.
    pub lease: LeaseToken,
    /// The number of games that are finished.
    pub finished: u64,
    /// The number of active workers, if it is known.
    pub fleet: Option<i64>,
}

impl Operation for RenewLease {
    const NAME: &'static str = "renew_lease";
    type Output = Renewed;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Renewed, StoreError> {
        let now = tx.now();
        // The job is not locked, so a heartbeat never waits for an upload.
        let mut lease = tx.leases().lock(&self.lease).await?.owned_by(self.account)?;
        lease.renew(now, self.finished)?;
        tx.leases().save_progress(&lease).await?;
        tx.workers().record_contact(lease.worker, now).await?;
        let seconds = ((lease.expires.0 - now.0) / SECOND) as u32;
        Ok(Renewed { seconds, heartbeat_seconds: self.fleet.map(heartbeat_seconds) })
    }
}
