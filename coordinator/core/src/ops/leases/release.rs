//! Voluntary end of a lease.

use crate::{
    model::{AccountId, LeaseKind, LeaseState, LeaseToken, ShardState, uncovered},
    ops::standing,
    rules::segments,
    store::{Operation, StoreError, Tx},
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
        let job = tx.jobs().lock(job).await?;
        let mut lease = tx.leases().get(&self.lease).await?.owned_by(self.account)?;
        if lease.state != LeaseState::Active {
            return Ok(());
        }
        let from = lease.released_from(self.from, job.unit())?;
        let leased = tx.segments().leased(lease.id).await?;
        // In a match each grant is an attempt: the verdict waits for each pair.
        tx.segments().apply(job.id, segments::release(&leased, from, job.unit() == 1)).await?;
        let uploads = tx.shards().of_lease(lease.id).await?;
        let delivered = uploads.into_iter().filter(|upload| upload.state != ShardState::Rejected);
        let delivered: Vec<_> = delivered.map(|upload| upload.numbers).collect();
        let missing = uncovered(&lease.numbers(), delivered.iter().cloned());
        // Games before the number follow, but for those that another lease has now.
        let follow = match lease.kind {
            LeaseKind::Fresh => {
                leased.iter().map(|segment| (segment.numbers.end.min(from) - segment.numbers.start).max(0)).sum()
            }
            LeaseKind::Audit | LeaseKind::Settle => uncovered(&(lease.first..from), delivered),
        };
        if follow == 0 {
            tx.leases().close(lease.id, LeaseState::Returned).await?;
        }
        let released = missing - follow;
        if let Some(fault) = lease.fault_of_release(released) {
            let nodes = job.nodes_per_game.saturating_mul(lease.charge(released));
            tx.leases().save_charged(lease.id, lease.charged).await?;
            standing::charge(tx, lease.account, fault, nodes).await?;
        }
        Ok(())
    }
}
