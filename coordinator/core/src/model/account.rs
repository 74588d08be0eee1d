//! Accounts, their tokens and their sessions.

use protocol::api::work::Role;

use super::{AccountId, AccountState, Event, Reason, ShardId, TokenId};
use crate::clock::Time;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// Its name, unique whatever the case of its letters.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its state.
    pub state: AccountState,
    /// The message to its workers while it is not active.
    pub message: Option<Reason>,
    /// Hash of the password, if one was set.
    pub password: Option<String>,
}

/// An account as a request names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountKey {
    /// By its id.
    Id(AccountId),
    /// By its name.
    Name(String),
}

impl From<AccountId> for AccountKey {
    fn from(id: AccountId) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for AccountKey {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for AccountKey {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Its role, at most the account's.
    pub role: Role,
    /// The time at which it expires; never if none.
    pub expires: Option<Time>,
    /// The time at which it was revoked.
    pub revoked: Option<Time>,
    /// The time of its last use, now and then recorded.
    pub last_used: Option<Time>,
}

/// An authenticated account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The account's id.
    pub account: AccountId,
    /// The account's name.
    pub name: String,
    /// The role of its token.
    pub role: Role,
    /// Id of the token of the request; none behind a session.
    pub token: Option<TokenId>,
    /// The time at which that token expires.
    pub expires: Option<Time>,
    /// Whether the last use is due to be recorded.
    pub record_use: bool,
}

/// The rights with which an account acts: those of its token or its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority {
    /// The acting account.
    pub account: AccountId,
    /// The role of its token or session.
    pub role: Role,
    /// Its token; none behind a session.
    pub token: Option<TokenId>,
    /// The time at which the token expires.
    pub expires: Option<Time>,
}

impl Authority {
    /// The account behind it; none for the command line.
    #[must_use]
    pub fn account(by: Option<&Self>) -> Option<AccountId> {
        by.map(|by| by.account)
    }
}

impl Identity {
    /// Its rights.
    #[must_use]
    pub const fn authority(&self) -> Authority {
        Authority { account: self.account, role: self.role, token: self.token, expires: self.expires }
    }
}

impl Session {
    /// Its rights: those of the account.
    #[must_use]
    pub const fn authority(&self) -> Authority {
        Authority { account: self.account, role: self.role, token: None, expires: None }
    }
}

/// A signed-in person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The account's id.
    pub account: AccountId,
    /// The account's name.
    pub name: String,
    /// The account's role.
    pub role: Role,
    /// The CSRF token of its forms.
    pub form: String,
}

/// A review of an account's uploads, since its standing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The account.
    pub account: AccountId,
    /// The last shard that was reviewed.
    pub reviewed_until: ShardId,
    /// Whether a quarantine begins; otherwise one ends.
    pub begins: bool,
    /// Whether the account's state has changed.
    pub is_new: bool,
    /// The deciding maintainer; none for the coordinator.
    pub decided_by: Option<AccountId>,
    /// The reason; none in reviews that an earlier version began since uploads lost their proof.
    pub reason: Option<Reason>,
    /// Number of uploads that left the pool or came back.
    pub uploads: i64,
}

impl Review {
    /// The event at its end; none if it changed nothing.
    #[must_use]
    pub fn event(self) -> Option<Event> {
        let (account, reason, uploads) = (self.account, self.reason?, self.uploads as u64);
        let is_change = self.is_new || uploads > 0;
        is_change.then_some(if self.begins {
            Event::Quarantine { account, reason, uploads }
        } else {
            Event::QuarantineLifted { account, reason, uploads }
        })
    }
}
