//! Leases of workers that could not reach the coordinator, since it did not run.

use crate::{
    rules::leases::RESTART_MS,
    store::{Operation, StoreError, Tx},
};

/// Extends the leases that would expire before their workers come back after a restart. Lost time
/// of the coordinator is no fault of an account.
pub struct ExtendLeases;

impl Operation for ExtendLeases {
    const NAME: &'static str = "extend_leases";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        tx.leases().extend(now.after(RESTART_MS)).await
    }
}
