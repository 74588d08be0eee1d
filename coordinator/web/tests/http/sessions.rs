//! Sign-in, sessions, registration and passwords, without a browser.

use coordinator_core::settings::Settings;
use protocol::api::work::Role;
use reqwest::StatusCode;

use crate::{
    bench::{Bench, CAMPAIGN, settings},
    paging::{PASSWORD, Visitor, set_password},
};

#[tokio::test]
async fn sessions_begin_and_end_and_belong_to_one_visitor() {
    let bench = Bench::start().await;
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let cookie = ann.cookies["chuhe_session"].clone();
    assert_eq!(bench.number("SELECT COUNT(*) FROM sessions").await, 1);
    let kept = "SELECT COUNT(*) FROM sessions WHERE LENGTH(hash) = 64";
    assert_eq!(bench.number(kept).await, 1, "the database holds only the cookie's hash");
    assert!(ann.get("/en/me").await.text.contains("<h1>ann</h1>"));
    let me = ann.get("/api/v1/me").await;
    assert_eq!(me.status, StatusCode::OK, "a session may read JSON: {}", me.text);
    let write = ann.post_from("/api/v1/tokens", &[], &[("content-type", "application/json")]).await;
    assert_eq!(write.status, StatusCode::UNAUTHORIZED, "a write takes a token");

    let form = ann.form("/en/me").await;
    let out = ann.post("/en/sign-out", &[("form", &form)]).await;
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    ann.cookies.insert("chuhe_session".to_owned(), cookie);
    let back = ann.get("/en/me").await;
    assert_eq!((back.status, back.header("location")), (StatusCode::SEE_OTHER, "/en/sign-in?next=%2Fen%2Fme"));
    // Another language holds for the next page too.
    for (from, to) in [
        ("/en/sign-in?next=%2Fen%2Fme", "/zh/sign-in?next=%2Fzh%2Fme"),
        ("/en/sign-in?next=/en/games?job=3", "/zh/sign-in?next=%2Fzh%2Fgames%3Fjob%3D3"),
        ("/zh/sign-in?next=/zh", "/en/sign-in?next=%2Fen"),
        ("/en/sign-in?next=/enough", "/zh/sign-in?next=%2Fenough"),
    ] {
        let text = ann.get(from).await.text;
        assert!(text.contains(&format!("href=\"{to}\"")), "{from}: {text}");
    }

    ann.cookies.clear();
    ann.sign_in("ann", PASSWORD).await;
    bench.clock.advance(15 * 24 * 3_600_000);
    assert_eq!(ann.get("/en/me").await.status, StatusCode::SEE_OTHER, "a session expires");
}

#[tokio::test]
async fn cookies_are_hidden_and_secure_behind_a_proxy() {
    for (behind_proxy, secure) in [(false, false), (true, true)] {
        let bench = Bench::with(Settings { behind_proxy, ..settings() }).await;
        let mut visitor = Visitor::new(&bench);
        let page = visitor.get("/en/sign-in").await;
        let cookie = page.header("set-cookie");
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/"),
            "{cookie}"
        );
        assert_eq!(cookie.contains("Secure"), secure, "{cookie}");
    }
}

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let form = boss.form("/en/campaigns/quick").await;
    let changed = bench.number("SELECT changed FROM campaigns").await.to_string();
    let path = "/en/campaigns/quick/command";
    let without = [("command", "stop"), ("changed", &changed)];
    let with = [("form", form.as_str()), ("command", "stop"), ("changed", &changed)];
    let wrong = [("form", "x"), ("command", "stop"), ("changed", &changed)];
    for (fields, headers) in [
        (&without[..], &[("sec-fetch-site", "same-origin")][..]),
        (&wrong[..], &[("sec-fetch-site", "same-origin")][..]),
        (&with[..], &[("sec-fetch-site", "cross-site")][..]),
        (&with[..], &[("origin", "https://evil.test")][..]),
        (&with[..], &[("origin", "null")][..]),
    ] {
        let refused = boss.post_from(path, fields, headers).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{headers:?}");
        assert!(refused.text.starts_with("<!doctype html>"), "a rejection is a page");
    }
    assert_eq!(bench.number("SELECT COUNT(*) FROM campaigns WHERE state = 'running'").await, 1);
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let form = ann.form("/en/me").await;
    let refused = ann.post(path, &[("form", &form), ("command", "stop"), ("changed", &changed)]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "a volunteer stops no campaign");
    let stopped = boss.post(path, &with).await;
    assert_eq!((stopped.status, stopped.header("location")), (StatusCode::SEE_OTHER, "/en/campaigns/quick"));
    assert_eq!(bench.number("SELECT COUNT(*) FROM campaigns WHERE state = 'stopped'").await, 1);
    let late = boss.post(path, &with).await;
    assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "the form is stale");
}

#[tokio::test]
async fn guessing_is_rate_limited_and_does_not_reveal_names() {
    let bench = Bench::start().await;
    bench.account("ann", Role::Volunteer).await;
    set_password(&bench, "ann").await;
    let mut visitor = Visitor::new(&bench);
    let known = visitor.sign_in("ann", "not her password").await;
    let unknown = visitor.sign_in("unknown", "not her password").await;
    assert_eq!((known.status, unknown.status), (StatusCode::FORBIDDEN, StatusCode::FORBIDDEN));
    assert_eq!(known.text.replace("\"ann\"", ""), unknown.text.replace("\"unknown\"", ""), "the pages do not differ");
    let form = visitor.form("/en/sign-in").await;
    for _ in 0..20 {
        let fields = [("form", form.as_str()), ("name", "ann"), ("password", "not her password")];
        if visitor.post("/en/sign-in", &fields).await.status == StatusCode::TOO_MANY_REQUESTS {
            let right = visitor.sign_in("ann", PASSWORD).await;
            assert_eq!(right.status, StatusCode::TOO_MANY_REQUESTS, "even the right password waits");
            bench.clock.advance(16 * 60_000);
            assert_eq!(visitor.sign_in("ann", PASSWORD).await.status, StatusCode::SEE_OTHER);
            return;
        }
    }
    panic!("twenty guesses were answered");
}

#[tokio::test]
async fn successful_sign_ins_are_not_limited() {
    let bench = Bench::start().await;
    bench.account("ann", Role::Volunteer).await;
    set_password(&bench, "ann").await;
    let mut visitor = Visitor::new(&bench);
    for number in 0..52 {
        let shown = visitor.sign_in("ann", PASSWORD).await;
        assert_eq!(shown.status, StatusCode::SEE_OTHER, "time {number}");
        visitor.cookies.remove("chuhe_session");
    }
}

#[tokio::test]
async fn sign_in_is_no_open_redirect() {
    let bench = Bench::start().await;
    bench.account("ann", Role::Volunteer).await;
    set_password(&bench, "ann").await;
    for (next, place) in [
        ("/en/data", "/en/data"),
        ("https://evil.test", "/en"),
        ("//evil.test", "/en"),
        ("/en//evil.test", "/en"),
        ("/en/\\evil.test", "/en"),
        ("/en/x\r\nset-cookie: a=b", "/en"),
    ] {
        let mut visitor = Visitor::new(&bench);
        let form = visitor.form("/en/sign-in").await;
        let fields = [("form", form.as_str()), ("name", "ann"), ("password", PASSWORD), ("next", next)];
        let shown = visitor.post("/en/sign-in", &fields).await;
        assert_eq!((shown.status, shown.header("location")), (StatusCode::SEE_OTHER, place), "{next:?}");
    }
}

#[tokio::test]
async fn people_register_as_the_settings_allow() {
    let register = |name: &'static str| vec![("name", name), ("password", PASSWORD), ("consent", "CC0-1.0")];
    let bench = Bench::start().await;
    let mut visitor = Visitor::new(&bench);
    let form = visitor.form("/en/register").await;
    for (fields, says) in [
        (vec![("name", "ann"), ("password", PASSWORD)], "CC0"),
        (vec![("name", "ann"), ("password", "short"), ("consent", "CC0-1.0")], "10 to 200"),
        (register("a<b>"), "is no name"),
    ] {
        let fields: Vec<_> = fields.into_iter().chain([("form", form.as_str())]).collect();
        let shown = visitor.post("/en/register", &fields).await;
        assert_eq!(shown.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(shown.text.contains(says) && !shown.text.contains("a<b>"), "{}", shown.text);
    }
    let fields: Vec<_> = register("ann").into_iter().chain([("form", form.as_str())]).collect();
    let shown = visitor.post("/en/register", &fields).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(shown.text.contains("chuhe_"), "the first token is shown");
    assert!(visitor.get("/en/me").await.text.contains("<h1>ann</h1>"), "and ann is signed in");

    let bench = Bench::with(Settings { approval: true, ..settings() }).await;
    let mut visitor = Visitor::new(&bench);
    let form = visitor.form("/en/register").await;
    let fields: Vec<_> = register("bob").into_iter().chain([("form", form.as_str())]).collect();
    assert!(visitor.post("/en/register", &fields).await.text.contains("approval"));
    assert!(visitor.sign_in("bob", PASSWORD).await.text.contains("approval"), "a pending account gets a message");

    let bench = Bench::with(Settings { invitation_only: true, ..settings() }).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let form = boss.form("/en/admin").await;
    let shown = boss.post("/en/admin/invitations", &[("form", &form), ("role", "trainer")]).await;
    let invitation = shown.text.split_once("invitation_").unwrap().1;
    let invitation = format!("invitation_{}", invitation.split('<').next().unwrap().trim());
    let mut visitor = Visitor::new(&bench);
    let form = visitor.form("/en/register").await;
    let fields: Vec<_> = register("carl").into_iter().chain([("form", form.as_str())]).collect();
    assert_eq!(visitor.post("/en/register", &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let fields: Vec<_> = fields.into_iter().chain([("invitation", invitation.as_str())]).collect();
    assert_eq!(visitor.post("/en/register", &fields).await.status, StatusCode::OK);
    assert_eq!(bench.number("SELECT COUNT(*) FROM accounts WHERE role = 'trainer'").await, 1);
}

#[tokio::test]
async fn a_password_change_needs_the_old_password() {
    let bench = Bench::start().await;
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let mut elsewhere = Visitor::new(&bench);
    elsewhere.sign_in("ann", PASSWORD).await;
    let form = ann.form("/en/me").await;
    let new = "another river at dusk";
    let wrong = ann.post("/en/me/password", &[("form", &form), ("old", "x"), ("new", new)]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let done = ann.post("/en/me/password", &[("form", &form), ("old", PASSWORD), ("new", new)]).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.text);
    assert_eq!(ann.get("/en/me").await.status, StatusCode::OK, "this session continues");
    assert_eq!(elsewhere.get("/en/me").await.status, StatusCode::SEE_OTHER, "the others are over");
    assert_eq!(elsewhere.sign_in("ann", PASSWORD).await.status, StatusCode::FORBIDDEN);
    assert_eq!(elsewhere.sign_in("ann", new).await.status, StatusCode::SEE_OTHER);
}
