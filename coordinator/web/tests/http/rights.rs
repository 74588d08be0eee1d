//! Rights end with the token or the account that gave them.

use protocol::api::{problem::Code, work::Role};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::bench::{Bench, problem, read};

/// A token that expires leaves no rights behind.
#[tokio::test]
async fn a_token_that_expires_gives_no_lasting_rights() {
    let bench = Bench::start().await;
    let boss = bench.account("boss", Role::Admin).await;
    let ann = bench.account("ann", Role::Volunteer).await;
    bench.worker(&ann, "m").await;
    let made: Value =
        read(bench.post("/api/v1/tokens", &boss, &json!({ "name": "day", "role": "admin", "days": 1 })).await).await;
    let day = made["token"].as_str().unwrap();
    let invitation = json!({ "role": "admin" });
    problem(bench.post("/api/v1/invitations", day, &invitation).await, Code::Forbidden).await;
    problem(bench.post("/api/v1/accounts/ann", day, &invitation).await, Code::Forbidden).await;
    assert!(bench.post("/api/v1/invitations", &boss, &invitation).await.status().is_success());
    let trust = |trusted: bool| json!({ "trusted": trusted });
    let worker = "/api/v1/workers/1/trust";
    problem(bench.post(worker, day, &trust(true)).await, Code::Forbidden).await;
    assert!(bench.post(worker, &boss, &trust(true)).await.status().is_success());
    assert!(bench.post(worker, day, &trust(false)).await.status().is_success(), "it may take rights");
    let (why, quarantine) = (json!({ "reason": "a try" }), "/api/v1/accounts/ann/quarantine");
    assert!(bench.post(quarantine, day, &why).await.status().is_success());
    for (token, status) in [(day, StatusCode::FORBIDDEN), (&boss, StatusCode::NO_CONTENT)] {
        let lift = bench.request(Method::DELETE, quarantine, token).header("content-type", "application/json");
        assert_eq!(lift.body(serde_json::to_vec(&why).unwrap()).send().await.unwrap().status(), status);
    }
    let state = |state: &str| json!({ "state": state, "message": "a try" });
    assert!(bench.post("/api/v1/accounts/ann", day, &state("blocked")).await.status().is_success());
    problem(bench.post("/api/v1/accounts/ann", day, &state("active")).await, Code::Forbidden).await;
    assert!(bench.post("/api/v1/accounts/ann", &boss, &state("active")).await.status().is_success());
}

/// An invitation is as good as the rights of its sender.
#[tokio::test]
async fn an_invitation_ends_with_the_rights_of_its_sender() {
    let bench = Bench::start().await;
    let boss = bench.account("boss", Role::Admin).await;
    let thief = bench.account("thief", Role::Admin).await;
    let mut invitations = Vec::new();
    for role in ["admin", "volunteer", "volunteer"] {
        let made: Value = read(bench.post("/api/v1/invitations", &thief, &json!({ "role": role })).await).await;
        invitations.push(made["invitation"].clone());
    }
    let register = async |name: &str, invitation: &Value| {
        let wanted = json!({ "name": name, "licence": "CC0-1.0", "invitation": invitation });
        bench.post("/api/v1/registrations", "", &wanted).await.status()
    };
    assert!(bench.post("/api/v1/accounts/thief", &boss, &json!({ "role": "maintainer" })).await.status().is_success());
    assert!(!register("again", &invitations[0]).await.is_success(), "a maintainer invites no administrator");
    assert_eq!(register("guest", &invitations[1]).await, StatusCode::CREATED);
    assert!(bench.request(Method::DELETE, "/api/v1/accounts/thief", &boss).send().await.unwrap().status().is_success());
    assert!(!register("other", &invitations[2]).await.is_success(), "its sender is deleted");
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE name IN ('again', 'other')").await, 0);
}
