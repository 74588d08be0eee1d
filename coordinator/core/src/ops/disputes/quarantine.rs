//! Quarantine by hand, and its end.

use super::conclude::{Cause, conclude};
use crate::{
    model::{AccountKey, Authority, Reason, Refusal},
    rules::case::Case,
    store::{Operation, StoreError, Tx},
};

/// Quarantines an account: its workers get no leases, and its uploads leave the pool, but for
/// verified ones. Or lifts the quarantine: the account's shards count again where no other shard
/// took their place, and are compared with those that did. The account is marked at once;
/// [`ReviewShards`](super::ReviewShards) reviews its uploads.
#[derive(Clone, Debug)]
pub struct SetQuarantine {
    /// The account.
    pub account: AccountKey,
    /// Whether it is quarantined; otherwise the quarantine is lifted.
    pub begins: bool,
    /// The rights of the deciding maintainer; all for the command line.
    pub by: Option<Authority>,
    /// Why.
    pub reason: Reason,
}

impl Operation for SetQuarantine {
    const NAME: &'static str = "set_quarantine";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        // Jobs are locked before accounts, so this one is not locked here.
        let account = tx.accounts().get(&self.account).await?;
        if let Some(by) = &self.by {
            account.check_authority(by)?;
            if !self.begins {
                by.check_lasting()?;
            }
            if by.account == account.id && !self.begins {
                return Err(Refusal::OwnQuarantine.into());
            }
        }
        let mut case = Case::default();
        case.decided(account.id, self.begins);
        let cause = Cause { by: Authority::account(self.by.as_ref()), reason: self.reason.clone() };
        conclude(tx, &mut case, Some(&cause)).await.map(drop)
    }
}
