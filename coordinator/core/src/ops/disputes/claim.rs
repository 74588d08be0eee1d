//! Hands comparisons to a validator.

use crate::{
    clock::Time,
    model::ToCompare,
    store::{Operation, StoreError, Tx},
};

/// Claims comparisons of validated shards until a time.
pub struct ClaimComparisons {
    /// Maximum number of comparisons.
    pub limit: i64,
    /// The time at which others may claim them.
    pub until: Time,
}

impl Operation for ClaimComparisons {
    const NAME: &'static str = "claim_comparisons";
    type Output = Vec<ToCompare>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<ToCompare>, StoreError> {
        let now = tx.now();
        tx.comparisons().claim(now, self.limit, self.until).await
    }
}
