//! Accounts, tokens, invitations, workers.

use coordinator_core::{
    clock::{DAY, SECOND, Time},
    people::{self, Identity},
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
    only_an_active_account_is_authenticated
    an_invitation_is_used_once
    a_deleted_account_leaves_no_trace_but_its_games
    a_worker_registers_again
    failures_are_reported
    settings_are_kept
    a_change_of_state_does_not_lift_a_quarantine
}

async fn account(lab: &Lab, name: &str, role: Role) -> Result<i64, Code> {
    let (now, name) = (lab.now(), name.to_owned());
    op!(lab.write, [name], |c| people::create_account(&mut c, now, &name, role, "active", None)).map_err(code)
}

async fn token(lab: &Lab, account: i64, role: Option<Role>, expires: Option<Time>) -> Result<String, Code> {
    let now = lab.now();
    op!(lab.write, [], |c| people::create_token(&mut c, now, account, "mine", role, expires)).map_err(code)
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
    let name = "ANN".to_owned();
    assert_eq!(op!(lab.read, [name], |c| people::account_by_name(&mut c, &name)).unwrap(), ann);
    let name = "Cid".to_owned();
    assert_eq!(op!(lab.read, [name], |c| people::account_by_name(&mut c, &name)).map_err(code), Err(Code::NotFound));
}

async fn a_token_is_known_again(lab: Lab) {
    let ann = account(&lab, "ann", Role::Trainer).await.unwrap();
    let secret = token(&lab, ann, None, None).await.unwrap();
    assert!(secret.starts_with(people::TOKEN_PREFIX) && secret.len() > 30, "{secret}");
    let known = identity_of(&lab, &secret).await.unwrap();
    assert_eq!((known.account, known.name.as_str(), known.role, known.record_use), (ann, "ann", Role::Trainer, true));
    let now = lab.now();
    op!(lab.write, [], |c| people::record_use(&mut c, now, known.token)).unwrap();
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
    let now = lab.now();
    op!(lab.write, [], |c| people::set_account(&mut c, now, ann, ("role", "volunteer"), None, None)).unwrap();
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
    let revoke = async |account: Option<i64>| {
        let now = lab.now();
        op!(lab.write, [], |c| people::revoke_token(&mut c, now, account, known.token)).map_err(code)
    };
    assert_eq!(revoke(Some(bob)).await, Err(Code::NotFound));
    assert_eq!(revoke(Some(ann)).await, Ok(()));
    assert_eq!(revoke(None).await, Err(Code::NotFound));
    assert_eq!(identity_of(&lab, &secret).await, Err(Code::BadToken));
}

async fn only_an_active_account_is_authenticated(lab: Lab) {
    let ann = account(&lab, "ann", Role::Volunteer).await.unwrap();
    let secret = token(&lab, ann, None, None).await.unwrap();
    for (state, allowed) in [("blocked", false), ("pending", false), ("active", true)] {
        let now = lab.now();
        op!(lab.write, [], |c| people::set_account(&mut c, now, ann, ("state", state), Some("so it is"), None))
            .unwrap();
        assert_eq!(identity_of(&lab, &secret).await.is_ok(), allowed, "{state}");
    }
    let missing = op!(lab.write, [], |c| people::set_account(&mut c, Time(0), 77, ("state", "active"), None, None));
    assert_eq!(missing.map_err(code), Err(Code::NotFound));
}

async fn an_invitation_is_used_once(lab: Lab) {
    let ann = account(&lab, "ann", Role::Admin).await.unwrap();
    let now = lab.now();
    let invite = async || op!(lab.write, [], |c| people::invite(&mut c, now, ann, Role::Trainer)).unwrap();
    let accept = async |secret: &str| {
        let (now, secret) = (lab.now(), secret.to_owned());
        op!(lab.write, [secret], |c| people::use_invitation(&mut c, now, &secret, ann)).map_err(code)
    };
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
    let secret = token(&lab, ann.account, None, None).await.unwrap();
    lab.campaign("one").await;
    let lease = lab.lease(ann, "1", 10).await;
    lab.deliver(ann, &lease).await;
    let (now, who_is) = (lab.now(), ann.account);
    let report = Failure {
        worker: Some(second.worker),
        kind: FailureKind::Panic,
        version: "0.1.0".to_owned(),
        detail: "in /home/annabel".to_owned(),
    };
    op!(lab.write, [report], |c| people::report_failure(&mut c, now, who_is, &report)).unwrap();
    op!(lab.write, [], |c| people::delete_account(&mut c, now, who_is, None)).unwrap();
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
    let again = op!(lab.write, [], |c| people::set_account(&mut c, now, who_is, ("state", "active"), None, None));
    assert_eq!(again.map_err(code), Err(Code::Conflict));
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
        let now = lab.now();
        let done = op!(lab.write, [machine], |c| people::register_worker(&mut c, now, ann.account, &machine));
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
        let (now, report) = (lab.now(), report(worker));
        let done = op!(lab.write, [report], |c| people::report_failure(&mut c, now, ann.account, &report));
        assert_eq!(done.map_err(code), expected);
    }
    assert_eq!(lab.rows::<(i64,)>("SELECT LENGTH(detail) + 0 FROM failures WHERE worker IS NULL").await, [(4_000,)]);
}

async fn settings_are_kept(lab: Lab) {
    let read = async || op!(lab.read, [], |c| people::setting(&mut c, "registration")).unwrap();
    assert_eq!(read().await, None);
    for value in ["open", "closed"] {
        op!(lab.write, [], |c| people::set_setting(&mut c, "registration", value)).unwrap();
        assert_eq!(read().await.as_deref(), Some(value));
    }
}

async fn a_change_of_state_does_not_lift_a_quarantine(lab: Lab) {
    let ann = lab.player("ann").await;
    super::disputes::quarantine(&lab, ann).await;
    for state in ["active", "blocked"] {
        let now = lab.now();
        let done = op!(lab.write, [], |c| people::set_account(&mut c, now, ann.account, ("state", state), None, None));
        assert_eq!(done.map_err(code), Err(Code::Conflict));
    }
}
