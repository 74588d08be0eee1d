//! Changes of roles and states.

use crate::{
    events::{Event, record_event},
    model::{AccountChange, AccountKey, Authority},
    store::{Operation, StoreError, Tx},
};

/// Changes an account's role, its state, or both. A quarantine ends only by
/// [`SetQuarantine`](crate::ops::disputes::SetQuarantine).
pub struct ChangeAccount {
    /// The account.
    pub account: AccountKey,
    /// The changes.
    pub changes: Vec<AccountChange>,
    /// The message to the account's workers.
    pub message: Option<String>,
    /// The rights with which it acts; all for the command line.
    pub by: Option<Authority>,
}

impl Operation for ChangeAccount {
    const NAME: &'static str = "change_account";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        let mut account = tx.accounts().lock(&self.account).await?;
        if let Some(by) = &self.by {
            account.check_authority(by)?;
        }
        let by = Authority::account(self.by.as_ref());
        for &change in &self.changes {
            account.change(change, self.message.as_deref().map(Into::into))?;
            tx.accounts().save(&account).await?;
            let event = Event::AccountChanged { account: account.id, change, message: self.message.clone() };
            record_event(&mut tx.connection(), now, by, event).await?;
        }
        Ok(())
    }
}
