//! The auditors of shards.

use std::sync::Arc;

use crate::{
    clock::SECOND,
    model::{Auditor, Fleet},
    rules::audits,
    store::{Operation, StoreError, Tx},
};

/// The pause before the next draw for a shard that no account may audit now.
const RETRY_MS: i64 = 60 * SECOND;

/// Draws the auditors of shards whose audit is wanted. An auditor that does not ask for work in
/// time is replaced.
pub struct DrawAuditors {
    /// The accounts that may audit.
    pub auditors: Arc<[Auditor]>,
    /// The bench signature of their engine.
    pub bench_signature: i64,
    /// A random number.
    pub draw: u64,
}

impl DrawAuditors {
    /// Draws among the active accounts.
    #[must_use]
    pub fn among(fleet: &Fleet, bench_signature: u64, draw: u64) -> Self {
        Self { auditors: Arc::clone(&fleet.auditors), bench_signature: bench_signature as i64, draw }
    }
}

impl Operation for DrawAuditors {
    const NAME: &'static str = "draw_auditors";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let undrawn = tx.shards().undrawn(now, self.bench_signature).await?;
        if undrawn.is_empty() {
            return Ok(());
        }
        let left = tx.leases().left_audits(now.after(-audits::LEFT_MS)).await?;
        for wanted in undrawn {
            let players = tx.shards().players(wanted.job, &wanted.numbers).await?;
            let related = tx.workers().related(&players).await?;
            let draw = audits::draw_of(self.draw, wanted.shard);
            let auditors = audits::eligible(&self.auditors, wanted.is_ringer);
            let drawn = audits::choose_auditor(&auditors, wanted.account, &players, &related, &left, draw);
            let until = now.after(if drawn.is_some() { audits::AUDITOR_MS } else { RETRY_MS });
            tx.shards().set_auditor(wanted.shard, drawn, until).await?;
        }
        Ok(())
    }
}
