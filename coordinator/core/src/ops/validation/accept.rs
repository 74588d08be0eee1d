//! The verdict on a valid shard.

use std::sync::Arc;

use crate::{
    choices,
    model::{AuditState, ShardId, ValidationReport},
    ops::standing,
    rules::Credit,
    store::{Operation, StoreError, Tx},
};

/// Accepts a valid shard: its games count.
pub struct AcceptShard {
    /// The shard.
    pub shard: ShardId,
    /// The result of its replay.
    pub report: Arc<ValidationReport>,
    /// A random number, which decides on an audit.
    pub draw: u64,
}

impl Operation for AcceptShard {
    const NAME: &'static str = "accept_shard";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let (id, report) = (self.shard, &*self.report);
        let job = tx.shards().job_of(id).await?;
        let job = tx.jobs().lock(job).await?;
        let shard = tx.shards().to_validate(id).await?;
        if !shard.is_pending() {
            return Ok(());
        }
        // A quarantined shard is credited and sampled as usual, in case the quarantine is lifted.
        let min_percent = choices::audit_percent(&mut tx.connection()).await?;
        let is_sampled = shard.is_sampled(&job, min_percent, self.draw);
        let audit = if is_sampled { AuditState::Wanted } else { AuditState::None };
        tx.totals().count(id, shard.state, -1).await?;
        tx.shards().accept(id, now, report, shard.accepted(), audit).await?;
        tx.totals().count(id, shard.accepted(), 1).await?;
        let games = shard.numbers.end - shard.numbers.start;
        if shard.measures_cost()
            && let Some(cost) = job.updated_cost(games, report.positions)
        {
            tx.jobs().save_cost(job.id, cost).await?;
        }
        let before = tx.shards().validated_of(job.id, shard.account, &shard.numbers, id).await?;
        let before: Vec<_> = before.into_iter().map(|part| part.numbers).collect();
        if let Some(credit) = Credit::of(&shard.numbers, &before, report) {
            tx.accounts().credit(shard.account, now, credit).await?;
            // Legal moves cost nothing: they prove work only if no other account may audit them.
            let waits = shard.is_auditable(&job) && tx.workers().any_auditor(shard.account, &job, now).await?;
            if !waits {
                standing::credit(tx, shard.account, credit.games.saturating_mul(job.nodes_per_game)).await?;
            }
        }
        Ok(())
    }
}
