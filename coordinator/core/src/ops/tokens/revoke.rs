//! Revocation of tokens.

use crate::{
    model::{AccountId, Event, Refusal, TokenId},
    store::{Operation, StoreError, Tx},
};

/// Revokes a token.
pub struct RevokeToken {
    /// The account whose token it must be; any if none.
    pub owner: Option<AccountId>,
    /// The token.
    pub token: TokenId,
}

impl Operation for RevokeToken {
    const NAME: &'static str = "revoke_token";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (now, token) = (tx.now(), self.token);
        if !tx.tokens().revoke(now, self.owner, token).await? {
            return Err(Refusal::NoToken { token: token.0 }.into());
        }
        tx.record(self.owner, &Event::TokenRevoked { token }).await?;
        Ok(())
    }
}
