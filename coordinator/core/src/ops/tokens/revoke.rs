//! Revocation of tokens.

use protocol::api::work::Role;

use crate::{
    model::{Authority, Event, Refusal, TokenId},
    store::{Operation, StoreError, Tx},
};

/// Revokes a token.
pub struct RevokeToken {
    /// The rights with which it is revoked; all for the command line.
    pub by: Option<Authority>,
    /// The token.
    pub token: TokenId,
}

impl Operation for RevokeToken {
    const NAME: &'static str = "revoke_token";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (now, token) = (tx.now(), self.token);
        if let Some(by) = &self.by {
            let owner = tx.tokens().owner(token).await?.filter(|owner| by.role == Role::Admin || *owner == by.account);
            let owner = owner.ok_or(Refusal::NoToken { token })?;
            // A token may end itself.
            if by.token != Some(token) {
                tx.accounts().get(&owner.into()).await?.check_authority(by)?;
            }
        }
        if !tx.tokens().revoke(now, token).await? {
            return Err(Refusal::NoToken { token }.into());
        }
        tx.record_event(Authority::account(self.by.as_ref()), Event::TokenRevoked { token }).await?;
        Ok(())
    }
}
