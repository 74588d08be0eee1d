//! The pages without a browser: access, CSRF checks, caching, and hostile input.

use std::time::Duration;

use coordinator_core::{
    model::{CampaignCommand, Event, JobId, Reason},
    people::passwords,
    settings::Settings,
};
use protocol::api::{problem::Code, work::Role};
use reqwest::{Method, StatusCode};

use crate::{
    bench::{Bench, CAMPAIGN, play, problem, read, settings, shard},
    hosts::elsewhere,
    live_match,
    paging::{PASSWORD, Visitor},
    rulebook,
};

#[tokio::test]
async fn a_visitor_is_sent_to_the_language_they_read() {
    let bench = Bench::start().await;
    for (wanted, place) in [("zh-CN,zh;q=0.9,en;q=0.5", "/zh"), ("de,en;q=0.5", "/en"), ("", "/en")] {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let request = client.get(format!("http://{}/", bench.address)).header("accept-language", wanted);
        let answer = request.send().await.unwrap();
        assert_eq!((answer.status(), &answer.headers()["location"]), (StatusCode::SEE_OTHER, &place.parse().unwrap()));
        assert_eq!(answer.headers()["vary"], "Accept-Language");
    }
    let mut visitor = Visitor::new(&bench);
    let zh = visitor.get("/zh").await.text;
    assert!(zh.contains("lang=\"zh-Hans\"") && zh.contains("登录") && !zh.contains("Sign in"), "{zh}");
    assert!(zh.contains("href=\"/en\""), "the same page in the other language");
}

/// A browser gets a page in its language for every wrong address; a program gets a problem.
#[tokio::test]
async fn a_wrong_address_is_answered_in_the_readers_language() {
    let bench = Bench::start().await;
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let get = |path: &str, accept: &str, language: &str| {
        let request = client.get(format!("http://{}{path}", bench.address));
        request.header("accept", accept.to_owned()).header("accept-language", language.to_owned()).send()
    };
    for (path, place) in
        [("/en/", "/en"), ("/zh/games///?rules=cxr", "/zh/games?rules=cxr"), ("/people/ann/", "/people/ann")]
    {
        let answer = get(path, "*/*", "en").await.unwrap();
        assert_eq!(answer.status(), StatusCode::PERMANENT_REDIRECT, "{path}");
        assert_eq!(answer.headers()["location"], place);
    }
    for path in ["//evil.test/", "/\\evil.test/", "/%2Fevil.test/nothing"] {
        let answer = get(path, "text/html", "en").await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path} is no address of another host");
    }
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in ["/nothing", "/en/nothing", "/nothing/at/all"] {
        let answer = get(path, browser, "en").await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert!(answer.headers()["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
        let text = answer.text().await.unwrap();
        assert!(text.contains("There is nothing at this address.") && text.contains("href=\"/en\""), "{text}");
    }
    let answer = get("/nothing", browser, "zh-CN").await.unwrap();
    assert_eq!(answer.headers()["vary"], "Accept, Accept-Language");
    assert!(answer.text().await.unwrap().contains("此地址没有内容。"));
    for (path, accept) in [("/nothing", "application/json"), ("/api/v1/nothing", browser), ("/api/v1/server/", browser)]
    {
        let answer = get(path, accept, "en").await.unwrap();
        assert_eq!(answer.headers()["content-type"], "application/problem+json", "{path}");
    }
}

const PUBLIC: [&str; 10] =
    ["", "/campaigns", "/matches", "/nets", "/data", "/workers", "/people", "/people/boss", "/sprt", "/sign-in"];

/// Pages without data.
const FORMS: [&str; 6] = ["/sign-in", "/register", "/campaigns/new", "/campaigns/quick/edit", "/judge", "/tour"];

#[tokio::test]
async fn every_page_has_its_policy_its_json_and_no_style_in_its_text() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let mut admin = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let mut maintainer = Visitor::signed_in(&bench, "mei", Role::Maintainer).await;
    let mut anonymous = Visitor::new(&bench);
    let shard = rulebook::keep(&bench, "closed").await;
    let job = live_match::begin(&bench).await;
    let net = "a".repeat(64);
    bench
        .execute(format!(
            "INSERT INTO nets (hash, name, state, campaign, generation, bytes, architecture, created)
             VALUES ('{net}', 'quick-1', 'base', 1, 0, 100, 'small', 1)"
        ))
        .await;
    let things = [
        format!("/matches/{job}"),
        format!("/matches/{job}/openings"),
        format!("/nets/{net}"),
        format!("/games/{shard}"),
        format!("/games/{shard}/0"),
        format!("/games/{shard}/0?ply=3&flip=1"),
        "/campaigns/quick".to_owned(),
        "/games".to_owned(),
        "/live-game".to_owned(),
        "/judge".to_owned(),
        "/judge?moves=h2e2".to_owned(),
    ];
    let own = [
        "/me",
        "/admin",
        "/admin/audits",
        "/admin/trust",
        "/admin/events",
        "/admin/settings",
        "/campaigns/quick/edit",
        "/campaigns/new",
        "/register",
    ];
    let public: Vec<&str> = PUBLIC.into_iter().chain(things.iter().map(String::as_str)).collect();
    // The guided tour has no JSON.
    for path in public.iter().chain(&["/tour"]) {
        check(&mut anonymous, path).await;
        check(&mut maintainer, path).await;
    }
    for path in public.into_iter().chain(own) {
        check(&mut admin, path).await;
    }
}

/// Checks a page of one visitor in both languages.
async fn check(visitor: &mut Visitor<'_>, path: &str) {
    for language in ["en", "zh"] {
        let page = visitor.get(&format!("/{language}{path}")).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text);
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("referrer-policy"), "same-origin");
        assert!(page.header("cache-control").contains("no-cache"), "{path}");
        assert!(!page.text.contains(" style=") && !page.text.contains("<style"), "{path} has a style");
        assert!(!page.text.contains(" onclick") && !page.text.contains("<script>"), "{path} has a script");
        // Commands to copy name the address of this server.
        let text = page.text.replace(&visitor.address(""), "");
        assert_eq!(elsewhere(&text), Vec::<String>::new(), "{path} goes elsewhere");
        let footer = page.text.split_once("<footer").unwrap().1;
        let links = footer.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
        let links: Vec<String> = links.filter(|link| link.starts_with("/api/")).collect();
        assert_eq!(links.is_empty(), FORMS.contains(&path), "{path}: what has numbers has its JSON, {links:?}");
        for link in links {
            let answer = visitor.get(&link).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}: {link}: {}", answer.text);
            serde_json::from_str::<serde_json::Value>(&answer.text).unwrap();
        }
    }
}

#[tokio::test]
async fn a_mistyped_address_is_answered_with_a_page_or_a_problem() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let mut visitor = Visitor::new(&bench);
    for (path, status) in [
        ("/matches/abc", StatusCode::NOT_FOUND),
        ("/matches/99999999999999999999", StatusCode::NOT_FOUND),
        ("/matches/1/openings?page=x", StatusCode::BAD_REQUEST),
        ("/data?page=-1", StatusCode::BAD_REQUEST),
        ("/games?job=x", StatusCode::BAD_REQUEST),
        (&format!("/games/{shard}/0?ply=x"), StatusCode::BAD_REQUEST),
        (&format!("/games/{shard}/-1"), StatusCode::NOT_FOUND),
        ("/campaigns/%ff", StatusCode::NOT_FOUND),
        ("/nets?before=yesterday", StatusCode::BAD_REQUEST),
    ] {
        for (language, says) in [("en", "That did not work"), ("zh", "出错了")] {
            let page = visitor.get(&format!("/{language}{path}")).await;
            assert_eq!(page.status, status, "{path}");
            assert!(page.text.starts_with("<!doctype html>") && page.text.contains(says), "{path}: {}", page.text);
        }
    }
    for (path, code) in [
        ("/api/v1/matches/abc", Code::NotFound),
        ("/api/v1/matches/abc/details", Code::NotFound),
        ("/api/v1/games?job=x", Code::BadRequest),
        ("/api/v1/data?page=x", Code::BadRequest),
        (&format!("/api/v1/games/{shard}/x"), Code::NotFound),
    ] {
        let answer = bench.request(Method::GET, path, "").send().await.unwrap();
        problem(answer, code).await;
    }
}

#[tokio::test]
async fn pages_are_small_and_their_assets_are_kept_for_ever() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    bench.account("boss", Role::Volunteer).await;
    let mut visitor = Visitor::new(&bench);
    for path in PUBLIC {
        let page = visitor.get(&format!("/en{path}")).await;
        let mut bytes = page.text.len();
        for part in page.text.split("\"/assets/").skip(1) {
            let address = format!("/assets/{}", part.split('"').next().unwrap());
            let request = bench.request(Method::GET, &address, "").header("accept-encoding", "gzip");
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{address}");
            assert!(answer.headers()["cache-control"].to_str().unwrap().contains("immutable"));
            // Vendored code has addresses in comments; browser tests catch real requests.
            if !["htmx.js", "uplot.js"].iter().any(|name| address.ends_with(name)) {
                let whole = visitor.get(&address).await.text;
                assert_eq!(elsewhere(&whole), Vec::<String>::new(), "{address}");
            }
            bytes += answer.bytes().await.unwrap().len();
        }
        assert!(bytes < 100_000, "{path} has {bytes} bytes with all it needs");
    }
    let other = bench.request(Method::GET, "/assets/000000000000/chuhe.css", "").send().await.unwrap();
    assert_eq!(other.status(), StatusCode::NOT_FOUND, "an asset of another version is not this one");
}

#[tokio::test]
async fn hostile_text_stays_text() {
    const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
    let bench = Bench::start().await;
    let about = CAMPAIGN.replacen("name = \"quick\"", "name = \"quick\"\nabout = \"<script>alert(3)</script>\"", 1);
    bench.campaign(&about).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let report = serde_json::json!({ "worker": worker, "kind": "other", "version": HOSTILE, "detail": HOSTILE });
    let sent = bench.post("/api/v1/failures", &token, &report).await;
    assert!(sent.status().is_success(), "{}", sent.status());
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let form = boss.form("/en/me").await;
    let made = boss.post("/en/me/tokens", &[("form", &form), ("name", HOSTILE)]).await;
    assert_eq!(made.status, StatusCode::OK);
    let fields = [("form", form.as_str()), ("action", "block"), ("message", HOSTILE)];
    boss.post(&format!("/en/admin/workers/{worker}"), &fields).await;
    let fields = [("form", form.as_str()), ("action", "block"), ("reason", HOSTILE)];
    boss.post("/en/admin/users/ann", &fields).await;
    let fields = [("form", form.as_str()), ("text", HOSTILE)];
    let fault = boss.post("/en/campaigns/new", &fields).await;
    assert!(fault.text.contains("line 1") && fault.text.contains("&#60;script&#62;"), "the line at fault is shown");
    let pages = [
        "/en",
        "/en/campaigns/quick",
        "/en/workers",
        "/en/me",
        "/en/admin",
        "/en/admin/events",
        "/en/sprt?elo0=%3Cscript%3E&counts=%22%3E%3Cscript%3E",
    ];
    for path in pages {
        let page = boss.get(path).await;
        let status = if path.contains("sprt") { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        assert_eq!(page.status, status, "{path}");
        assert!(!page.text.contains("<script>alert") && !page.text.contains("<img src=x"), "{path}: {}", page.text);
    }
    assert!(!fault.text.contains("<script>alert"));
    let lost = boss.get("/en/%3Cscript%3Ealert(1)%3C/script%3E").await;
    assert_eq!(lost.status, StatusCode::NOT_FOUND);
    assert!(lost.text.starts_with("<!doctype html>") && !lost.text.contains("<script>alert"));
}

#[tokio::test]
async fn a_campaign_is_created_and_edited_by_its_pages() {
    let bench = Bench::start().await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Maintainer).await;
    let form = boss.form("/en/campaigns/new").await;
    let bad = CAMPAIGN.replace("hard_nodes = 60", "hard_nodes = \"many\"");
    let fault = boss.post("/en/campaigns/new", &[("form", &form), ("text", &bad)]).await;
    assert_eq!(fault.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(fault.text.contains("5 | hard_nodes = &#34;many&#34;"), "{}", fault.text);
    let made = boss.post("/en/campaigns/new", &[("form", &form), ("text", CAMPAIGN)]).await;
    assert_eq!((made.status, made.header("location")), (StatusCode::SEE_OTHER, "/en/campaigns/quick"));
    let changed = bench.number("SELECT changed FROM campaigns").await.to_string();
    let edit = "/en/campaigns/quick/edit";
    let more = CAMPAIGN.replace("positions = 400", "positions = 900");
    let seed = format!("seed = 7\n{}", CAMPAIGN.trim_start());
    let refused = boss.post(edit, &[("form", &form), ("text", &seed), ("changed", &changed)]).await;
    assert!(refused.text.contains("`seed` cannot be changed"), "{}", refused.text);
    let done = boss.post(edit, &[("form", &form), ("text", &more), ("changed", &changed)]).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    assert_eq!(bench.number("SELECT wanted_positions FROM campaigns").await, 900);
    let late = boss.post(edit, &[("form", &form), ("text", &more), ("changed", &changed)]).await;
    assert_eq!(late.status, StatusCode::UNPROCESSABLE_ENTITY, "another edit came first");
}

#[tokio::test]
async fn listeners_get_events() {
    let bench = Bench::start().await;
    let mut stream = bench.request(Method::GET, "/api/v1/live", "").send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut events = String::new();
    while !events.contains("event: state") {
        let piece =
            tokio::time::timeout(Duration::from_secs(20), stream.chunk()).await.expect("an event arrives in time");
        events += &String::from_utf8_lossy(&piece.unwrap().expect("the stream continues"));
    }
    // A page of the same state has the same marks; a later page has others.
    let mut visitor = Visitor::new(&bench);
    let state =
        |page: &str| page.split_once("data-state=\"").unwrap().1.split('"').next().unwrap().replace("&#34;", "\"");
    let before = state(&visitor.get("/en").await.text);
    assert!(before.contains("\"campaigns\":0") && events.contains(&before), "{before} {events}");
    bench.campaign(CAMPAIGN).await;
    let after = state(&visitor.get("/en").await.text);
    assert_ne!(after, before);
    let mut late = bench.request(Method::GET, "/api/v1/live", "").send().await.unwrap();
    let first = String::from_utf8_lossy(&late.chunk().await.unwrap().unwrap()).into_owned();
    assert!(
        first.starts_with("event: state") && first.contains(&after),
        "a stream begins with the current marks: {first}"
    );
    events.clear();
    while !events.contains("campaigns") {
        let piece =
            tokio::time::timeout(Duration::from_secs(20), stream.chunk()).await.expect("an event arrives in time");
        events += &String::from_utf8_lossy(&piece.unwrap().expect("the stream continues"));
    }
    assert!(events.contains("event: changed") && events.contains("id: "), "{events}");
    bench.service.pages.live.send("game", "{\"ply\":1}");
    while !events.contains("event: game") {
        let piece =
            tokio::time::timeout(Duration::from_secs(20), stream.chunk()).await.expect("an event arrives in time");
        events += &String::from_utf8_lossy(&piece.unwrap().expect("the stream continues"));
    }
}

#[test]
fn password_hashing_ends_in_time() {
    assert!(passwords::verify(PASSWORD, Some(&passwords::hash(PASSWORD).unwrap())));
}

#[tokio::test]
async fn totals_match_the_shards_in_every_state() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let mut boss = Visitor::signed_in(&bench, "boss", Role::Admin).await;
    let form = boss.form("/en/me").await;
    for nonce in ["a", "b"] {
        let lease = bench.lease(&token, worker, nonce).await;
        let bytes = shard(&lease.terms, &play(&lease.terms, lease.games));
        assert_eq!(bench.upload(&token, &lease, bytes).await.status(), StatusCode::CREATED);
    }
    let wrong =
        "SELECT COUNT(*) FROM (SELECT state, COUNT(*) AS n, SUM(games) AS g, SUM(positions) AS p, SUM(bytes) AS b
                 FROM shards WHERE state <> 'received' GROUP BY state) AS found FULL JOIN
                 (SELECT state, SUM(shards) AS n, SUM(games) AS g, SUM(positions) AS p, SUM(bytes) AS b FROM totals
                  GROUP BY state HAVING SUM(shards) <> 0) AS kept ON found.state = kept.state
                 AND found.n = kept.n AND found.g = kept.g AND found.p = kept.p AND found.b = kept.b
                 WHERE found.n IS NULL OR kept.n IS NULL";
    let labelled = "SELECT COALESCE((SELECT SUM(games) FROM labels WHERE kind = 'reason'), 0)
                    - COALESCE((SELECT SUM(games) FROM shards WHERE state = 'validated'), 0)";
    assert_eq!(bench.number("SELECT COUNT(*) FROM totals").await, 0, "waiting uploads are in no total");
    bench.validate().await;
    // The statistics count each position once.
    let data: serde_json::Value = serde_json::from_str(&boss.get("/api/v1/data").await.text).unwrap();
    let sum = |key: &str| {
        data["figures"][key].as_array().unwrap().iter().map(|it| it["positions"].as_i64().unwrap()).sum::<i64>()
    };
    let positions = bench.number("SELECT SUM(positions) FROM shards").await;
    assert!(positions > 0 && data["figures"]["positions"] == positions, "{}", data["figures"]);
    assert_eq!((sum("pieces"), sum("scores") + data["figures"]["unscored"].as_i64().unwrap()), (positions, positions));
    assert_eq!(bench.number("SELECT SUM(shards) FROM totals WHERE state = 'validated'").await, 2);
    for action in ["quarantine", "lift", "quarantine"] {
        assert_eq!((bench.number(wrong).await, bench.number(labelled).await), (0, 0), "before {action}");
        let fields = [("form", form.as_str()), ("action", action), ("reason", "a test")];
        assert_eq!(boss.post("/en/admin/users/ann", &fields).await.status, StatusCode::SEE_OTHER);
    }
    assert_eq!((bench.number(wrong).await, bench.number(labelled).await), (0, 0));
    assert_eq!(bench.number("SELECT SUM(shards) FROM totals WHERE state = 'quarantined'").await, 2);
}

/// A newcomer finds what the server is, where its programs come from, and how to take part:
/// register, token, commands.
#[tokio::test]
async fn home_tells_how_to_take_part() {
    let source = Some("https://example.org/chuhe.git".to_owned());
    let bench = Bench::with(Settings { source, ..settings() }).await;
    bench.campaign(CAMPAIGN).await;
    let mut visitor = Visitor::new(&bench);
    let run = format!("chuhe-worker run <span>--server http://{}</span>", bench.address);
    for (language, sentence) in [("en", "Volunteers&#39; computers play xiangqi"), ("zh", "志愿者的电脑在这里自我对弈")]
    {
        let home = visitor.get(&format!("/{language}")).await.text;
        for wanted in [sentence, CLONE, PREPARE, &run, &format!("href=\"/{language}/register\"")] {
            assert!(home.contains(wanted), "{wanted}: {home}");
        }
        let workers = visitor.get(&format!("/{language}/workers")).await.text;
        assert!(workers.contains(&format!("href=\"/{language}#join\"")), "{workers}");
        let form = visitor.get(&format!("/{language}/register")).await.text;
        assert!(form.contains(if language == "en" { "(optional)" } else { "(选填)" }), "{form}");
    }
    let form = visitor.form("/en/register").await;
    let fields = [("form", form.as_str()), ("name", "ann"), ("password", PASSWORD), ("consent", "CC0-1.0")];
    let registered = visitor.post("/en/register", &fields).await.text;
    for wanted in [CLONE, PREPARE, &run, "chuhe_"] {
        assert!(registered.contains(wanted), "{wanted}: {registered}");
    }
    // With an account they are on its page, for the next machine.
    for language in ["en", "zh"] {
        let home = visitor.get(&format!("/{language}")).await.text;
        assert!(home.contains(&format!("href=\"/{language}/me#join\"")) && !home.contains(&run), "{home}");
        let me = visitor.get(&format!("/{language}/me")).await.text;
        for wanted in ["id=\"join\"", CLONE, PREPARE, &run] {
            assert!(me.contains(wanted), "{wanted}: {me}");
        }
    }
}

const CLONE: &str = "git clone --depth 1 <span>https://example.org/chuhe.git chuhe</span>\ncd chuhe\n";
const PREPARE: &str = "eval \"$(scripts/prepare --env)\"\ncargo build --release";

/// Without a known source the page says so, and names no address.
#[tokio::test]
async fn a_server_without_a_source_says_so() {
    let bench = Bench::start().await;
    for (language, sentence) in
        [("en", "This server does not name where its source is"), ("zh", "本服务器未公布源码地址")]
    {
        let home = Visitor::new(&bench).get(&format!("/{language}")).await.text;
        assert!(home.contains(sentence) && home.contains(PREPARE) && !home.contains("git clone"), "{home}");
    }
}

/// Behind a proxy the command names the proxy's address.
#[tokio::test]
async fn the_command_names_the_address_of_the_proxy() {
    let bench = Bench::with(Settings { behind_proxy: true, ..settings() }).await;
    for (host, protocol, wanted) in [
        ("games.example.org", "https", "--server https://games.example.org"),
        ("games.example.org:8080", "http", "--server http://games.example.org:8080"),
        ("<script>", "https", "--server https://127.0.0.1:7272"),
    ] {
        let request = bench.request(Method::GET, "/en", "").header("host", host).header("x-forwarded-proto", protocol);
        let home = request.send().await.unwrap().text().await.unwrap();
        assert!(home.contains(wanted), "{home}");
    }
}

/// An event leads to what it is about; a state tells how long it has lasted.
#[tokio::test]
async fn events_lead_to_their_subject() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    bench.clock.advance(600_000);
    let events = [
        Event::Rejection {
            campaign: "quick".to_owned(),
            net: "00".to_owned(),
            name: "quick-1-1".to_owned(),
            reason: Reason::Inconclusive,
            job: Some(JobId(7)),
        },
        Event::Candidate { net: "ab12".to_owned(), name: "quick-1-2".to_owned() },
        Event::CampaignCommand { campaign: "quick".to_owned(), command: CampaignCommand::Stop },
    ];
    for event in events {
        let (kind, data) = event.to_columns().unwrap();
        let (subject, text) = (event.subject(), event.to_string());
        let values = format!("(1, '{kind}', '{subject}', '{text}', '{data}')");
        bench.execute(format!("INSERT INTO events (at, kind, subject, text, data) VALUES {values}")).await;
    }
    let home = Visitor::new(&bench).get("/en").await.text;
    for wanted in [
        "<a href=\"/en/matches/7\">quick-1-1 is undecided after all pairs of its gate, and not promoted</a>",
        "<a href=\"/en/nets/ab12\">quick-1-2 was trained</a>",
        "<a href=\"/en/campaigns/quick\">was stopped for good</a>",
        "for 10 min",
    ] {
        assert!(home.contains(wanted), "{wanted}: {home}");
    }
}

#[tokio::test]
async fn a_stuck_campaign_names_its_remedy() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    bench.execute("UPDATE campaigns SET state = 'stuck', reason = 'it failed'".to_owned()).await;
    let page = Visitor::new(&bench).get("/en/campaigns/quick").await.text;
    assert!(page.contains("chuhe-coordinator admin <span>campaign resume quick</span>"), "{page}");
}

/// Audits and repeated games have labels too, so the shares are of all labels.
#[tokio::test]
async fn the_shares_of_labels_sum_to_one() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let label = |label: &str, games: u32| {
        format!("INSERT INTO labels (job, kind, label, games) SELECT id, 'outcome', '{label}', {games} FROM jobs;")
    };
    bench.execute(label("draws", 30) + &label("red_wins", 90)).await;
    let page = Visitor::new(&bench).get("/en/campaigns/quick").await.text;
    assert!(page.contains(">25.0\u{202f}%<") && page.contains(">75.0\u{202f}%<"), "{page}");
}

#[tokio::test]
async fn a_net_shows_games_that_fell() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let (net, set) = ("a".repeat(64), "b".repeat(64));
    bench
        .execute(format!(
            "INSERT INTO nets (hash, name, state, campaign, generation, bytes, architecture, created)
             VALUES ('{net}', 'quick-1', 'promoted', 1, 1, 100, 'small', 1);
             INSERT INTO trainings (campaign, generation, state, recipe, manifests, candidate, created)
             VALUES (1, 1, 'done', '', '[{{\"sha256\":\"{set}\"}}]', '{net}', 1);
             INSERT INTO manifests (hash, campaign, generation, games, positions, text, created)
             VALUES ('{set}', 1, 0, 900, 1, '', 1)"
        ))
        .await;
    let seen = async || {
        let card: serde_json::Value =
            read(bench.request(Method::GET, &format!("/api/v1/nets/{net}/card"), "").send().await.unwrap()).await;
        let page = Visitor::new(&bench).get(&format!("/en/nets/{net}")).await.text;
        let chinese = Visitor::new(&bench).get(&format!("/zh/nets/{net}")).await.text;
        let is_marked = page.contains("40 games that it learned from are in quarantine now.");
        assert_eq!(is_marked, chinese.contains("已有 40 局被隔离"), "{chinese}");
        (card["fallen_training_games"].clone(), is_marked)
    };
    assert_eq!(seen().await, (0.into(), false));
    bench.execute("UPDATE manifests SET fallen_games = 40".to_owned()).await;
    assert_eq!(seen().await, (40.into(), true));
}

/// Home, campaign and match show the games being played, and those that heartbeats report.
#[tokio::test]
async fn games_being_played_are_shown() {
    let bench = Bench::start().await;
    bench.campaign(CAMPAIGN).await;
    let token = bench.account("ann", Role::Volunteer).await;
    let worker = bench.worker(&token, "one").await;
    let lease = bench.lease(&token, worker, "a").await;
    let tile = |more: &str| format!("Being played</dt><dd>{}{more}</dd>", lease.games);
    for path in ["/en", "/en/campaigns/quick"] {
        let page = Visitor::new(&bench).get(path).await.text;
        assert!(page.contains(&tile("")), "{path}: {page}");
        assert_eq!(page.contains("<dd>1 <small>1 thread</small></dd>"), path == "/en", "one is singular: {page}");
    }
    let before = bench.number("SELECT MAX(expires) FROM leases").await;
    bench.clock.advance(1_000);
    let place = protocol::api::path::renewal(&lease.token);
    let renewed = bench.post(&place, &token, &protocol::api::work::Renew { finished: 1 }).await;
    assert_eq!(renewed.status(), StatusCode::OK);
    assert!(bench.number("SELECT MAX(expires) FROM leases").await > before, "open pages notice the heartbeat");
    for path in ["/en", "/en/campaigns/quick"] {
        let page = Visitor::new(&bench).get(path).await.text;
        assert!(page.contains(&tile(" <small>1 finished</small>")), "{path}: {page}");
    }
}
