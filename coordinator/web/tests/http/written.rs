//! Invalid input in forms: the error is beside its field, translated, and the input is kept. And
//! lists with pages.

use protocol::api::work::Role;
use reqwest::StatusCode;

use crate::{
    bench::{Bench, CAMPAIGN},
    paging::{PASSWORD, Visitor},
    plenty,
};

#[tokio::test]
async fn the_calculator_names_the_invalid_field_and_its_correction() {
    let bench = Bench::start().await;
    let mut visitor = Visitor::new(&bench);
    for (query, field, english, chinese) in [
        ("elo0=abc", "elo0", "Elo 0: a number, for example", "Elo 0：请填写数字"),
        ("elo0=5&elo1=1", "elo1", "Elo 1: a number above Elo 0", "Elo 1：应大于 Elo 0"),
        ("beta=2", "beta", "β: a number above 0 and below 0.5", "β：应大于 0 且小于 0.5"),
        ("counts=1+2+3", "counts", "Pairs: five whole numbers, for example 30 180", "局对：请填写五个整数"),
    ] {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let page = visitor.get(&format!("/{language}/sprt?{query}")).await;
            assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
            assert!(page.text.contains(says), "{query}: {}", page.text);
            let marked = page.text.split("<input").find(|input| input.contains("aria-invalid")).unwrap();
            assert!(marked.contains(&format!("name=\"{field}\"")), "{marked}");
            let kept = query.split('&').all(|pair| {
                let value = pair.split_once('=').unwrap().1.replace('+', " ");
                page.text.contains(&format!("value=\"{value}\""))
            });
            assert!(kept, "the input stays: {query}");
        }
    }
}

#[tokio::test]
async fn invalid_input_stays_beside_its_error() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let form = boss.form("/en/me").await;
    let fields = [("form", form.as_str()), ("name", "garden shed"), ("days", "soon")];
    let refused = boss.post("/zh/me/tokens", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("value=\"garden shed\"") && refused.text.contains("value=\"soon\""));
    assert!(
        refused.text.contains("请填写 1 至 65535 的整数") && !refused.text.contains("id=\"token\""),
        "{}",
        refused.text
    );

    bench
        .execute(
            "INSERT INTO nets (hash, name, state, bytes, architecture, created) VALUES ('aa', 'one', 'promoted', 1, 'x', 1);
             INSERT INTO promotions (campaign, net, kind, at) VALUES (1, 'aa', 'hand', 1);
             UPDATE campaigns SET champion = 'aa'"
                .replace("'aa'", &format!("'{}'", "a".repeat(64))),
        )
        .await;
    let champion = "a".repeat(64);
    let fields = [("form", form.as_str()), ("champion", &champion), ("reason", " ")];
    let refused = boss.post("/en/campaigns/quick/rollback", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("<h1>quick</h1>") && refused.text.contains("Say why, in a few words."));
    assert!(refused.text.contains("<details class=\"confirm\" open><summary>Roll back"), "{}", refused.text);
    // A missing field is reported in plain words.
    let refused = boss.post("/zh/campaigns/quick/rollback", &[("form", &form)]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("表单缺少某一项") && !refused.text.contains("missing field"), "{}", refused.text);
}

/// Also where its name begins like one that a button has.
#[tokio::test]
async fn an_unknown_action_changes_nothing() {
    let bench = Bench::start().await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let form = boss.form("/en/me").await;
    let path = format!("/zh/admin/workers/{worker}");
    for (action, is_trusted) in [("trust", 1), ("", 1), ("untrust", 1), ("Trust", 1), ("blocked", 1), ("distrust", 0)] {
        let events = bench.number("SELECT COUNT(*) FROM events").await;
        let shown = boss.post(&path, &[("form", &form), ("action", action), ("message", "why")]).await;
        assert_eq!(bench.number("SELECT COUNT(*) FROM workers WHERE trusted = 1").await, is_trusted, "{action:?}");
        if ["trust", "distrust"].contains(&action) {
            assert_eq!(shown.status, StatusCode::SEE_OTHER);
            continue;
        }
        assert_eq!(shown.status, StatusCode::UNPROCESSABLE_ENTITY, "{action:?}");
        assert!(shown.text.contains("没有此操作"), "{}", shown.text);
        assert_eq!(bench.number("SELECT COUNT(*) FROM events").await, events, "{action:?}");
    }
    let fields = [("form", form.as_str()), ("action", "activate"), ("reason", "why")];
    let refused = boss.post("/en/admin/users/ann", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn sign_in_returns_to_the_same_page_of_a_list() {
    let bench = Bench::start().await;
    let mut visitor = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    visitor.cookies.clear();
    let sent = visitor.get("/en/admin/audits?page=3").await;
    assert_eq!(sent.header("location"), "/en/sign-in?next=%2Fen%2Fadmin%2Faudits%3Fpage%3D3");
    let form = visitor.form(sent.header("location")).await;
    let next = "/en/admin/audits?page=3";
    let fields = [("form", form.as_str()), ("name", "boss"), ("password", PASSWORD), ("next", next)];
    assert_eq!(visitor.post("/en/sign-in", &fields).await.header("location"), next);
}

#[tokio::test]
async fn every_list_has_pages() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    plenty::fill(&bench).await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let rows =
        |count: i64| format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})");
    bench
        .execute(format!(
            "INSERT INTO manifests (hash, campaign, generation, games, positions, text, created)
             {} SELECT printf('%064x', i), 1, i, 1, 1, '', i FROM n;
             INSERT INTO failures (account, at, kind, version, detail) {} SELECT 1001, i, 'storage', '1', 'f' || i FROM n;
             UPDATE workers SET account = (SELECT id FROM accounts WHERE name = 'boss') WHERE id <= 120;
             UPDATE shards SET account = (SELECT id FROM accounts WHERE name = 'boss') WHERE id BETWEEN 1001 AND 1120;",
            rows(120),
            rows(120)
        ))
        .await;
    for (path, mark, of_each) in [
        ("/en/data", "class=\"hash\" href=\"/api/v1/manifests/", [50, 50, 20]),
        ("/en/workers", "</td><td class=\"text\"><strong>", [50, 50, 20]),
        ("/en/matches", "<tr><th scope=\"row\"><a href=\"/en/matches/", [100, 100, 100]),
        ("/en/me", "href=\"/en/games?job=", [50, 50, 20]),
        ("/en/people/boss", "<tr><th scope=\"row\">boss / m", [50, 50, 20]),
    ] {
        for (number, wanted) in of_each.into_iter().enumerate() {
            let page = boss.get(&format!("{path}?page={number}")).await;
            assert_eq!(page.text.matches(mark).count(), wanted, "{path} {number}");
            let next = format!("rel=\"next\" href=\"?page={}\"", number + 1);
            assert!(number == 2 || page.text.contains(&next), "{path} {number} leads on");
        }
    }
    for path in ["/api/v1/matches", "/api/v1/failures", "/api/v1/deliveries"] {
        let [first, second] = [0, 1].map(|number| format!("{path}?page={number}"));
        let (first, second) = (boss.get(&first).await.text, boss.get(&second).await.text);
        assert!(second.len() > 1_000 && first != second, "{path}");
    }
}
