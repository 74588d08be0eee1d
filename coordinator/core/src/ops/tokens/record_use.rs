//! Uses of tokens.

use crate::{
    model::TokenId,
    store::{Operation, StoreError, Tx},
};

/// Records the use of a token.
pub struct RecordTokenUse {
    /// The token.
    pub token: TokenId,
}

impl Operation for RecordTokenUse {
    const NAME: &'static str = "record_token_use";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        tx.tokens().record_use(now, self.token).await
    }
}
