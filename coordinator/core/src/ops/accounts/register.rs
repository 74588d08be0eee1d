//! Registration of people.

use protocol::api::work::Role;

use super::{ChangeAccount, CreateAccount, RedeemInvitation, SetPassword};
use crate::{
    model::{AccountChange, AccountId, AccountState},
    ops::tokens::CreateToken,
    store::{Operation, StoreError, Tx},
};

/// Registers an account for a person, a volunteer or with the role of the invitation, with its
/// first token.
pub struct RegisterAccount {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: AccountState,
    /// The secret of an invitation.
    pub invitation: Option<String>,
    /// The hash of its password.
    pub password: Option<String>,
    /// The secret of its first token.
    pub token: String,
}

impl Operation for RegisterAccount {
    const NAME: &'static str = "register_account";
    type Output = AccountId;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<AccountId, StoreError> {
        let (name, role, state) = (self.name.clone(), Role::Volunteer, self.state);
        let account = CreateAccount { name, role, state, by: None }.run(tx).await?;
        if let Some(secret) = self.invitation.clone() {
            let role = RedeemInvitation { secret, account }.run(tx).await?;
            let changes = vec![AccountChange::Role(role)];
            ChangeAccount { account: account.into(), changes, message: None, by: None }.run(tx).await?;
        }
        if let Some(hash) = self.password.clone() {
            SetPassword { account: account.into(), hash, by: Some(account) }.run(tx).await?;
        }
        let (account_key, name, secret) = (account.into(), "first".to_owned(), self.token.clone());
        CreateToken { account: account_key, name, role: None, expires: None, by: None, secret }.run(tx).await?;
        Ok(account)
    }
}
