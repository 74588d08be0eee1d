//! Voluntary end of a lease.

use crate::{
    model::{AccountId, LeaseState, LeaseToken, ShardState, uncovered},
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
        let lease = tx.leases().get(&self.lease).await?.owned_by(self.account)?;
        if lease.state != LeaseState::Active {
            return Ok(());
        }
        let from = lease.released_from(self.from, job.unit())?;
        let leased = tx.segments().leased(lease.id).await?;
        tx.segments().apply(job.id, segments::release(&leased, from, true)).await?;
        let any_undelivered = leased.iter().any(|segment| segment.numbers.start < from);
        if lease.is_over_after_release(from, any_undelivered) {
            tx.leases().close(lease.id, LeaseState::Returned).await?;
        }
        let uploads = tx.shards().of_lease(lease.id).await?;
        let delivered = uploads.into_iter().filter(|upload| upload.state != ShardState::Rejected);
        let missing = uncovered(&lease.numbers(), delivered.map(|upload| upload.numbers));
        // Those before the number follow.
        let follow = leased.iter().map(|segment| (segment.numbers.end.min(from) - segment.numbers.start).max(0));
        let released = missing - follow.sum::<i64>();
        if let Some(fault) = lease.fault_of_release(tx.now(), released) {
            let nodes = job.nodes_per_game.saturating_mul(released);
            standing::charge(tx, lease.account, fault, nodes).await?;
        }
        Ok(())
    }
}
