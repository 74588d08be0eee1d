//! Actions of people on the pages.

use coordinator_core::{model::JobKind, ops::matches::CreateMatch};
use protocol::campaign::{Campaign, Gate};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, NOW},
    driver::{Browser, DESKTOP, Look},
    is_skipped, live_match,
    paging::PASSWORD,
    stage,
};

async fn sign_in(browser: &Browser, bench: &Bench, name: &str) {
    browser.open(&format!("http://{}/en/sign-in", bench.address)).await;
    browser.write("#name", name).await;
    browser.write("#password", PASSWORD).await;
    browser.click("main form button").await;
    browser.wait_for(".who", name).await;
}

#[tokio::test]
async fn a_maintainer_signs_in_and_steers() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(DESKTOP).await;
    sign_in(&browser, &bench, "mei").await;

    // A campaign, first with a fault in it.
    browser.open(&format!("http://{}/en/campaigns/new", bench.address)).await;
    browser.write("#text", &CAMPAIGN.replace("hard_nodes = 60", "hard_nodes = \"many\"")).await;
    browser.click("main form button").await;
    browser.wait_for("#fault", "line 5").await;
    browser.write("#text", CAMPAIGN).await;
    browser.click("main form button").await;
    browser.wait_for("h1", "quick").await;
    assert!(browser.address().await.ends_with("/en/campaigns/quick"));

    // The candidate becomes champion, and is rolled back.
    browser.open(&format!("http://{}/en/nets/{}", bench.address, stage::net(6))).await;
    browser.click("#promote summary").await;
    browser.click("#promote[open] button").await;
    browser.wait_for("#state", "generation 6").await;
    let champion = "SELECT COUNT(*) FROM campaigns WHERE name = 'yangtze' AND champion = (SELECT hash FROM nets WHERE name = 'yangtze-6')";
    assert_eq!(bench.number(champion).await, 1);
    browser.open(&format!("http://{}/en/nets/{}", bench.address, stage::net(6))).await;
    browser.click("details.confirm summary").await;
    browser.write("details.confirm[open] input[name=reason]", "it plays the wrong openings").await;
    browser.click("details.confirm[open] button").await;
    browser.wait_for("#state", "generation 7").await;
    assert_eq!(bench.number(champion).await, 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM promotions WHERE kind = 'rollback'").await, 1);

    // A token, which is shown once and then revoked.
    browser.open(&format!("http://{}/en/me", bench.address)).await;
    browser.write("#token-name", "garden shed").await;
    browser.click("form.fields button.main").await;
    let token = browser.text("#token").await;
    let ask = || async { bench.request(reqwest::Method::GET, "/api/v1/me", &token).send().await.unwrap().status() };
    assert_eq!(ask().await, 200);
    browser.open(&format!("http://{}/en/me", bench.address)).await;
    assert!(!browser.has("#token").await, "it is shown once");
    browser.click("button[aria-label^='Revoke: garden shed']").await;
    browser.wait_for("table", "revoked").await;
    assert_eq!(ask().await, 401);

    // A match is shown live, and no longer, each by a button.
    let job = live_match::begin(&bench).await;
    browser.open(&format!("http://{}/en/matches/{job}", bench.address)).await;
    browser.click("button[name=begin]").await;
    browser.wait_for(".live", &format!("Match {job} is chosen")).await;
    browser.click("main form button").await;
    browser.wait_for(".live", "No game is shown live").await;

    // A setting with its confirmation; it is an event in both languages.
    browser.open(&format!("http://{}/en/admin/settings", bench.address)).await;
    browser.click("#audit_percent summary").await;
    browser.write("#value-audit_percent", "7").await;
    browser.click("#audit_percent button").await;
    browser.wait_for("#audit_percent .chosen", "7").await;
    browser.wait_for(".notice", "Games played again").await;
    browser.open(&format!("http://{}/zh/admin/events", bench.address)).await;
    browser.wait_for("#log", "最低复核比例改为 7%，原为 0%").await;

    // Sign-out, in Chinese.
    browser.open(&format!("http://{}/zh", bench.address)).await;
    assert_eq!(browser.text(".sections a:nth-child(2)").await, "任务");
    browser.click(".who form button").await;
    browser.wait_for(".who", "登录").await;
    assert_eq!(bench.number("SELECT COUNT(*) FROM sessions").await, 0);
    // The invalid campaign is answered with 422, which browsers log.
    let complaints = browser.complaints().await;
    assert!(complaints.iter().all(|it| it.contains("status of 422")), "{complaints:?}");
}

/// The content of a match's page.
#[derive(Debug)]
struct Shown {
    /// The last value of the curve, and its bounds.
    llr: f64,
    low: f64,
    high: f64,
    points: usize,
    pairs: f64,
    bars: Value,
    elo: Value,
    figures: String,
}

impl Shown {
    async fn read(browser: &Browser) -> Self {
        let chart = browser.run("return JSON.parse(document.querySelector('figure[data-chart]').dataset.chart)").await;
        let last = |line: usize| chart["lines"][line]["values"].as_array().unwrap().last().unwrap().as_f64().unwrap();
        let x = chart["x"].as_array().unwrap();
        Self {
            llr: last(0),
            high: last(1),
            low: last(2),
            points: x.len(),
            pairs: x.last().unwrap().as_f64().unwrap(),
            bars: browser.run("return document.querySelector('#charts section:last-child svg').textContent").await,
            elo: browser.run("return document.querySelector('#standing dd').innerText").await,
            figures: browser.text("#standing").await,
        }
    }
}

#[tokio::test]
async fn a_match_is_watched_until_its_decision() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let token = bench.account("ann", protocol::api::work::Role::Volunteer).await;
    for number in 0..10 {
        bench.worker(&token, &format!("m{number}")).await;
    }
    let campaign = Campaign::from_text(CAMPAIGN).unwrap();
    let gate = Gate { elo0: 0.0, elo1: 40.0, batch_pairs: 8, ..campaign.gate };
    let header = gate.header(campaign.rules, 1, None, None, 5);
    let create = CreateMatch { kind: JobKind::Match, header, gate };
    let job = bench.service.store.run(NOW, create).await.unwrap().0;
    let play = |first: i64, pairs: Vec<u8>| {
        // All machines are Ann's.
        stage::sql(&bench, stage::shards(job, 1 + first / 16, first, &pairs, NOW.0 + first * 1_000, [1; 10]))
    };
    play(0, stage::pairs(64, 3, 10)).await;

    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/matches/{job}", bench.address)).await;
    assert_eq!(browser.text("#decision").await, "undecided");
    browser.wait_for("#standing", "64").await;
    // The stream is open: the page follows changes from now on.
    browser.wait_for("body.watching", "").await;
    browser.run("window.kept = 'the page was not loaded again'").await;
    let before = Shown::read(&browser).await;
    assert!(before.llr > before.low && before.llr < before.high, "{before:?}");
    play(128, [4, 3, 3, 2, 4, 3, 3, 3].repeat(40)).await;
    bench.clock.advance(10_000);
    bench.step().await;
    browser.wait_for("#decision", "stronger").await;
    browser.wait_for("#standing", "closed").await;
    // Everything changed: the curve reached a bound, and figures and bars hold more pairs.
    let after = Shown::read(&browser).await;
    assert!(after.llr >= after.high, "{after:?}");
    assert!(after.points > before.points && after.pairs > before.pairs && after.elo != before.elo, "{after:?}");
    assert_ne!(after.bars, before.bars);
    assert!(before.figures.contains("Games left") && !after.figures.contains("Games left"), "{after:?}");
    assert_eq!(browser.run("return window.kept").await, json!("the page was not loaded again"));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn all_pages_work_without_scripts() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(Look { scripts: false, ..DESKTOP }).await;
    sign_in(&browser, &bench, "mei").await;
    for (path, says) in [
        ("", "yangtze"),
        ("/campaigns/yangtze", "perpetual check"),
        ("/matches/290", "river-walker"),
        ("/data", "perpetual chase"),
        ("/people", "old_general"),
        ("/people/cannon88", "Rank"),
        ("/campaigns", "yellow"),
        ("/matches", "stronger"),
        ("/nets", "yangtze-3"),
        (&format!("/nets/{}", stage::net(3)), "Family"),
        ("/workers", "cannon88"),
        ("/me", "My tokens"),
        ("/sprt", "Likelihood"),
        ("/admin", "Invite"),
        ("/admin/audits", "6040"),
        ("/admin/trust", "Forged games of a million"),
        ("/admin/events", "yangtze-5"),
        ("/admin/settings", "Games played again"),
    ] {
        browser.open(&format!("http://{}/en{path}", bench.address)).await;
        browser.wait_for("main", says).await;
    }
    assert!(!browser.has("body.watching").await, "scripts are off");
    browser.open(&format!("http://{}/en/matches/290", bench.address)).await;
    assert!(browser.has("figure svg path.series").await, "the curve is there");
    browser.open(&format!("http://{}/en/data", bench.address)).await;
    for figure in ["#scores", "#pieces"] {
        assert!(browser.has(&format!("{figure} svg rect.bar")).await, "{figure} is there");
    }
    browser.open(&format!("http://{}/en/campaigns/pearl", bench.address)).await;
    browser.click("button[value=pause]").await;
    browser.wait_for("#state", "paused").await;
    // Confirmation is a summary, which needs no script either.
    browser.open(&format!("http://{}/en/nets/{}", bench.address, stage::net(6))).await;
    browser.click("#promote summary").await;
    browser.click("#promote[open] button").await;
    browser.wait_for("#state", "generation 6").await;
    browser.click("#state details:has(#reason) summary").await;
    browser.write("#reason", "it plays the wrong openings").await;
    browser.click("#state details:has(#reason) button").await;
    browser.wait_for("#state", "generation 7").await;
}

/// The hosts of a page's requests.
pub(crate) async fn hosts(browser: &Browser) -> Vec<String> {
    let requested =
        browser.run("return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)").await;
    let requested = requested.as_array().cloned().unwrap_or_default();
    requested.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}
