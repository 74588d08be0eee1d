//! Games, the judge and live games in a browser.

use protocol::api::{path, work::Role};
use serde_json::{Value, json};

use crate::{
    bench::Bench,
    driver::{Browser, DESKTOP, Look},
    is_skipped, live_match,
    looking::{barriers, keep},
    rulebook,
};

/// Keys that are no letters, in `WebDriver` codes.
mod key {
    pub(super) const UP: &str = "\u{e013}";
    pub(super) const DOWN: &str = "\u{e015}";
    pub(super) const LEFT: &str = "\u{e012}";
    pub(super) const RIGHT: &str = "\u{e014}";
    pub(super) const PAGE_DOWN: &str = "\u{e00f}";
}

/// A browser at one coordinator.
struct Site {
    browser: Browser,
    address: String,
}

impl Site {
    async fn start(bench: &Bench, look: Look) -> Option<Self> {
        if is_skipped() {
            return None;
        }
        Some(Self { browser: Browser::start(look).await, address: format!("http://{}", bench.address) })
    }

    async fn go(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.address)).await;
    }

    /// The current address within the site.
    async fn at(&self) -> String {
        self.browser.address().await.strip_prefix(&self.address).unwrap().to_owned()
    }

    async fn run(&self, script: &str) -> Value {
        self.browser.run(script).await
    }

    async fn text(&self, css: &str) -> String {
        self.browser.text(css).await
    }

    async fn wait_for(&self, css: &str, text: &str) {
        self.browser.wait_for(css, text).await;
    }

    async fn click(&self, css: &str) {
        self.browser.click(css).await;
    }

    async fn keys(&self, css: &str, text: &str) {
        self.browser.keys(css, text).await;
    }

    /// Waits until a script returns true.
    async fn wait(&self, script: &str) {
        self.browser.wait_until(script).await;
    }

    async fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.browser.developer("Emulation.setEmulatedMedia", media).await;
    }

    async fn size(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.browser.developer("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Takes a screenshot, and checks accessibility.
    async fn picture(&self, name: &str) {
        keep(&self.browser, name).await;
        self.look_at(name).await;
    }

    /// Checks accessibility and the browser's log.
    async fn look_at(&self, name: &str) {
        assert_eq!(barriers(&self.browser).await, [""; 0], "{name}");
        assert_eq!(self.browser.complaints().await, [""; 0], "{name}");
    }
}

/// The position of Red's chariot in the picture.
const CHARIOT: &str = "const r = document.querySelector('.board-pieces use[href=\"#piece-R\"]'); \
                       return r.getAttribute('x') + ' ' + r.getAttribute('y')";

#[tokio::test]
async fn a_game_with_a_perpetual_chase_is_stepped_through_by_keys() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    browser.go(&format!("/en/games/{shard}/0")).await;
    assert!(browser.text(".verdict").await.contains("Black wins"));
    assert!(browser.text(".cycle-moves").await.contains("Red's chariot on h2 chases Black's cannon on h6"));
    browser.picture("game").await;
    browser.keys(".viewer-board", key::UP).await;
    assert_eq!(browser.run(CHARIOT).await, "530 462");
    assert_eq!(browser.text(".said").await, "Starting position");
    browser.keys("body", key::RIGHT).await;
    assert_eq!(browser.run(CHARIOT).await, "470 462");
    assert_eq!(browser.text(".said").await, "1 · i2h2 −0.60");
    assert_eq!(browser.text(".cycle-moves tr.now td").await, "1");
    let shown = "return [...document.querySelectorAll('.board-marks[display=inline]')].map(g => g.dataset.ply).join()";
    assert_eq!(browser.run(shown).await, "1");
    assert!(browser.at().await.ends_with("?ply=1"), "a step can be linked to: {}", browser.at().await);
    for _ in 0..3 {
        browser.keys("body", key::RIGHT).await;
    }
    browser.keys("body", key::LEFT).await;
    assert_eq!((browser.text("[data-now]").await.as_str(), browser.run(CHARIOT).await), ("3", json!("530 462")));
    browser.click(".move[data-ply='5']").await;
    assert!(browser.at().await.ends_with("?ply=5"));
    browser.keys(".viewer-board", key::DOWN).await;
    assert_eq!(browser.text("[data-now]").await, "8");
    // The script draws the same as the server.
    let drawn = "return document.querySelector('.board-pieces').innerHTML.replace(/><\\/use>/g, '/>')";
    browser.keys("body", key::LEFT).await;
    let by_script = browser.run(drawn).await;
    browser.go(&browser.at().await).await;
    assert_eq!(browser.run(drawn).await, by_script);
    // Flipping keeps the ply.
    browser.keys("body", "f").await;
    browser.wait("return document.querySelector('.viewer').dataset.flipped === 'true'").await;
    assert_eq!(browser.text("[data-now]").await, "7");
    // The other language starts at the current ply, which is newer than the link.
    browser.go(&format!("/en/games/{shard}/0")).await;
    browser.keys("body", key::LEFT).await;
    browser.click(".who a[hreflang]").await;
    browser.wait("return document.documentElement.lang === 'zh-Hans'").await;
    assert_eq!(browser.text("[data-now]").await, "7");
    browser.dark(true).await;
    browser.go(&format!("/zh/games/{shard}/1?ply=3")).await;
    assert!(browser.text(".verdict").await.contains("长将"));
    browser.picture("game-dark-zh").await;
}

#[tokio::test]
async fn keys_scroll_the_page_where_they_do_not_step() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    browser.size(1_000, 400).await;
    for page in [format!("/en/games/{shard}/0?ply=3"), "/en/judge?moves=h2e2+h9g7+h0g2&ply=3".to_owned()] {
        browser.go(&page).await;
        browser.keys("body", key::PAGE_DOWN).await;
        browser.wait("return window.scrollY > 100").await;
        assert_eq!(browser.text("[data-now]").await, "3", "the page scrolls, the game stays: {page}");
        // A focused list scrolls by its keys.
        browser.keys(".movelist", key::UP).await;
        browser.keys(".movelist", key::LEFT).await;
        assert_eq!(browser.text("[data-now]").await, "3", "{page}");
        browser.keys(".viewer-board", key::UP).await;
        assert_eq!(browser.text("[data-now]").await, "0", "the board takes them: {page}");
    }
}

#[tokio::test]
async fn without_a_script_every_step_is_a_link() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let Some(browser) = Site::start(&bench, Look { scripts: false, ..DESKTOP }).await else { return };
    browser.go(&format!("/en/games/{shard}/0?ply=0")).await;
    browser.click("[data-step=on]").await;
    browser.wait_for("[data-now]", "1").await;
    assert!(browser.at().await.ends_with("?ply=1"));
    browser.click(".move[data-ply='6']").await;
    browser.wait_for("[data-now]", "6").await;
    browser.click("[data-step=last]").await;
    browser.wait_for(".said", "8 · i6h6").await;
    // The judge steps by sending its form.
    browser
        .go(&format!(
            "/en/judge?fen={}&moves={}",
            rulebook::CHECK.0.replace(' ', "+"),
            rulebook::CHECK.1.replace(' ', "+")
        ))
        .await;
    browser.click("[data-step=back]").await;
    browser.wait_for("[data-now]", "7").await;
    assert!(browser.text(".verdict").await.contains("perpetual check"));
    // Pasted moves get a short address.
    browser.go("/en/judge").await;
    browser.keys("#moves", "1. 炮二平五 马8进7").await;
    browser.click("form.judge button").await;
    assert_eq!(browser.text("[data-now]").await, "2");
    assert!(browser.at().await.contains("moves=h2e2+h9g7"), "{}", browser.at().await);
    // Many games become a list, which leads to their boards.
    browser.go("/en/judge").await;
    browser.keys("#moves", "1. h2e2 h9g7 *\n1. C2=5 H8+7 2. H2+3 1-0\n").await;
    browser.click("form.judge button").await;
    browser.wait_for(".judged tbody tr:nth-child(2) .state", "undecided").await;
    browser.click(".judged tbody tr:nth-child(2) a").await;
    browser.wait_for("[data-now]", "3").await;
}

#[tokio::test]
async fn a_pasted_position_is_judged() {
    let bench = Bench::start().await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    browser.go("/en/judge").await;
    browser.picture("judge").await;
    let (fen, moves) = rulebook::ALLOWED;
    browser.keys("#fen", fen).await;
    browser.keys("#moves", moves).await;
    browser.click("form.judge button").await;
    browser.wait("return document.querySelector('.verdict') !== null").await;
    assert!(browser.text(".verdict").await.starts_with("Draw"));
    assert!(browser.text(".verdict").await.contains("neither side did anything forbidden on all of its moves"));
    browser.picture("judge-allowed").await;
    // In a field, keys are letters; elsewhere they step without a page load.
    browser.run("window.same = true").await;
    browser.keys("#moves", key::LEFT).await;
    assert_eq!(browser.text("[data-now]").await, "8");
    browser.run("document.activeElement.blur()").await;
    browser.keys("body", key::LEFT).await;
    assert_eq!(
        (browser.text("[data-now]").await.as_str(), browser.run("return window.same").await),
        ("7", json!(true))
    );
    browser.click(".cycle-moves button[data-ply='2']").await;
    assert_eq!(
        (browser.text("[data-now]").await.as_str(), browser.run("return window.same").await),
        ("2", json!(true))
    );
    // Flipping keeps the ply.
    browser.run("document.activeElement.blur()").await;
    browser.keys("body", "f").await;
    browser.wait("return document.querySelector('.viewer').dataset.flipped === 'true'").await;
    assert_eq!(browser.text("[data-now]").await, "2");
    // An example of the rulebook in Chinese, then unreadable input.
    browser.go("/zh/judge").await;
    browser.click(".examples li:nth-child(9) a").await;
    browser.wait("return document.querySelector('.cycle-moves') !== null").await;
    assert!(browser.text(".cycle-moves tfoot").await.contains("长捉被己方马牵制的车"));
    browser.picture("judge-zh").await;
    browser.go("/zh/judge?moves=h2e2+b0b3").await;
    assert!(browser.text(".fault").await.starts_with("第2步："));
}

#[tokio::test]
async fn a_file_of_games_is_judged() {
    let bench = Bench::start().await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    let file = std::env::temp_dir().join(format!("judge-{}.pgn", std::process::id()));
    let outside = include_str!("../../../../crates/dataset/tests/data/pgn/cutechess.pgn");
    let (fen, moves) = rulebook::CHECK;
    let differs = format!("[Red \"one\"]\n[Black \"two\"]\n[FEN \"{fen}\"]\n\n{moves} 1-0\n\n1. h2e2 h9g5 *\n");
    std::fs::write(&file, format!("{outside}{differs}")).unwrap();
    browser.go("/en/judge").await;
    browser.keys("#pgn", file.to_str().unwrap()).await;
    browser.click("form.judge button").await;
    browser.wait_for(".judged h2", "Judged games").await;
    assert!(browser.text(".judged .figures").await.contains('6'));
    let row = browser.text(".judged tbody tr:nth-child(5)").await;
    assert!(row.contains("one – two") && row.contains("perpetual check") && row.ends_with("differs"), "{row}");
    assert!(browser.text(".judged tbody tr:nth-child(6)").await.contains("refused"));
    browser.picture("judge-list").await;
    browser.size(375, 812).await;
    browser.picture("judge-list-phone").await;
    browser.size(1_280, 900).await;
    browser.click(".judged tbody tr:nth-child(5) a").await;
    browser.wait_for("[data-now]", "8").await;
    assert!(browser.text(".verdict").await.contains("perpetual check"));
    browser.dark(true).await;
    browser.go("/zh/judge").await;
    browser.keys("#pgn", file.to_str().unwrap()).await;
    browser.click("form.judge button").await;
    browser.wait_for(".judged h2", "裁决结果").await;
    browser.picture("judge-list-zh").await;
    // The parts of a text that are not used are named.
    browser.dark(false).await;
    browser.go("/en/judge").await;
    browser.keys("#moves", "1. C2=5 {solid}, H8+7; 2. H2+3! 1-0").await;
    browser.click("form.judge button").await;
    browser.wait_for("[data-now]", "3").await;
    browser.click(".notes summary").await;
    assert!(browser.text(".notes").await.contains("comment `{solid}` at line 1, column 9"));
    browser.picture("judge-notes").await;
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_live_game_is_seen_without_a_page_load() {
    let bench = Bench::start().await;
    let job = live_match::begin(&bench).await;
    let (boss, ann) = (bench.account("boss", Role::Maintainer).await, bench.account("ann", Role::Volunteer).await);
    let worker = bench.worker(&ann, "one").await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    browser.go("/en/live-game").await;
    assert!(browser.text(".live").await.contains("No game is shown live"));
    bench.post(&format!("/api/v1/matches/{job}/live"), &boss, &json!({})).await;
    let lease = bench.lease(&ann, worker, "watched").await;
    let show = async |moves: &str, variation: &str| {
        bench.clock.advance(1_500);
        let variation = variation.to_owned();
        let live = protocol::api::work::Live { variation, ..live_match::live(&lease, moves) };
        assert!(bench.post(&path::live(&lease.token), &ann, &live).await.status().is_success());
    };
    show("h2e2", "h9g7 h0g2").await;
    browser.wait("return document.querySelectorAll('.live svg.board').length === 1").await;
    show("h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 g3g4", "c6c5 b0c2").await;
    show("h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 g3g4 c6c5", "b0c2 h7i7 h0h9 g7h9 b2b4").await;
    browser.wait("return document.querySelector('.live .moves').innerText.includes('c6c5')").await;
    assert!(browser.text(".live .engine.red").await.contains("thinks"));
    let engines = browser.text(".live .engines").await;
    // Black's report is two moves old, and stays.
    assert!(engines.contains("+0.31") && engines.contains("−0.31"), "{engines}");
    browser.picture("live-game").await;
    // A list scrolled back keeps its position; one at its end follows the game.
    let list = "const list = document.querySelector('.live .movelist');";
    browser.run(&format!("{list} list.style.maxHeight = '2rem'; list.focus(); list.scrollTop = 0")).await;
    let reads = format!("{list} return [document.activeElement === list, list.scrollTop, list.dataset.same]");
    browser.run(&format!("{list} list.dataset.same = 'yes'")).await;
    let moves = "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 g3g4 c6c5 b0c2 h7i7";
    show(moves, "h0h9 g7h9").await;
    browser.wait("return document.querySelector('.live .moves').innerText.includes('h7i7')").await;
    assert_eq!(browser.run(&reads).await, json!([true, 0, "yes"]));
    browser.run(&format!("{list} list.scrollTop = list.scrollHeight")).await;
    show(&format!("{moves} h0h9"), "g7h9").await;
    browser.wait("return document.querySelector('.live .moves').innerText.includes('h0h9')").await;
    let at_end = "return list.scrollTop > 0 && list.scrollTop + list.clientHeight >= list.scrollHeight - 4";
    assert_eq!(browser.run(&format!("{list} {at_end}")).await, json!(true));
    browser.run(&format!("{list} list.style.maxHeight = ''; list.blur()")).await;
    browser.size(390, 844).await;
    browser.picture("live-game-phone").await;
    browser.size(1280, 900).await;
    browser.dark(true).await;
    browser.go("/zh/live-game").await;
    assert!(browser.text(".live .board").await.contains("漢 界"));
    browser.picture("live-game-dark-zh").await;
}

#[tokio::test]
async fn a_live_game_under_a_clock_shows_the_remaining_time() {
    let bench = Bench::start().await;
    let (boss, ann) = (bench.account("boss", Role::Maintainer).await, bench.account("ann", Role::Volunteer).await);
    let wanted = json!({ "clock": { "time": { "game": { "base_milliseconds": 300_000, "increment_milliseconds": 3_000 } } }, "pairs": 2 });
    let made = bench.post("/api/v1/matches/timed", &boss, &wanted).await;
    let made: Value = crate::bench::read(made).await;
    let job = made["job"].as_i64().unwrap();
    let worker = bench.worker(&ann, "one").await;
    let trust = bench.post(&format!("/api/v1/workers/{worker}/trust"), &boss, &json!({ "trusted": true })).await;
    assert!(trust.status().is_success());
    bench.post(&format!("/api/v1/matches/{job}/live"), &boss, &json!({})).await;
    let lease = bench.lease(&ann, worker, "watched").await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    browser.go("/en/live-game").await;
    for (moves, variation, remaining, score) in [
        ("h2e2 h9g7 h0g2 i9h9 i0h0 b9c7", "g3g4 c6c5 b0c2", [251_400, 277_000], 24),
        ("h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 g3g4", "c6c5 b0c2 h7i7", [254_400, 12_300], -19),
    ] {
        bench.clock.advance(1_500);
        let live = live_match::live(&lease, moves);
        let live = protocol::api::work::Live {
            variation: variation.to_owned(),
            remaining: Some(remaining),
            score: Some(score),
            ..live
        };
        let answer = bench.post(&path::live(&lease.token), &ann, &live).await;
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    }
    browser.wait("return document.querySelectorAll('.live .moves li').length === 4").await;
    assert!(browser.text(".live .engine.red").await.contains("4:14"));
    assert!(browser.text(".live .engine.black").await.contains("0:12.3"));
    assert!(browser.text(".live .engines tr.red").await.contains("+0.24"));
    assert!(browser.text(".live .engines tr.black").await.contains("+0.19"), "seen from Red");
    browser.picture("live-game-timed").await;
}

#[tokio::test]
async fn nothing_is_wider_than_a_phone() {
    let bench = Bench::start().await;
    let shard = rulebook::keep(&bench, "closed").await;
    let Some(browser) = Site::start(&bench, DESKTOP).await else { return };
    let judged =
        format!("/judge?fen={}&moves={}", rulebook::CHASE.0.replace(' ', "+"), rulebook::CHASE.1.replace(' ', "+"));
    let pages =
        ["/games".to_owned(), format!("/games/{shard}"), format!("/games/{shard}/0"), judged, "/live-game".to_owned()];
    for (name, width, dark) in [("phone", 360, false), ("wide", 1200, true)] {
        browser.size(width, 800).await;
        browser.dark(dark).await;
        for (index, page) in pages.iter().enumerate() {
            let language = if index % 2 == 0 { "en" } else { "zh" };
            browser.go(&format!("/{language}{page}")).await;
            let wider = browser.run("return document.documentElement.scrollWidth - window.innerWidth").await;
            assert!(wider.as_i64().unwrap() <= 0, "{page} is {wider} pixels too wide");
            let nameless = "return [...document.querySelectorAll('a, button, input, select, textarea')].filter(e => \
                            e.type !== 'hidden' && !e.innerText.trim() && !e.getAttribute('aria-label') && \
                            !(e.labels && e.labels.length)).length";
            assert_eq!(browser.run(nameless).await, json!(0), "{page}: everything has a name");
            let shown = ["games", "shard", "game", "judge", "live-none"][index];
            match (shown, name) {
                ("live-none", _) => browser.look_at(shown).await,
                (_, "phone") => browser.picture(&format!("{shown}-phone")).await,
                ("shard", _) => browser.picture("shard-dark-zh").await,
                _ => browser.look_at(shown).await,
            }
        }
    }
}
