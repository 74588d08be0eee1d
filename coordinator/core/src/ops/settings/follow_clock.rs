//! Consequences of a clock that was set back.

use crate::store::{Operation, StoreError, Tx};

/// Moves times that lie ahead of the clock, which was set back. Otherwise leases and claims would
/// wait until the clock is there again.
pub struct FollowClock;

impl Operation for FollowClock {
    const NAME: &'static str = "follow_clock";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        tx.times().follow(now).await
    }
}
