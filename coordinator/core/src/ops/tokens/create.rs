//! New tokens.

use protocol::api::{
    problem::{Code, Problem},
    work::Role,
};

use crate::{
    clock::Time,
    model::{AccountKey, Authority, Event},
    people::hash_of,
    store::{NewToken, Operation, StoreError, Tx},
};

/// Maximum valid tokens of an account.
const MAX_TOKENS: i64 = 200;

/// Maximum length of a token's name, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Creates a token.
pub struct CreateToken {
    /// The account.
    pub account: AccountKey,
    /// Its name, for people.
    pub name: String,
    /// Its role, at most the account's, which is the default.
    pub role: Option<Role>,
    /// The time at which it expires; never if none.
    pub expires: Option<Time>,
    /// The rights with which it is created; all for the command line.
    pub by: Option<Authority>,
    /// Its secret, from [`new_token`](crate::people::new_token).
    pub secret: String,
}

impl Operation for CreateToken {
    const NAME: &'static str = "create_token";
    type Output = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (now, name) = (tx.now(), self.name.as_str());
        let account = tx.accounts().get(&self.account).await?;
        let (account, own) = (account.id, account.role);
        let role = self.role.unwrap_or(own);
        if role > own {
            let detail = format!("the account is a {own}; its tokens cannot be a {role}'s");
            return Err(Problem::new(Code::Forbidden, detail).into());
        }
        if let Some(by) = &self.by {
            by.check_token(role, self.expires)?;
        }
        if name.chars().count() > MAX_NAME_CHARS {
            let detail = format!("a token's name has at most {MAX_NAME_CHARS} characters");
            return Err(Problem::new(Code::Invalid, detail).into());
        }
        if tx.tokens().count_valid(account, now).await? >= MAX_TOKENS {
            let detail = format!("an account has at most {MAX_TOKENS} tokens: revoke those that are not used");
            return Err(Problem::new(Code::Quota, detail).into());
        }
        let begins = &self.secret[..12];
        let token = NewToken { account, name, begins, hash: hash_of(&self.secret), role, expires: self.expires };
        tx.tokens().add(now, token).await?;
        let (begins, name) = (begins.to_owned(), name.to_owned());
        tx.record_event(Some(account), Event::TokenCreated { account, begins, name, role }).await?;
        Ok(())
    }
}
