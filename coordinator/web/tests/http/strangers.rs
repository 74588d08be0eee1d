//! Access control of pages: anonymous visitors, volunteers and maintainers.

use protocol::api::work::Role;
use reqwest::StatusCode;

use crate::{
    bench::{Bench, CAMPAIGN},
    live_match,
    paging::Visitor,
};

/// Pages for maintainers only.
const MAINTAINERS: [&str; 7] = [
    "/admin",
    "/admin/audits",
    "/admin/trust",
    "/admin/events",
    "/admin/settings",
    "/campaigns/new",
    "/campaigns/quick/edit",
];

#[tokio::test]
async fn only_maintainers_see_their_pages() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let mut anonymous = Visitor::new(&bench);
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let mut tom = Visitor::signed_in(&bench, "tom", Role::Trainer).await;
    for language in ["en", "zh"] {
        for path in MAINTAINERS.into_iter().chain(["/me"]) {
            let page = anonymous.get(&format!("/{language}{path}")).await;
            let place = format!("/{language}/sign-in?next=%2F{language}{}", path.replace('/', "%2F"));
            assert_eq!((page.status, page.header("location")), (StatusCode::SEE_OTHER, place.as_str()), "{path}");
        }
        for path in MAINTAINERS {
            for visitor in [&mut ann, &mut tom] {
                let page = visitor.get(&format!("/{language}{path}")).await;
                assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
                assert!(
                    page.text.starts_with("<!doctype html>")
                        && !page.text.contains("<form method=\"post\" action=\"/en/admin")
                );
            }
        }
    }
    for path in ["/api/v1/accounts", "/api/v1/audits", "/api/v1/trust", "/api/v1/events", "/api/v1/settings"] {
        assert_eq!(anonymous.get(path).await.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(ann.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn only_maintainers_can_steer() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let job = live_match::begin(&bench).await;
    let token = bench.account("eve", Role::Volunteer).await;
    let worker = bench.worker(&token, "hers").await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let mut anonymous = Visitor::new(&bench);
    let form = ann.form("/en/me").await;
    let open = anonymous.form("/en/sign-in").await;
    let changed = bench.number("SELECT changed FROM campaigns").await.to_string();
    let before = bench.number("SELECT COUNT(*) FROM events").await;
    let text = CAMPAIGN.replace("quick", "hers");
    for (path, fields) in [
        ("/en/campaigns/new".to_owned(), vec![("text", text.as_str())]),
        ("/en/campaigns/quick/edit".to_owned(), vec![("text", CAMPAIGN), ("changed", &changed)]),
        ("/en/campaigns/quick/command".to_owned(), vec![("command", "pause"), ("changed", &changed)]),
        ("/en/campaigns/quick/rollback".to_owned(), vec![("reason", "x")]),
        (format!("/en/matches/{job}/live"), vec![("begin", "1")]),
        ("/en/admin/users/eve".to_owned(), vec![("action", "block"), ("reason", "x")]),
        (format!("/en/admin/workers/{worker}"), vec![("action", "block"), ("message", "x")]),
        ("/en/admin/invitations".to_owned(), vec![("role", "volunteer")]),
        ("/en/admin/settings/keep_days".to_owned(), vec![("value", "1")]),
    ] {
        let with = |form: &str| -> Vec<(String, String)> {
            let fields =
                fields.iter().chain([&("form", "")]).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let filled = |(key, value)| if key == "form" { (key, form.to_owned()) } else { (key, value) };
            fields.map(filled).collect()
        };
        let borrowed = |fields: &[(String, String)]| {
            fields.iter().map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>()
        };
        for (visitor, form, expected) in
            [(&mut ann, &form, StatusCode::FORBIDDEN), (&mut anonymous, &open, StatusCode::SEE_OTHER)]
        {
            let fields = borrowed(&with(form));
            let fields: Vec<(&str, &str)> = fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            let answer = visitor.post(&path, &fields).await;
            assert_eq!(answer.status, expected, "{path}: {}", answer.text);
            assert!(
                expected == StatusCode::FORBIDDEN || answer.header("location").starts_with("/en/sign-in"),
                "{path}"
            );
        }
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM events").await, before, "and nothing happened");
    // The same requests succeed for a maintainer.
    let own = boss.form("/en/me").await;
    let fields = [("form", own.as_str()), ("command", "pause"), ("changed", &changed)];
    assert_eq!(boss.post("/en/campaigns/quick/command", &fields).await.header("location"), "/en/campaigns/quick");
}

#[tokio::test]
async fn private_data_is_hidden_from_others() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let job = live_match::begin(&bench).await;
    let eve = bench.account("eve", Role::Volunteer).await;
    bench.worker(&eve, "under-the-stairs").await;
    let report =
        serde_json::json!({ "worker": null, "kind": "other", "version": "0.1.0", "detail": "the cellar is wet" });
    assert!(bench.post("/api/v1/failures", &eve, &report).await.status().is_success());
    let mut anonymous = Visitor::new(&bench);
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let secrets =
        ["under-the-stairs", "the cellar is wet", "id=\"own\"", "action=\"/en/admin", "/command\"", "/rollback\""];
    let one = format!("/en/matches/{job}");
    let pages = [
        "/en",
        "/en/people/eve",
        "/en/people",
        "/en/workers",
        "/en/campaigns/quick",
        &one,
        "/en/live-game",
        "/en/data",
    ];
    for path in pages {
        for visitor in [&mut anonymous, &mut ann] {
            let page = visitor.get(path).await;
            assert_eq!(page.status, StatusCode::OK, "{path}");
            let seen: Vec<_> = secrets.iter().filter(|secret| page.text.contains(*secret)).collect();
            assert!(seen.is_empty(), "{path} shows {seen:?}");
            assert!(!page.text.contains("/live\"><input"), "{path} has a button for maintainers");
        }
    }
    for path in ["/api/v1/machines", "/api/v1/failures", "/api/v1/people/eve", "/api/v1/workers"] {
        let seen = ann.get(path).await.text;
        assert!(!secrets.iter().any(|secret| seen.contains(secret)), "{path}: {seen}");
    }
    assert_eq!(ann.get("/api/v1/people/eve/own").await.status, StatusCode::FORBIDDEN);
    assert_eq!(anonymous.get("/api/v1/people/eve/own").await.status, StatusCode::UNAUTHORIZED);
    assert!(ann.get("/api/v1/people/ann/own").await.text.contains("\"days\""));
    // Control: visitors with access do see these texts.
    assert!(boss.get("/en/people/eve").await.text.contains(secrets[0]));
    assert!(boss.get("/en/workers").await.text.contains(secrets[1]));
    assert!(boss.get("/api/v1/people/eve/own").await.text.contains(secrets[0]));
    let campaign = boss.get("/en/campaigns/quick").await.text;
    assert!(campaign.contains(secrets[4]) && boss.get(&one).await.text.contains("/live\"><input"));
    // Another account's token cannot be revoked.
    let form = ann.form("/en/me").await;
    let token = bench
        .number("SELECT tokens.id FROM tokens JOIN accounts ON accounts.id = account WHERE accounts.name = 'eve'")
        .await;
    ann.post(&format!("/en/me/tokens/{token}/revoke"), &[("form", &form)]).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM tokens WHERE revoked IS NOT NULL").await, 0);
}
