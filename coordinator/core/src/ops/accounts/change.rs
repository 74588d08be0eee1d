//! Changes of roles and states.

use crate::{
    model::{AccountChange, AccountKey, AccountState, Authority, Event, Reason},
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
        let mut account = tx.accounts().lock(&self.account).await?;
        if let Some(by) = &self.by {
            account.check_authority(by)?;
            let is_lasting = |change: &AccountChange| !matches!(change, AccountChange::State(state) if *state != AccountState::Active);
            if self.changes.iter().any(is_lasting) {
                by.check_lasting()?;
            }
        }
        let by = Authority::account(self.by.as_ref());
        let message = self.message.as_deref().map(Reason::from);
        let text = message.as_ref().map(ToString::to_string);
        for &change in &self.changes {
            account.change(change, message.clone())?;
            tx.accounts().save(&account).await?;
            let event = Event::AccountChanged { account: account.id, change, message: text.clone() };
            tx.record_event(by, event).await?;
        }
        Ok(())
    }
}
