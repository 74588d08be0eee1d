//! Revocation of tokens.

use crate::{
    events::{Event, record_event},
    model::{AccountId, Refusal, TokenId},
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
            return Err(Refusal::NoToken { token }.into());
        }
        record_event(&mut tx.connection(), now, self.owner, Event::TokenRevoked { token }).await?;
        Ok(())
    }
}
