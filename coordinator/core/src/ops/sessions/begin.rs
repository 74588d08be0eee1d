//! Sign-in.

use crate::{
    clock::DAY,
    model::AccountId,
    people::hash_of,
    store::{Operation, StoreError, Tx},
};

/// Lifetime of a session.
pub const LIFETIME_MS: i64 = 14 * DAY;

/// Begins a session in place of the previous one.
pub struct BeginSession {
    /// The account.
    pub account: AccountId,
    /// The secret of the cookie of a session that ends.
    pub previous: Option<String>,
    /// The secret of the new cookie.
    pub cookie: String,
    /// The CSRF token of the session's forms.
    pub form: String,
}

impl Operation for BeginSession {
    const NAME: &'static str = "begin_session";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let now = tx.now();
        if let Some(previous) = &self.previous {
            tx.tokens().end_session(hash_of(previous)).await?;
        }
        let (hash, form) = (hash_of(&self.cookie), self.form.clone());
        tx.tokens().add_session(now, self.account, hash, form, now.after(LIFETIME_MS)).await
    }
}
