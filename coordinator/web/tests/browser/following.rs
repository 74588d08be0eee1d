//! Pages that follow changes: after being hidden, rejected, or in use.

use coordinator_core::ops::campaigns::CreateCampaign;
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, NOW},
    driver::{Browser, DESKTOP},
    is_skipped,
    paging::{PASSWORD, Visitor},
    stage,
};

/// Creates a campaign and nothing else: one change at one instant.
async fn begin(bench: &Bench, name: &str) {
    let text = CAMPAIGN.replace("name = \"quick\"", &format!("name = \"{name}\""));
    bench.service.store.run(NOW, CreateCampaign { text, by: None }).await.unwrap();
}

/// A second stream of the same page, which counts events.
const COUNT_EVENTS: &str = "window.events = 0;
     new EventSource('/api/v1/live').addEventListener('changed', () => { window.events += 1; })";

#[tokio::test]
async fn a_page_that_was_hidden_shows_the_missed_changes() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/campaigns", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    browser.run(COUNT_EVENTS).await;
    browser
        .run("Object.defineProperty(document, 'hidden', { get: () => Boolean(window.away) }); window.away = true;")
        .await;
    // The browser has not fired the event yet: the stream stays open, and updates wait.
    begin(&bench, "mekong").await;
    browser.wait_until("return window.events > 0").await;
    // Longer than a visible page takes to fetch an update.
    let fetches = "return performance.getEntriesByType('resource').filter((it) => it.initiatorType === 'fetch').length";
    browser.run_until("setTimeout(arguments[arguments.length - 1], 3000)").await;
    assert_eq!(browser.run(fetches).await, json!(0), "the page is hidden");
    browser.run("window.away = false; document.dispatchEvent(new Event('visibilitychange'))").await;
    browser.wait_for("#campaigns", "mekong").await;

    // The same for a part that has the focus.
    browser.run("document.querySelector('#campaigns .table').focus(); window.events = 0").await;
    begin(&bench, "salween").await;
    browser.wait_until("return window.events > 0").await;
    browser.run_until("setTimeout(arguments[arguments.length - 1], 3000)").await;
    assert!(!browser.text("#campaigns").await.contains("salween"), "a focused part stays");
    browser.run("document.activeElement.blur()").await;
    browser.wait_for("#campaigns", "salween").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn all_stale_parts_are_fetched_at_once() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    begin(&bench, "mekong").await;
    browser.wait_for("#now", "mekong").await;
    browser.wait_for("#events", "mekong").await;
    let fetched = "return performance.getEntriesByType('resource').filter((it) => it.name === location.href).length";
    assert_eq!(browser.run(fetched).await, json!(1), "two parts of one page");
}

#[tokio::test]
async fn a_rejected_page_retries_and_shows_the_missed_changes() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    // Rejected as by a coordinator with too many listeners: with a status that ends an
    // `EventSource`.
    let refusing = "const Real = window.EventSource; window.refuses = true; window.refused = 0;
         window.EventSource = function (address) {
           if (window.refuses) window.refused += 1;
           return new Real(window.refuses ? '/api/v1/nothing-here' : address);
         };
         window.EventSource.CLOSED = Real.CLOSED;";
    browser.developer("Page.enable", json!({})).await;
    browser.developer("Page.addScriptToEvaluateOnNewDocument", json!({ "source": refusing })).await;
    browser.open(&format!("http://{}/en/campaigns", bench.address)).await;
    browser.wait_until("return window.refused > 1").await;
    begin(&bench, "mekong").await;
    assert_eq!(browser.run("return document.body.classList.contains('watching')").await, Value::Bool(false));
    browser.run("window.refuses = false").await;
    browser.wait_for("#campaigns", "mekong").await;
}

/// Waits until `lines` pages hold a stream.
async fn has_streams(bench: &Bench, lines: usize) {
    for _ in 0..600 {
        if bench.service.pages.live.listeners() == lines {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{} streams are open, not {lines}", bench.service.pages.live.listeners());
}

/// Browsers open six connections to one server, shared by all tabs.
#[tokio::test]
async fn a_hidden_tab_holds_no_stream() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/campaigns", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    has_streams(&bench, 1).await;
    let see = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => AWAY });
               document.dispatchEvent(new Event('visibilitychange'))";
    browser.run(&see.replace("AWAY", "true")).await;
    has_streams(&bench, 0).await;
    begin(&bench, "mekong").await;
    browser.run(&see.replace("AWAY", "false")).await;
    has_streams(&bench, 1).await;
    browser.wait_for("#campaigns", "mekong").await;
}

/// Counts charts drawn and destroyed from now on.
const COUNT: &str = "const Real = window.uPlot; window.drawn = 0; window.ended = 0;
     window.uPlot = function (...all) {
       const plot = new Real(...all); window.drawn += 1;
       const destroy = plot.destroy; plot.destroy = () => { window.ended += 1; destroy.call(plot); };
       return plot;
     };
     document.querySelectorAll('figure[data-chart]').forEach((it) => { it.dataset.old = 'yes'; })";

#[tokio::test]
async fn a_chart_that_is_replaced_leaves_nothing_behind() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/matches/290", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    browser.wait_until("return document.querySelectorAll('.uplot').length === 1").await;
    browser.run(COUNT).await;
    for _ in 0..3 {
        bench.service.pages.live.send("changed", r#"["games"]"#);
        let again = "const old = document.querySelector('figure[data-old]');
                     if (old) return false;
                     document.querySelectorAll('figure[data-chart]').forEach((it) => { it.dataset.old = 'yes'; });
                     return document.querySelectorAll('.uplot').length === 1";
        browser.wait_until(again).await;
    }
    let counted = browser.run("return [window.drawn, window.drawn - window.ended]").await;
    assert_eq!(counted, json!([3, 1]), "one is there, the others ended");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn quarantined_games_change_pages_that_count_games() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/data", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    let before = [browser.text("#states").await, browser.text("#set-aside").await];
    let mut mei = Visitor::new(&bench);
    mei.sign_in("mei", PASSWORD).await;
    let form = mei.form("/en/me").await;
    let fields = [("form", form.as_str()), ("action", "quarantine"), ("reason", "a test")];
    let done = mei.post("/en/admin/users/cannon88", &fields).await;
    assert_eq!(done.status, reqwest::StatusCode::SEE_OTHER, "{}", done.text);
    for (part, before) in ["#states", "#set-aside"].iter().zip(before) {
        let differs = format!("return document.querySelector('{part}').innerText !== {}", json!(before));
        browser.wait_until(&differs).await;
    }
}

#[tokio::test]
async fn other_parts_update_while_one_is_in_use() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/matches/290", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    browser.run("document.querySelector('#by-worker .table').focus(); document.querySelectorAll('[data-follow]').forEach((it) => { it.dataset.old = 'yes'; })").await;
    bench.service.pages.live.send("changed", r#"["games"]"#);
    browser
        .wait_until(
            "return !document.querySelector('#standing').dataset.old && !document.querySelector('#charts').dataset.old",
        )
        .await;
    assert_eq!(browser.run("return document.querySelector('#by-worker').dataset.old").await, json!("yes"));
    browser.run("document.activeElement.blur()").await;
    browser.wait_until("return !document.querySelector('#by-worker').dataset.old").await;
}

#[tokio::test]
async fn a_history_that_was_opened_stays_open_when_a_net_is_promoted() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    browser.click("#strength summary").await;
    browser.run("document.activeElement.blur()").await;
    let mut mei = Visitor::new(&bench);
    mei.sign_in("mei", PASSWORD).await;
    let form = mei.form("/en/me").await;
    let changed = bench.number("SELECT changed FROM campaigns WHERE name = 'yangtze'").await.to_string();
    let fields = [("form", form.as_str()), ("command", "promote"), ("changed", &changed)];
    let done = mei.post("/en/campaigns/yangtze/command", &fields).await;
    assert_eq!(done.status, reqwest::StatusCode::SEE_OTHER, "{}", done.text);
    browser.wait_for("#strength details[open]", "yangtze-6").await;
    browser.wait_until("return document.querySelectorAll('#strength .uplot').length === 1").await;
}
