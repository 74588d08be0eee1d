//! Hands games to a referee.

use crate::{
    clock::Time,
    model::{DisputedGame, ShardId, ToValidate},
    store::{Operation, StoreError, Tx},
};

/// Claims disputes over games of an engine until a time. If this referee crashes, others claim them
/// after it.
pub struct ClaimDisputes {
    /// The bench signature of the engine.
    pub bench_signature: u64,
    /// Maximum number of disputes.
    pub limit: i64,
    /// The time at which others may claim them.
    pub until: Time,
}

impl Operation for ClaimDisputes {
    const NAME: &'static str = "claim_disputes";
    type Output = Vec<DisputedGame>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<DisputedGame>, StoreError> {
        let now = tx.now();
        tx.comparisons().claim_disputes(now, self.bench_signature as i64, self.limit, self.until).await
    }
}

/// Claims shards of an engine that no referee has checked, until a time.
pub struct ClaimUnchecked {
    /// The bench signature of the engine.
    pub bench_signature: u64,
    /// Maximum number of shards.
    pub limit: i64,
    /// The time at which others may claim them.
    pub until: Time,
}

impl Operation for ClaimUnchecked {
    const NAME: &'static str = "claim_unchecked";
    type Output = Vec<ToValidate>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<ToValidate>, StoreError> {
        let now = tx.now();
        tx.shards().claim_unchecked(now, self.bench_signature as i64, self.limit, self.until).await
    }
}

/// Records that a game of a shard was played again, to the same moves.
pub struct PassCheck {
    /// The shard.
    pub shard: ShardId,
}

impl Operation for PassCheck {
    const NAME: &'static str = "pass_check";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.shards().mark_checked(self.shard).await
    }
}
