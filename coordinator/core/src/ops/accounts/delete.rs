//! Deletion of accounts.

use crate::{
    model::{AccountKey, Authority, Event},
    store::{Operation, StoreError, Tx},
};

/// Deletes an account and anonymises its games, which stay.
pub struct DeleteAccount {
    /// The account.
    pub account: AccountKey,
    /// The rights with which it acts; all for the command line.
    pub by: Option<Authority>,
}

impl Operation for DeleteAccount {
    const NAME: &'static str = "delete_account";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut account = tx.accounts().lock(&self.account).await?;
        if let Some(by) = &self.by {
            account.check_authority(by)?;
        }
        let by = Authority::account(self.by.as_ref());
        account.delete();
        tx.accounts().save(&account).await?;
        tx.accounts().anonymize(now, account.id).await?;
        tx.events().erase(account.id).await?;
        let by = by.filter(|by| *by != account.id);
        tx.record_event(by, Event::AccountDeleted { account: account.id }).await?;
        Ok(())
    }
}
