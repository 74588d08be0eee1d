//! Deletion of accounts.

use crate::{
    events::{Event, record_event},
    model::{AccountId, AccountKey},
    store::{Operation, StoreError, Tx},
};

/// Deletes an account and anonymises its games, which stay.
pub struct DeleteAccount {
    /// The account.
    pub account: AccountKey,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for DeleteAccount {
    const NAME: &'static str = "delete_account";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut account = tx.accounts().lock(&self.account).await?;
        account.delete();
        tx.accounts().save(&account).await?;
        tx.accounts().anonymize(now, account.id).await?;
        tx.events().erase(account.id).await?;
        record_event(&mut tx.connection(), now, self.by, Event::AccountDeleted { account: account.id }).await?;
        Ok(())
    }
}
