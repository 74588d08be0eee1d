//! Passwords.

use crate::{
    model::{AccountId, AccountKey, AccountState, Event, Refusal},
    store::{Operation, StoreError, Tx},
};

/// Sets an account's password and ends its sessions.
pub struct SetPassword {
    /// The account.
    pub account: AccountKey,
    /// The password's hash, from [`passwords`](crate::people::passwords::hash).
    pub hash: String,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for SetPassword {
    const NAME: &'static str = "set_password";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let mut account = tx.accounts().lock(&self.account).await?;
        if account.state == AccountState::Deleted {
            return Err(Refusal::NoAccount { account: account.id.to_string() }.into());
        }
        account.password = Some(self.hash.clone());
        tx.accounts().save(&account).await?;
        tx.tokens().end_sessions_of(account.id).await?;
        tx.record_event(self.by, Event::PasswordSet { account: account.id }).await?;
        Ok(())
    }
}
