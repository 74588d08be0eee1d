//! Sign-out.

use crate::{
    people::hash_of,
    store::{Operation, StoreError, Tx},
};

/// Ends a session.
pub struct EndSession {
    /// The secret of its cookie.
    pub cookie: String,
}

impl Operation for EndSession {
    const NAME: &'static str = "end_session";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.tokens().end_session(hash_of(&self.cookie)).await
    }
}
