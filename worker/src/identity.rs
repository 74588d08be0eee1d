//! The account of this worker's token, and whose leases it may submit.

use std::sync::OnceLock;

use client::{Client, Error};

use crate::{sentence::sentence, spool::SavedLease};

/// The account, asked for once.
pub(crate) struct Identity {
    client: Client,
    account: OnceLock<String>,
}

impl Identity {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client, account: OnceLock::new() }
    }

    /// Returns the name of the account.
    pub(crate) fn account(&self) -> Result<&str, Error> {
        if let Some(account) = self.account.get() {
            return Ok(account);
        }
        let account = self.client.me()?.account;
        Ok(self.account.get_or_init(|| account))
    }

    /// Returns the server's address.
    pub(crate) fn server(&self) -> String {
        self.client.server_address().to_string()
    }

    /// Returns whose a lease is, if it is not this account's: its server, or its account there. The
    /// server would refuse its games. A lease without an account was saved by an earlier version.
    ///
    /// # Errors
    ///
    /// If the server must be asked and does not answer.
    pub(crate) fn owner_of(&self, saved: &SavedLease) -> Result<Option<String>, Error> {
        let SavedLease { server, account, .. } = saved;
        if *server != self.server() {
            return Ok(Some(format!("another server, {server}")));
        }
        let Some(account) = account else { return Ok(None) };
        match self.account() {
            Ok(own) => Ok((own != account).then(|| format!("another account, {account}"))),
            Err(error) if error.is_transient() => Err(error),
            // Only the owner can mend that; the submission will say so.
            Err(_) => Ok(None),
        }
    }
}

/// Says that a lease of another owner is left alone.
pub(crate) fn left_alone(owner: &str, is_closed: bool) -> String {
    sentence(if is_closed {
        format!("A result waits for {owner}.")
    } else {
        format!("A lease of {owner}, is set aside until this worker is configured for that again.")
    })
}
