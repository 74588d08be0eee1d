//! Steps of several operations: the standing of an account changes. The caller has locked the jobs
//! and shards that it needs, since accounts are locked after them.

use crate::{
    model::{AccountId, Fault},
    store::{StoreError, Tx},
};

/// Charges an account for a fault with games of so many nodes.
pub(super) async fn charge(tx: &mut Tx<'_>, account: AccountId, fault: Fault, nodes: i64) -> Result<(), StoreError> {
    let now = tx.now();
    let mut standing = tx.accounts().standing(account).await?;
    standing.charge(now, fault, nodes);
    tx.accounts().save_standing(account, standing).await
}

/// Credits an account with accepted games of so many nodes.
pub(super) async fn credit(tx: &mut Tx<'_>, account: AccountId, nodes: i64) -> Result<(), StoreError> {
    let mut standing = tx.accounts().standing(account).await?;
    standing.credit(nodes);
    tx.accounts().save_standing(account, standing).await
}
