//! Pages that follow what happens: what they show when they were hidden, refused, or busy with somebody meanwhile.

use coordinator::{campaigns, store::Store as _};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, NOW},
    driver::{Browser, DESKTOP},
    is_skipped,
    paging::{PASSWORD, Visitor},
    stage,
};

/// Makes a campaign, and nothing else: what changes, changes at one moment.
async fn begin(bench: &Bench, name: &str) {
    let text = CAMPAIGN.replace("name = \"quick\"", &format!("name = \"{name}\""));
    let made = bench.service.store.write(move |mut c| {
        let text = text.clone();
        Box::pin(async move { campaigns::create(&mut c, NOW, &text, None).await })
    });
    made.await.unwrap();
}

/// Another line of the same page, which says when something was told.
const HEAR: &str = "window.told = 0;
     new EventSource('/api/v1/live').addEventListener('changed', () => { window.told += 1; })";

#[tokio::test]
async fn a_page_that_was_hidden_shows_what_it_missed() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/campaigns", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    browser.run(HEAR).await;
    browser
        .run("Object.defineProperty(document, 'hidden', { get: () => Boolean(window.away) }); window.away = true;")
        .await;
    // The browser has not told of it yet: the line stands, and what it tells waits.
    begin(&bench, "mekong").await;
    browser.wait_until("return window.told > 0").await;
    // Longer than it takes to fetch what is told to a page that is seen.
    let fetches = "return performance.getEntriesByType('resource').filter((it) => it.initiatorType === 'fetch').length";
    browser.run_until("setTimeout(arguments[arguments.length - 1], 3000)").await;
    assert_eq!(browser.run(fetches).await, json!(0), "nobody looks");
    browser.run("window.away = false; document.dispatchEvent(new Event('visibilitychange'))").await;
    browser.wait_for("#campaigns", "mekong").await;

    // The same where something in the part was held.
    browser.run("document.querySelector('#campaigns .table').focus(); window.told = 0").await;
    begin(&bench, "salween").await;
    browser.wait_until("return window.told > 0").await;
    browser.run_until("setTimeout(arguments[arguments.length - 1], 3000)").await;
    assert!(!browser.text("#campaigns").await.contains("salween"), "what is held stays");
    browser.run("document.activeElement.blur()").await;
    browser.wait_for("#campaigns", "salween").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn all_that_is_due_is_fetched_at_once() {
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
async fn a_page_that_was_refused_asks_again_and_sees_what_it_missed() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    // Refused as a coordinator with too many watchers does it: with a status that browsers take for the end.
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

/// Waits until so many pages hold a line.
async fn watched_by(bench: &Bench, lines: usize) {
    for _ in 0..600 {
        if bench.service.pages.live.watchers() == lines {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{} lines are held, not {lines}", bench.service.pages.live.watchers());
}

/// Browsers open six lines to one server, and all tabs share them.
#[tokio::test]
async fn a_tab_that_nobody_sees_holds_no_line() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/campaigns", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    watched_by(&bench, 1).await;
    let see = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => AWAY });
               document.dispatchEvent(new Event('visibilitychange'))";
    browser.run(&see.replace("AWAY", "true")).await;
    watched_by(&bench, 0).await;
    begin(&bench, "mekong").await;
    browser.run(&see.replace("AWAY", "false")).await;
    watched_by(&bench, 1).await;
    browser.wait_for("#campaigns", "mekong").await;
}

/// Counts the curves that are drawn from now on, and those that end.
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
        bench.service.pages.live.tell("changed", r#"["games"]"#);
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
async fn what_is_set_aside_is_seen_on_pages_that_count_games() {
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
async fn who_reads_one_part_of_a_page_sees_the_others_go_on() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    stage::fill(&bench).await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/matches/290", bench.address)).await;
    browser.wait_for("body.watching", "").await;
    browser.run("document.querySelector('#by-worker .table').focus(); document.querySelectorAll('[data-follow]').forEach((it) => { it.dataset.old = 'yes'; })").await;
    bench.service.pages.live.tell("changed", r#"["games"]"#);
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
