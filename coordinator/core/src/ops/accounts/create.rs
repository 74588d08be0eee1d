//! New accounts.

use protocol::{api::work::Role, is_name};

use crate::{
    model::{AccountId, AccountState, Event, Refusal},
    store::{Operation, StoreError, Tx},
};

/// Creates an account.
pub struct CreateAccount {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its state.
    pub state: AccountState,
    /// The acting account.
    pub by: Option<AccountId>,
}

impl Operation for CreateAccount {
    const NAME: &'static str = "create_account";
    type Output = AccountId;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<AccountId, StoreError> {
        let (now, name) = (tx.now(), self.name.clone());
        if !is_name(&name) {
            return Err(Refusal::BadName { name }.into());
        }
        let account = tx.accounts().add(now, &name, self.role, self.state).await?;
        tx.record_event(self.by, Event::AccountCreated { account, name, role: self.role, state: self.state }).await?;
        Ok(account)
    }
}
