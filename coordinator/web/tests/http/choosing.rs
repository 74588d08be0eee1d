//! Settings of administrators, privacy of machines, and translations of Chinese pages.

use coordinator_core::{model::Registration, ops::accounts::DeleteAccount};
use protocol::api::work::Role;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, play, read, shard},
    live_match,
    paging::Visitor,
};

async fn change(visitor: &mut Visitor<'_>, key: &str, value: &str) -> StatusCode {
    let form = visitor.form("/en/me").await;
    visitor.post(&format!("/en/admin/settings/{key}"), &[("form", &form), ("value", value)]).await.status
}

/// Delivers two shards, which are validated.
async fn contribute(bench: &Bench, token: &str, worker: i64) {
    for nonce in ["a", "b"] {
        let lease = bench.lease(token, worker, nonce).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert_eq!(bench.upload(token, &lease, bytes).await.status(), StatusCode::CREATED);
    }
    bench.validate().await;
}

#[tokio::test]
async fn administrators_change_settings_and_events_record_it() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let mut lin = Visitor::signed_in(&bench, "lin", Role::Maintainer).await;
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    assert!(boss.get("/en/admin/settings").await.text.contains("action=\"/en/admin/settings/registration\""));
    let seen = lin.get("/en/admin/settings").await;
    assert!(seen.status == StatusCode::OK && !seen.text.contains("action=\"/en/admin/settings/"), "{}", seen.text);
    assert_eq!(ann.get("/en/admin/settings").await.status, StatusCode::FORBIDDEN);
    for visitor in [&mut lin, &mut ann] {
        assert_eq!(change(visitor, "registration", "by_invitation").await, StatusCode::FORBIDDEN);
    }
    assert_eq!(change(&mut boss, "registration", "none").await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(change(&mut boss, "audit_percent", "101").await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(change(&mut boss, "password", "1").await, StatusCode::NOT_FOUND);
    assert_eq!(bench.number("SELECT COUNT(*) FROM events WHERE kind = 'settings_changed'").await, 0);

    let register = async |name: &str| {
        let body = json!({ "name": name, "licence": "CC0-1.0" });
        bench.post("/api/v1/registrations", "", &body).await
    };
    assert_eq!(read::<Value>(register("one").await).await["approved"], true);
    assert_eq!(change(&mut boss, "registration", Registration::Approval.name()).await, StatusCode::OK);
    assert_eq!(read::<Value>(register("two").await).await["approved"], false);
    assert_eq!(change(&mut boss, "registration", Registration::Invitation.name()).await, StatusCode::OK);
    assert_eq!(register("three").await.status(), StatusCode::FORBIDDEN);
    let server: Value = read(bench.request(Method::GET, "/api/v1/server", "").send().await.unwrap()).await;
    assert_eq!(server["invitation_only"], true);
    assert!(Visitor::new(&bench).get("/en/register").await.text.contains("Accounts here are by invitation."));

    assert_eq!(change(&mut boss, "keep_days", "30").await, StatusCode::OK);
    assert_eq!(bench.service.choices().await.unwrap().keep_days, Some(30));
    assert_eq!(change(&mut boss, "keep_days", "0").await, StatusCode::OK);
    assert_eq!(bench.service.choices().await.unwrap().keep_days, None);

    assert_eq!(change(&mut boss, "audit_percent", "100").await, StatusCode::OK);
    assert_eq!(change(&mut boss, "audit_percent", "100").await, StatusCode::OK, "an unchanged setting is no event");
    let token = bench.account("eve", Role::Volunteer).await;
    contribute(&bench, &token, bench.worker(&token, "one").await).await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE audit = 'wanted'").await, 2, "every shard");

    let json: Value = serde_json::from_str(&boss.get("/api/v1/settings").await.text).unwrap();
    let chosen = json!({ "registration": "by_invitation", "keep_days": "0", "audit_percent": "100" });
    assert_eq!(json["chosen"], chosen);
    assert_eq!(ann.get("/api/v1/settings").await.status, StatusCode::FORBIDDEN);
    let noted = "SELECT COUNT(*) FROM events WHERE kind = 'settings_changed'
                 AND account = (SELECT id FROM accounts WHERE name = 'boss')";
    assert_eq!(bench.number(noted).await, 5);
    let events = boss.get("/zh/admin/events").await.text;
    assert!(events.contains("注册方式改为“经批准”，原为“开放”") && events.contains("修改设置"), "{events}");
}

#[tokio::test]
async fn a_match_is_shown_live_by_a_button() {
    let bench = Bench::start().await;
    let job = live_match::begin(&bench).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let mut ann = Visitor::signed_in(&bench, "ann", Role::Volunteer).await;
    let watched = async || -> Value {
        read::<Value>(bench.request(Method::GET, "/api/v1/live-game", "").send().await.unwrap()).await["watched"].take()
    };
    let path = format!("/en/matches/{job}/live");
    let button = format!("action=\"{path}\"");
    assert!(boss.get(&format!("/en/matches/{job}")).await.text.contains(&button));
    assert!(!ann.get(&format!("/en/matches/{job}")).await.text.contains(&button), "it is not for volunteers");
    let (form, hers) = (boss.form("/en/me").await, ann.form("/en/me").await);
    let refused = ann.post(&path, &[("form", &hers), ("begin", "1")]).await;
    assert_eq!((refused.status, watched().await), (StatusCode::FORBIDDEN, Value::Null));
    let refused = boss.post(&path, &[("begin", "1")]).await;
    assert_eq!((refused.status, watched().await), (StatusCode::FORBIDDEN, Value::Null));
    let fields = [("form", form.as_str()), ("begin", "1")];
    let other = [("sec-fetch-site", "cross-site")];
    let refused = boss.post_from(&path, &fields, &other).await;
    assert_eq!((refused.status, watched().await), (StatusCode::FORBIDDEN, Value::Null));
    let missing = boss.post(&format!("/en/matches/{}/live", job + 1), &fields).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);

    let begun = boss.post(&path, &fields).await;
    assert_eq!((begun.status, begun.header("location")), (StatusCode::SEE_OTHER, "/en/live-game"));
    assert_eq!(watched().await, json!(job));
    assert!(boss.get("/en/live-game").await.text.contains("Stop showing it"));
    assert!(!ann.get("/en/live-game").await.text.contains("Stop showing it"));
    let ended = boss.post(&path, &[("form", &form)]).await;
    assert_eq!((ended.status, watched().await), (StatusCode::SEE_OTHER, Value::Null));

    bench.execute(format!("UPDATE jobs SET state = 'closed' WHERE id = {job}")).await;
    let over = boss.post(&path.replace("/en/", "/zh/"), &fields).await;
    assert_eq!(over.status, StatusCode::CONFLICT);
    assert!(over.text.contains(&format!("对抗赛 {job}：已结束")), "{}", over.text);
}

#[tokio::test]
async fn a_person_is_public_by_name_and_totals_only() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    crate::paging::set_password(&bench, "ann").await;
    contribute(&bench, &token, bench.worker(&token, "garden-shed").await).await;
    let mut stranger = Visitor::new(&bench);
    let mut bob = Visitor::signed_in(&bench, "bob", Role::Volunteer).await;
    let mut lin = Visitor::signed_in(&bench, "lin", Role::Maintainer).await;
    let mut ann = Visitor::new(&bench);
    ann.sign_in("ann", crate::paging::PASSWORD).await;
    assert!(stranger.get("/en/people").await.text.contains("href=\"/en/people/ann\""));
    for (visitor, sees) in [(&mut stranger, false), (&mut bob, false), (&mut lin, true), (&mut ann, true)] {
        let page = visitor.get("/en/people/ann").await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.text.contains("<h1>ann</h1>") && page.text.contains("<dt>Rank</dt><dd>1</dd>"), "{}", page.text);
        for own in ["garden-shed", "id=\"own\"", "<time>", "active"] {
            assert_eq!(page.text.contains(own), sees, "{own}: {}", page.text);
        }
    }
    let known: Value = serde_json::from_str(&stranger.get("/api/v1/people/ann").await.text).unwrap();
    let keys: Vec<_> = known.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["account", "games", "positions", "rank"]);
    assert_eq!((&known["rank"], known["games"].as_i64() > Some(0)), (&json!(1), true));

    let at_root = stranger.get("/people/ann").await;
    assert_eq!((at_root.status, at_root.header("location")), (StatusCode::SEE_OTHER, "/en/people/ann"));
    assert_eq!(stranger.get("/people/%2F%2Fevil.test").await.status, StatusCode::NOT_FOUND);
    assert_eq!(stranger.get("/en/people/unknown").await.status, StatusCode::NOT_FOUND);
    bench.service.run(DeleteAccount { account: "ann".into(), by: None }).await.unwrap();
    assert_eq!(stranger.get("/en/people/ann").await.status, StatusCode::NOT_FOUND);
    let ranking = stranger.get("/en/people").await.text;
    assert!(ranking.contains("a deleted account") && !ranking.contains("/people/deleted"), "{ranking}");
    assert_eq!(stranger.get("/en/people/deleted:2").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn chinese_pages_translate_events_and_rejections() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let form = boss.form("/en/me").await;
    contribute(&bench, &token, worker).await;
    bench
        .execute(
            "UPDATE shards SET state = 'rejected', code = 'illegal_move',
             detail = '{\"in_game\":{\"game\":1,\"ply\":9,\"text\":\"the move is not legal\"}}' WHERE id = 1"
                .to_owned(),
        )
        .await;
    bench.execute("UPDATE campaigns SET state = 'stuck', reason = '\"no_trainer\"'".to_owned()).await;
    for (path, fields) in [
        ("/en/admin/users/ann", [("action", "quarantine"), ("reason", "by hand")]),
        ("/en/admin/users/ann", [("action", "lift"), ("reason", "a mistake")]),
        (&format!("/en/admin/workers/{worker}"), [("action", "block"), ("message", "too hot")]),
        (&format!("/en/admin/workers/{worker}"), [("action", "trust"), ("message", "")]),
        ("/en/admin/invitations", [("role", "trainer"), ("x", "")]),
    ] {
        let fields = [&fields[..], &[("form", form.as_str())]].concat();
        assert!(boss.post(path, &fields).await.status.as_u16() < 400, "{path}");
    }
    let is_chinese = |text: &str| text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter));
    let events = boss.get("/zh/admin/events").await.text;
    let rows: Vec<_> =
        events.split("<td class=\"text\">").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert!(rows.len() > 8, "{rows:?}");
    for row in rows {
        assert!(is_chinese(row), "{row}");
    }
    for (path, says) in [
        ("/zh/data", "第 1 局第 9 步：着法不合法"),
        ("/zh/workers", "第 1 局第 9 步：着法不合法"),
        ("/zh/campaigns/quick", "没有训练者完成训练"),
        ("/zh", "任务 quick 已开始"),
        ("/zh/matches/999", "没有此内容"),
        ("/zh/people/unknown", "没有账号 unknown"),
    ] {
        let page = boss.get(path).await.text;
        assert!(page.contains(says), "{path}: {page}");
    }
    let refused = boss.post("/zh/admin/users/ann", &[("form", form.as_str()), ("action", "block")]).await;
    assert!(refused.text.contains("请简要说明原因"), "{}", refused.text);
    assert!(boss.get("/en").await.text.contains("campaign quick began"));
}
