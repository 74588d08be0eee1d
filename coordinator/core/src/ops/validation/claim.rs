//! Hands shards to a validator.

use crate::{
    clock::Time,
    model::ToValidate,
    store::{Operation, StoreError, Tx},
};

/// Claims shards until a time; if this coordinator crashes, others claim them after it.
pub struct ClaimShards {
    /// Maximum number of shards.
    pub limit: i64,
    /// The time at which others may claim them.
    pub until: Time,
}

impl Operation for ClaimShards {
    const NAME: &'static str = "claim_shards";
    type Output = Vec<ToValidate>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<ToValidate>, StoreError> {
        let now = tx.now();
        tx.shards().claim(now, self.limit, self.until).await
    }
}

/// Ends the claims of validators that were killed, on shards and on comparisons. The caller knows
/// that no validator runs.
pub struct ReleaseClaims;

impl Operation for ReleaseClaims {
    const NAME: &'static str = "release_claims";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.shards().release_claims().await?;
        tx.comparisons().release_claims().await
    }
}
