//! Expiry of leases.

use std::collections::BTreeMap;

use crate::{
    model::{AccountId, Fault, LeaseKind, LeaseState, ShardState, uncovered},
    ops::standing,
    rules::segments,
    store::{DueLease, Operation, StoreError, Tx},
};

/// Ends leases whose time is over, and reopens their games and abandoned audits. An account whose
/// games are missing has one fault. Returns the number of leases.
pub struct ExpireLeases;

impl Operation for ExpireLeases {
    const NAME: &'static str = "expire_leases";
    type Output = u64;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        let now = tx.now();
        let mut expired = 0;
        let mut lapsed = BTreeMap::<AccountId, i64>::new();
        for DueLease { job, token, .. } in tx.leases().due(now).await? {
            let job = tx.jobs().lock(job).await?;
            let mut lease = tx.leases().get(&token).await?;
            // Another coordinator may have ended it while this one waited for the lock.
            if lease.is_due(now) {
                let leased = tx.segments().leased(lease.id).await?;
                tx.segments().apply(job.id, segments::release(&leased, lease.first, false)).await?;
                tx.leases().close(lease.id, LeaseState::Expired).await?;
                expired += 1;
                let uploads = tx.shards().of_lease(lease.id).await?;
                let delivered = uploads.into_iter().filter(|upload| upload.state != ShardState::Rejected);
                let missing = uncovered(&lease.numbers(), delivered.map(|upload| upload.numbers));
                let missing = lease.charge(missing);
                if missing > 0 && lease.kind != LeaseKind::Settle {
                    let nodes = lapsed.entry(lease.account).or_default();
                    *nodes = nodes.saturating_add(job.nodes_per_game.saturating_mul(missing));
                }
            }
        }
        tx.shards().reopen_audits().await?;
        tx.comparisons().reopen_disputes().await?;
        // The accounts come after jobs and shards, in their order, as in other operations.
        // Leases that lapse together have one cause, such as a lost connection.
        for (account, nodes) in lapsed {
            standing::charge(tx, account, Fault::Lapsed, nodes).await?;
        }
        Ok(expired)
    }
}
