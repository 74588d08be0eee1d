//! Quarantine by hand, and its end.

use super::conclude::{Cause, conclude};
use crate::{
    model::{AccountId, Reason},
    rules::case::Case,
    store::{Operation, StoreError, Tx},
};

/// Quarantines an account: its workers get no leases, and its uploads leave the pool,
/// but for verified ones. Or lifts the quarantine: the account's shards count again where no other shard
/// took their place, and are compared with those that did. The account is marked at once;
/// [`ReviewShards`](super::ReviewShards) reviews its uploads.
#[derive(Clone, Debug)]
pub struct SetQuarantine {
    /// The account.
    pub account: AccountId,
    /// Whether it is quarantined; otherwise the quarantine is lifted.
    pub begins: bool,
    /// The deciding maintainer; none for the command line.
    pub by: Option<AccountId>,
    /// Why.
    pub reason: Reason,
}

impl Operation for SetQuarantine {
    const NAME: &'static str = "set_quarantine";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let mut case = Case::default();
        case.decided(self.account, self.begins);
        conclude(tx, &mut case, Some(&Cause { by: self.by, reason: self.reason.clone() })).await.map(drop)
    }
}
