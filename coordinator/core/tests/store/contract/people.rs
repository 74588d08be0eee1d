//! Accounts, tokens, invitations, workers.

use coordinator_core::{
    clock::{DAY, SECOND, Time},
    model::{AccountChange, AccountId, AccountKey, AccountState, Authority, Identity, WorkerId},
    ops::{
        accounts::{ChangeAccount, CreateAccount, DeleteAccount, Invite, RedeemInvitation},
        disputes::SetQuarantine,
        tokens::{CreateToken, RecordTokenUse, RevokeToken},
        workers::{BlockWorker, RegisterWorker, ReportFailure},
    },
    people,
    store::{Accounts, SettingValues},
};
use protocol::api::{
    problem::Code,
    work::{Failure, FailureKind, Machine, Role},
};

use super::cases;
use crate::{
    common::lab::{Lab, SIGNATURE, code},
    op,
};

cases! {
    a_name_is_unique
    a_token_is_known_again
    a_token_allows_no_more_than_its_account
    tokens_end
    a_quarantine_needs_the_rights
    messages_reach_terminals
    only_an_active_account_is_authenticated
    an_invitation_is_used_once
    a_deleted_account_leaves_no_trace_but_its_games
    a_worker_registers_again
    failures_are_reported
    settings_are_kept
    a_change_of_state_does_not_lift_a_quarantine
}

async fn account(lab: &Lab, name: &str, role: Role) -> Result<AccountId, Code> {
    let name = name.to_owned();
    lab.run(CreateAccount { name, role, state: AccountState::Active, by: None }).await.map_err(code)
}

async fn token(lab: &Lab, account: AccountId, role: Option<Role>, expires: Option<Time>) -> Result<String, Code> {
    let (account, name, secret) = (account.into(), "mine".to_owned(), people::new_token().unwrap());
    let done = lab.run(CreateToken { account, name, role, expires, by: None, secret: secret.clone() }).await;
    done.map(|()| secret).map_err(code)
}

async fn change(lab: &Lab, account: AccountId, change: AccountChange, message: Option<&str>) -> Result<(), Code> {
    let (account, message) = (account.into(), message.map(ToOwned::to_owned));
    lab.run(ChangeAccount { account, changes: vec![change], message, by: None }).await.map_err(code)
}

async fn find(lab: &Lab, name: &str) -> Result<AccountId, Code> {
    let name = AccountKey::from(name);
    op!(lab.read, [name], |c| Accounts::on(c).get(&name)).map(|account| account.id).map_err(code)
}

async fn identity_of(lab: &Lab, token: &str) -> Result<Identity, Code> {
    let (now, token) = (lab.now(), token.to_owned());
    op!(lab.read, [token], |c| people::authenticate(&mut c, now, &token)).map_err(code)
}

async fn a_name_is_unique(lab: Lab) {
    let ann = account(&lab, "Ann", Role::Admin).await.unwrap();
    assert_eq!(account(&lab, "ann", Role::Volunteer).await, Err(Code::Conflict));
    assert_eq!(account(&lab, "../ann", Role::Volunteer).await, Err(Code::Invalid));
    let (left, right) = tokio::join!(account(&lab, "Bob", Role::Volunteer), account(&lab, "BOB", Role::Volunteer));
    assert!(left.is_ok() != right.is_ok(), "{left:?} {right:?}");
    assert_eq!(find(&lab, "ANN").await, Ok(ann));
    assert_eq!(find(&lab, "Cid").await, Err(Code::NotFound));
}

async fn a_token_is_known_again(lab: Lab) {
    let ann = account(&lab, "ann", Role::Trainer).await.unwrap();
    let secret = token(&lab, ann, None, None).await.unwrap();
    assert!(secret.starts_with(people::TOKEN_PREFIX) && secret.len() > 30, "{secret}");
    let known = identity_of(&lab, &secret).await.unwrap();
    assert_eq!((known.account, known.name.as_str(), known.role, known.record_use), (ann, "ann", Role::Trainer, true));
    lab.run(RecordTokenUse { token: known.token.unwrap() }).await.unwrap();
    lab.clock.advance(59 * SECOND);
    assert!(!identity_of(&lab, &secret).await.unwrap().record_use);
    lab.clock.advance(SECOND);
    assert!(identity_of(&lab, &secret).await.unwrap().record_use);
    let kept: String = lab.value("SELECT hash || prefix || name FROM tokens").await;
    assert!(!kept.contains(&secret[12..]), "the secret itself is nowhere");
    assert_eq!(identity_of(&lab, "chuhe_wrong").await, Err(Code::BadToken));
}

async fn a_token_allows_no_more_than_its_account(lab: Lab) {
    let ann = account(&lab, "ann", Role::Maintainer).await.unwrap();
    assert_eq!(token(&lab, ann, Some(Role::Admin), None).await, Err(Code::Forbidden));
    let secret = token(&lab, ann, Some(Role::Volunteer), None).await.unwrap();
    assert_eq!(identity_of(&lab, &secret).await.unwrap().role, Role::Volunteer);
    let secret = token(&lab, ann, None, None).await.unwrap();
    change(&lab, ann, AccountChange::Role(Role::Volunteer), None).await.unwrap();
    assert_eq!(
        identity_of(&lab, &secret).await.unwrap().role,
        Role::Volunteer,
        "what the account lost, its tokens lost"
    );
}

async fn tokens_end(lab: Lab) {
    let (ann, bob) =
        (account(&lab, "ann", Role::Admin).await.unwrap(), account(&lab, "bob", Role::Admin).await.unwrap());
    let secret = token(&lab, ann, None, Some(lab.now().after(DAY))).await.unwrap();
    lab.clock.advance(DAY - 1);
    let known = identity_of(&lab, &secret).await.unwrap();
    lab.clock.advance(1);
    assert_eq!(identity_of(&lab, &secret).await, Err(Code::BadToken));
    lab.clock.advance(-DAY);
    assert!(identity_of(&lab, &secret).await.is_ok());
    let revoke =
        async |by: Option<Authority>| lab.run(RevokeToken { by, token: known.token.unwrap() }).await.map_err(code);
    let by = |account, role| Some(Authority { account, role, token: None, expires: None });
    assert_eq!(revoke(by(bob, Role::Maintainer)).await, Err(Code::NotFound));
    assert_eq!(revoke(by(ann, Role::Volunteer)).await, Err(Code::Forbidden), "a worker's token ends no other");
    assert_eq!(revoke(Some(known.authority())).await, Ok(()));
    assert_eq!(revoke(None).await, Err(Code::NotFound));
    assert_eq!(identity_of(&lab, &secret).await, Err(Code::BadToken));
}

async fn a_quarantine_needs_the_rights(lab: Lab) {
    let boss = account(&lab, "boss", Role::Admin).await.unwrap();
    let max = account(&lab, "max", Role::Maintainer).await.unwrap();
    let set = async |account: AccountId, by: AccountId, role, begins| {
        let by = Some(Authority { account: by, role, token: None, expires: None });
        lab.run(SetQuarantine { account: account.into(), begins, by, reason: "by hand".into() }).await.map_err(code)
    };
    let is_quarantined = async |name: &str| {
        let query = format!("SELECT state FROM accounts WHERE name = '{name}'");
        lab.value::<String>(&query).await == "quarantined"
    };
    assert_eq!(set(boss, max, Role::Maintainer, true).await, Err(Code::Forbidden));
    assert!(!is_quarantined("boss").await);
    assert_eq!(set(max, boss, Role::Admin, true).await, Ok(()));
    assert!(is_quarantined("max").await);
    assert_eq!(set(max, max, Role::Volunteer, false).await, Err(Code::Forbidden), "a token of its worker");
    assert_eq!(set(max, max, Role::Maintainer, false).await, Err(Code::Forbidden), "another one decides");
    assert!(is_quarantined("max").await);
    assert_eq!(set(max, boss, Role::Admin, false).await, Ok(()));
    assert!(!is_quarantined("max").await);
}

async fn messages_reach_terminals(lab: Lab) {
    let ann = account(&lab, "ann", Role::Volunteer).await.unwrap();
    let worker = lab.machine(ann.0, "m").await.worker;
    let message = "so\u{1b}[2J it\u{9b}is".to_owned();
    change(&lab, ann, AccountChange::State(AccountState::Blocked), Some(&message)).await.unwrap();
    lab.run(BlockWorker { worker: WorkerId(worker), message: Some(message), by: None }).await.unwrap();
    for query in [
        "SELECT message FROM accounts",
        "SELECT blocked FROM workers",
        "SELECT text FROM events WHERE kind = 'account_changed'",
        "SELECT data FROM events WHERE kind = 'account_changed'",
        "SELECT text FROM events WHERE kind = 'worker_blocked'",
    ] {
        let found: String = lab.value(query).await;
        assert!(found.contains("so [2J it is") && !found.contains(char::is_control), "{query}: {found:?}");
    }
}

async fn only_an_active_account_is_authenticated(lab: Lab) {
    let ann = account(&lab, "ann", Role::Volunteer).await.unwrap();
    let secret = token(&lab, ann, None, None).await.unwrap();
    for (state, allowed) in
        [(AccountState::Blocked, false), (AccountState::Pending, false), (AccountState::Active, true)]
    {
        change(&lab, ann, AccountChange::State(state), Some("so it is")).await.unwrap();
        assert_eq!(identity_of(&lab, &secret).await.is_ok(), allowed, "{state}");
    }
    let missing = change(&lab, AccountId(77), AccountChange::State(AccountState::Active), None).await;
    assert_eq!(missing, Err(Code::NotFound));
}

async fn an_invitation_is_used_once(lab: Lab) {
    let ann = account(&lab, "ann", Role::Admin).await.unwrap();
    let invite = async || {
        let secret = people::secret("invitation_").unwrap();
        lab.run(Invite { by: ann.into(), role: Role::Trainer, rights: None, secret: secret.clone() }).await.unwrap();
        secret
    };
    let accept =
        async |secret: &str| lab.run(RedeemInvitation { secret: secret.to_owned(), account: ann }).await.map_err(code);
    let secret = invite().await;
    let (left, right) = tokio::join!(accept(&secret), accept(&secret));
    assert!(left.is_ok() != right.is_ok() && left.or(right) == Ok(Role::Trainer));
    let old = invite().await;
    lab.clock.advance(7 * DAY);
    assert_eq!(accept(&old).await, Err(Code::Forbidden));
    assert_eq!(accept("invitation_made_up").await, Err(Code::Forbidden));
}

async fn a_deleted_account_leaves_no_trace_but_its_games(lab: Lab) {
    let ann = lab.player("annabel").await;
    let second = lab.machine(ann.account, "deleted-2").await;
    let who_is = AccountId(ann.account);
    let secret = token(&lab, who_is, None, None).await.unwrap();
    lab.campaign("one").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &lease).await;
    let report = Failure {
        worker: Some(second.worker),
        kind: FailureKind::Panic,
        version: "0.1.0".to_owned(),
        detail: "in /home/annabel".to_owned(),
    };
    lab.run(ReportFailure { account: who_is, report }).await.unwrap();
    lab.run(DeleteAccount { account: who_is.into(), by: None }).await.unwrap();
    assert_eq!(identity_of(&lab, &secret).await, Err(Code::BadToken));
    for query in [
        "SELECT name FROM accounts",
        "SELECT name || system FROM workers",
        "SELECT name FROM tokens",
        "SELECT text || COALESCE(data, '') FROM events",
        "SELECT detail FROM failures",
    ] {
        for (text,) in lab.rows::<(String,)>(query).await {
            assert!(!text.contains("annabel") && !text.contains("linux"), "{query}: {text}");
        }
    }
    assert_eq!(lab.value::<i64>("SELECT COUNT(*) FROM shards").await, 1);
    let again = change(&lab, who_is, AccountChange::State(AccountState::Active), None).await;
    assert_eq!(again, Err(Code::Conflict));
    assert!(account(&lab, "annabel", Role::Volunteer).await.is_ok(), "the name is free again");
}

async fn a_worker_registers_again(lab: Lab) {
    let ann = lab.player("ann").await;
    assert_eq!(lab.machine(ann.account, "machine").await, ann);
    assert_ne!(lab.machine(ann.account, "other").await, ann);
    let bad = |name: &str, threads: u32| Machine {
        name: name.to_owned(),
        version: "1".to_owned(),
        bench_signature: SIGNATURE,
        threads,
        memory_mebibytes: 1,
        system: "x".to_owned(),
        instruction_set: "y".to_owned(),
    };
    for machine in [bad("a/b", 1), bad("a", 0), bad("a", 5_000)] {
        let done =
            lab.run(RegisterWorker { account: AccountId(ann.account), token: None, machine, network: None }).await;
        assert_eq!(done.map_err(code), Err(Code::Invalid));
    }
}

async fn failures_are_reported(lab: Lab) {
    let (ann, bob) = (lab.player("ann").await, lab.player("bob").await);
    let report = |worker: Option<i64>| Failure {
        worker,
        kind: FailureKind::SelfTest,
        version: "0.1.0".to_owned(),
        detail: "x".repeat(10_000),
    };
    for (worker, expected) in [(None, Ok(())), (Some(ann.worker), Ok(())), (Some(bob.worker), Err(Code::NotFound))] {
        let done = lab.run(ReportFailure { account: AccountId(ann.account), report: report(worker) }).await;
        assert_eq!(done.map_err(code), expected);
    }
    assert_eq!(lab.rows::<(i64,)>("SELECT LENGTH(detail) + 0 FROM failures WHERE worker IS NULL").await, [(4_000,)]);
}

async fn settings_are_kept(lab: Lab) {
    let read = async || op!(lab.read, [], |c| SettingValues::on(c).get("registration")).unwrap();
    assert_eq!(read().await, None);
    for value in ["open", "closed"] {
        op!(lab.write, [], |c| SettingValues::on(c).set("registration", value)).unwrap();
        assert_eq!(read().await.as_deref(), Some(value));
    }
}

async fn a_change_of_state_does_not_lift_a_quarantine(lab: Lab) {
    let ann = lab.player("ann").await;
    super::disputes::quarantine(&lab, ann).await;
    for state in [AccountState::Active, AccountState::Blocked] {
        let done = change(&lab, AccountId(ann.account), AccountChange::State(state), None).await;
        assert_eq!(done, Err(Code::Conflict));
    }
}
