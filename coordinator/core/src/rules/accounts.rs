//! Accounts and tokens: who may do what.

use protocol::api::{
    problem::{Code, Problem},
    work::Role,
};

use crate::{
    clock::{SECOND, Time},
    model::{
        Account, AccountChange, AccountState, Authority, Identity, Reason, Refusal, Token, TokenId, WorkerId, WorkerKey,
    },
};

/// Resolution of a token's last use, in milliseconds.
const USE_RESOLUTION_MS: i64 = 60 * SECOND;

impl Account {
    /// Changes its role or its state. A quarantine ends only when it is lifted.
    pub fn change(&mut self, change: AccountChange, message: Option<Reason>) -> Result<(), Refusal> {
        match (self.state, change) {
            (AccountState::Deleted, _) => return Err(Refusal::AccountDeleted),
            (AccountState::Quarantined, AccountChange::State(_)) => return Err(Refusal::AccountInQuarantine),
            (_, AccountChange::Role(role)) => (self.role, self.message) = (role, message.or(self.message.take())),
            (_, AccountChange::State(state)) => (self.state, self.message) = (state, message),
        }
        Ok(())
    }

    /// Checks that an account may change or delete this one. For its own account it takes the whole
    /// role of the account; the token of a worker has less. A higher role is not changed.
    pub fn check_authority(&self, by: &Authority) -> Result<(), Refusal> {
        if by.account == self.id && by.role < self.role {
            return Err(Refusal::NeedsOwnRole { role: self.role, own: by.role });
        }
        if by.role < self.role {
            return Err(Refusal::AboveRole { own: by.role, theirs: self.role });
        }
        Ok(())
    }

    /// Whether it may sign in and use tokens. An account in quarantine may: its owner sees why.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        matches!(self.state, AccountState::Active | AccountState::Quarantined)
    }

    /// Deletes it. A chosen name has no colon, so the new one is unique.
    pub fn delete(&mut self) {
        (self.name, self.state) = (format!("deleted:{}", self.id), AccountState::Deleted);
        (self.message, self.password) = (None, None);
    }
}

impl Authority {
    /// Checks that it may create a token with this role and this end.
    pub fn check_token(&self, role: Role, expires: Option<Time>) -> Result<(), Refusal> {
        if role > self.role {
            return Err(Refusal::LacksRole { needed: role, own: self.role });
        }
        if self.expires.is_some_and(|own| expires.is_none_or(|new| new > own)) {
            return Err(Refusal::TokenOutlives);
        }
        Ok(())
    }
}

impl Authority {
    /// Checks that it may give rights to an account, which have no end.
    pub const fn check_lasting(&self) -> Result<(), Refusal> {
        if self.expires.is_some() { Err(Refusal::RightsOutlive) } else { Ok(()) }
    }
}

impl WorkerKey {
    /// Checks that a request of the worker may come with this token. A trusted worker has one token
    /// alone: another one of its account makes no trusted games.
    pub fn check(&self, worker: WorkerId, token: Option<TokenId>) -> Result<(), Refusal> {
        let is_bound = self.is_trusted && self.token.is_some();
        if is_bound && self.token != token { Err(Refusal::OtherToken { worker }) } else { Ok(()) }
    }
}

impl Token {
    /// The identity of a request with this token of an account.
    pub fn authenticate(&self, account: Account, now: Time) -> Result<Identity, Refusal> {
        let bad = |detail: &str| Err(Problem::new(Code::BadToken, detail).into());
        if self.revoked.is_some() {
            return bad("the token was revoked");
        }
        if self.expires.is_some_and(|time| time <= now) {
            return bad("the token has expired");
        }
        if !account.is_admitted() {
            return Err(match (account.state, account.message) {
                (AccountState::Pending, _) => Refusal::AccountPending,
                (_, Some(reason)) => Refusal::AccountBlocked { reason },
                (state, None) => Refusal::AccountInactive { state },
            });
        }
        let record_use = self.last_used.is_none_or(|used| now.0 - used.0 >= USE_RESOLUTION_MS);
        let (role, token) = (self.role.min(account.role), Some(self.id));
        let expires = self.expires;
        Ok(Identity { account: account.id, name: account.name, role, token, expires, record_use })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AccountId;

    fn account(state: AccountState) -> Account {
        let (id, name) = (AccountId(7), "ann".to_owned());
        Account { id, name, role: Role::Trainer, state, message: None, password: Some("hash".to_owned()) }
    }

    fn token() -> Token {
        Token { id: TokenId(3), role: Role::Admin, expires: Some(Time(100)), revoked: None, last_used: Some(Time(0)) }
    }

    #[test]
    fn a_change_of_state_lifts_no_quarantine_and_revives_no_account() {
        for state in AccountState::ALL {
            let mut changed = account(*state);
            let result = changed.change(AccountChange::State(AccountState::Active), Some("why".into()));
            let expected = match state {
                AccountState::Quarantined => Err(Refusal::AccountInQuarantine),
                AccountState::Deleted => Err(Refusal::AccountDeleted),
                _ => Ok(()),
            };
            assert_eq!(result, expected, "{state}");
            let (state, message) = match result {
                Ok(()) => (AccountState::Active, Some("why".into())),
                Err(_) => (*state, None),
            };
            assert_eq!((changed.state, changed.message), (state, message), "a refusal changes nothing");
        }
    }

    #[test]
    fn a_role_changes_in_quarantine_too_and_keeps_the_message() {
        let mut account = account(AccountState::Quarantined);
        account.message = Some(Reason::NoTrainer);
        account.change(AccountChange::Role(Role::Admin), None).unwrap();
        assert_eq!((account.role, account.state), (Role::Admin, AccountState::Quarantined));
        assert_eq!(account.message, Some(Reason::NoTrainer));
    }

    #[test]
    fn a_token_ends_with_its_time_and_its_account() {
        let code = |token: &Token, state, now| token.authenticate(account(state), Time(now)).map_err(|no| no.code());
        let known = code(&token(), AccountState::Active, 99).unwrap();
        assert_eq!((known.role, known.record_use), (Role::Trainer, false), "no more than its account's");
        assert_eq!(code(&token(), AccountState::Active, 100), Err(Code::BadToken));
        let revoked = Token { revoked: Some(Time(1)), ..token() };
        assert_eq!(code(&revoked, AccountState::Active, 2), Err(Code::BadToken));
        for state in [AccountState::Pending, AccountState::Blocked, AccountState::Deleted] {
            assert_eq!(code(&token(), state, 50), Err(Code::Blocked));
        }
        assert!(code(&token(), AccountState::Quarantined, 50).is_ok());
        let eternal = Token { expires: None, ..token() };
        assert!(code(&eternal, AccountState::Active, USE_RESOLUTION_MS).unwrap().record_use);
        assert!(!code(&eternal, AccountState::Active, USE_RESOLUTION_MS - 1).unwrap().record_use);
    }

    #[test]
    fn a_lesser_token_does_not_change_its_own_account() {
        let by = |account, role| Authority { account: AccountId(account), role, token: None, expires: None };
        let check = |by: Authority| account(AccountState::Active).check_authority(&by);
        let (role, own) = (Role::Trainer, Role::Volunteer);
        assert_eq!(check(by(7, Role::Volunteer)), Err(Refusal::NeedsOwnRole { role, own }));
        assert_eq!(check(by(8, Role::Volunteer)), Err(Refusal::AboveRole { own, theirs: role }));
        for (account, role) in [(7, Role::Trainer), (8, Role::Trainer), (8, Role::Admin)] {
            assert_eq!(check(by(account, role)), Ok(()));
        }
    }

    #[test]
    fn a_token_makes_none_with_a_higher_role_or_a_later_end() {
        let own =
            Authority { account: AccountId(7), role: Role::Trainer, token: Some(TokenId(3)), expires: Some(Time(100)) };
        assert_eq!(own.check_token(Role::Volunteer, Some(Time(100))), Ok(()));
        assert_eq!(own.check_token(Role::Trainer, Some(Time(101))), Err(Refusal::TokenOutlives));
        assert_eq!(own.check_token(Role::Trainer, None), Err(Refusal::TokenOutlives));
        assert_eq!(own.check_token(Role::Admin, Some(Time(1))).unwrap_err().code(), Code::Forbidden);
        let eternal = Authority { expires: None, ..own };
        assert_eq!(eternal.check_token(Role::Trainer, None), Ok(()));
        assert_eq!((own.check_lasting(), eternal.check_lasting()), (Err(Refusal::RightsOutlive), Ok(())));
    }

    #[test]
    fn a_trusted_worker_has_one_token_alone() {
        let check = |is_trusted, bound: Option<i64>, token: Option<i64>| {
            WorkerKey { is_trusted, token: bound.map(TokenId) }.check(WorkerId(4), token.map(TokenId))
        };
        assert_eq!(check(true, Some(3), Some(3)), Ok(()));
        for token in [None, Some(5)] {
            assert_eq!(check(true, Some(3), token), Err(Refusal::OtherToken { worker: WorkerId(4) }));
        }
        assert_eq!(check(true, None, Some(5)), Ok(()), "its next request binds it");
        assert_eq!(check(false, Some(3), Some(5)), Ok(()), "other workers may change their token");
    }

    #[test]
    fn a_deleted_account_has_no_name_and_no_password() {
        let mut account = account(AccountState::Blocked);
        account.delete();
        assert_eq!((account.name.as_str(), account.state), ("deleted:7", AccountState::Deleted));
        assert_eq!((account.message, account.password), (None, None));
    }
}
