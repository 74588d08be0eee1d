//! Secrets of people: tokens, cookies, invitations, passwords.
//!
//! A token is shown once and stored as its SHA-256: it is random, so no slower hash is needed.
//! Passwords are for the pages only and stored by argon2id.

pub mod passwords;

use dataset::Digest;
use protocol::api::problem::Code;

use crate::{
    clock::Time,
    model::Identity,
    store::{Connection, StoreError, Tokens},
};

/// Prefix of tokens, by which people and secret scanners recognise them.
pub const TOKEN_PREFIX: &str = "chuhe_";

/// Returns a random secret of 32 characters with 5 bits each, easy to type.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn secret(prefix: &str) -> Result<String, StoreError> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Corrupt(format!("no random numbers: {error}")))?;
    Ok(bytes
        .iter()
        .fold(prefix.to_owned(), |text, byte| text + &char::from(LETTERS[usize::from(byte % 32)]).to_string()))
}

/// Returns the secret of a new token.
pub fn new_token() -> Result<String, StoreError> {
    secret(TOKEN_PREFIX)
}

/// Returns the SHA-256 of a secret, by which it is looked up.
#[must_use]
pub fn hash_of(secret: &str) -> String {
    Digest::of(secret.as_bytes()).to_string()
}

/// Authenticates a token.
///
/// # Errors
///
/// If it is unknown, expired or revoked, or its account is blocked.
pub async fn authenticate(connection: &mut Connection<'_>, now: Time, token: &str) -> Result<Identity, StoreError> {
    let found = Tokens::on(connection.reborrow()).find(hash_of(token)).await?;
    let unknown = || StoreError::rejected(Code::BadToken, "the token is not known here");
    let (token, account) = found.ok_or_else(unknown)?;
    Ok(token.authenticate(account, now)?)
}
