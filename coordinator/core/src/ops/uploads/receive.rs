//! Records an uploaded shard.

use dataset::Digest;
use protocol::api::work::{Notice, ReceiptStatus};

use crate::{
    model::{
        AccountId, AccountState, JobId, Lease, LeaseKind, LeaseState, LeaseToken, NewShard, Part, ShardState, TokenId,
    },
    ops::holders,
    store::{Operation, StoreError, Tx},
};

/// Records a shard that passed the checks on receipt and is stored as an object. Once committed,
/// its games are durable. Also returns the notices for the worker.
#[derive(Clone, Debug)]
pub struct ReceiveUpload {
    /// The account of the token.
    pub account: AccountId,
    /// The token itself.
    pub token: Option<TokenId>,
    /// The lease.
    pub lease: LeaseToken,
    /// The SHA-256 of the file.
    pub hash: Digest,
    /// Size of the file.
    pub bytes: u64,
    /// The first game.
    pub first: u64,
    /// Number of games.
    pub games: u64,
    /// Number of positions with a move of the search.
    pub positions: u64,
}

impl Operation for ReceiveUpload {
    const NAME: &'static str = "receive_upload";
    type Output = (ReceiptStatus, Vec<Notice>);

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let now = tx.now();
        let job = tx.leases().job_of(&self.lease).await?;
        let job = tx.jobs().lock(job).await?;
        let mut lease = tx.leases().get(&self.lease).await?.owned_by(self.account)?;
        let numbers = self.first as i64..(self.first + self.games) as i64;
        let key = tx.workers().record_contact(lease.worker, now).await?;
        key.check(lease.worker, self.token)?;
        lease.check_upload(&job, &numbers, key.is_trusted)?;
        let earlier = tx.shards().of_lease(lease.id).await?;
        if earlier.iter().any(|upload| upload.hash == self.hash) {
            return Ok((ReceiptStatus::Duplicate, tx.shards().notices(lease.worker).await?));
        }
        Lease::check_repeat(&numbers, &earlier)?;
        // A quarantined account's games are kept, in case the quarantine is lifted.
        let state = match tx.accounts().shared_state(lease.account).await? {
            AccountState::Quarantined => ShardState::Quarantined,
            _ => ShardState::Received,
        };
        let shard = NewShard {
            hash: self.hash,
            job: job.id,
            bench_signature: job.header.bench_signature as i64,
            lease: lease.id,
            worker: lease.worker,
            account: lease.account,
            numbers: numbers.clone(),
            positions: self.positions as i64,
            bytes: self.bytes as i64,
            state,
        };
        let part = Part { shard: tx.shards().insert(&shard, now).await?, numbers };
        tx.totals().count(part.shard, state, 1).await?;
        if state == ShardState::Received {
            hold_and_compare(tx, job.id, &lease, &part).await?;
        }
        if lease.record_upload(now, part.numbers.end) {
            tx.leases().save_progress(&lease).await?;
        }
        let is_fresh = lease.state == LeaseState::Active && lease.kind == LeaseKind::Fresh;
        let any_undelivered = is_fresh && !tx.segments().leased(lease.id).await?.is_empty();
        if lease.is_done_after_upload(part.numbers.end, any_undelivered) {
            tx.leases().close(lease.id, LeaseState::Done).await?;
        }
        Ok((ReceiptStatus::Received, tx.shards().notices(lease.worker).await?))
    }
}

/// Assigns the unheld games to the shard and compares the others with their holders. An audited or
/// disputed shard is compared in all common games, whichever shard holds them.
async fn hold_and_compare(tx: &mut Tx<'_>, job: JobId, lease: &Lease, part: &Part) -> Result<(), StoreError> {
    let now = tx.now();
    let mut others = match lease.kind {
        LeaseKind::Fresh => Vec::new(),
        LeaseKind::Audit | LeaseKind::Settle => tx.shards().named_by(lease.id, lease.audited).await?,
    };
    let named = others.len();
    for holder in holders::hold(tx, job, part).await? {
        if others[..named].iter().all(|other| other.shard != holder.shard) {
            others.push(holder);
        }
    }
    for other in &others {
        tx.comparisons().queue(now, job, other, part).await?;
    }
    Ok(())
}
