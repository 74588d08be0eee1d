//! Pages that follow what happens: what they show when they were hidden, refused, or busy with somebody meanwhile.

use coordinator::{campaigns, store::Store as _};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, NOW},
    driver::{Browser, DESKTOP},
    is_skipped,
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

async fn wait(browser: &Browser, script: &str) {
    for _ in 0..300 {
        if browser.run(script).await == json!(true) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it is never so: {script}");
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
    begin(&bench, "mekong").await;
    wait(&browser, "return window.told > 0").await;
    // Longer than it takes to fetch what is told to a page that is seen.
    let fetches = "return performance.getEntriesByType('resource').filter((it) => it.initiatorType === 'fetch').length";
    browser.run_until("setTimeout(arguments[arguments.length - 1], 3000)").await;
    assert_eq!(browser.run(fetches).await, json!(0), "nobody looks");
    browser.run("window.away = false; document.dispatchEvent(new Event('visibilitychange'))").await;
    browser.wait_for("#campaigns", "mekong").await;

    // The same where something in the part was held.
    browser.run("document.querySelector('#campaigns .table').focus(); window.told = 0").await;
    begin(&bench, "salween").await;
    wait(&browser, "return window.told > 0").await;
    browser.run_until("setTimeout(arguments[arguments.length - 1], 3000)").await;
    assert!(!browser.text("#campaigns").await.contains("salween"), "what is held stays");
    browser.run("document.activeElement.blur()").await;
    browser.wait_for("#campaigns", "salween").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.end().await;
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
    browser.end().await;
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
    wait(&browser, "return window.refused > 1").await;
    begin(&bench, "mekong").await;
    assert_eq!(browser.run("return document.body.classList.contains('watching')").await, Value::Bool(false));
    browser.run("window.refuses = false").await;
    browser.wait_for("#campaigns", "mekong").await;
    browser.end().await;
}
