//! The engine in the visitor's browser, as WebAssembly. `scripts/wasm` builds it;
//! `CHUHE_SKIP_WASM=1` skips these tests where it cannot, with a message.

use std::{
    env, fs, io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use coordinator_web::engine::Engine;
use engine::{
    Settings, published,
    uci::{self, Setup},
};
use nnue::Kernel;
use protocol::api::work::{Role, Work};
use serde_json::{Value, json};

use crate::{
    bench::{Bench, CAMPAIGN, play, settings, shard},
    driver::{Browser, DESKTOP, PHONE},
    is_skipped,
    looking::keep,
};

/// The built module; none if these tests are skipped.
fn module() -> Option<Vec<u8>> {
    if is_skipped() {
        return None;
    }
    if env::var("CHUHE_SKIP_WASM").is_ok_and(|value| value == "1") {
        println!("SKIPPED: no WebAssembly, because CHUHE_SKIP_WASM=1");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    let path = target.join("npm/chuhe.wasm");
    Some(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; run scripts/wasm first", path.display())))
}

/// Waits until a script returns true. A browser plays slowly on a busy machine.
async fn wait_long(browser: &Browser, script: &str) {
    for _ in 0..60_000 {
        if browser.run(script).await == json!(true) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it is never so: {script}\n{}", browser.run("return document.body.innerText").await);
}

/// A visitor without a program plays a lease. Its games are validated, and an audit by another
/// account finds the same games.
#[tokio::test]
async fn a_browser_plays_a_lease_that_passes_its_audit() {
    let Some(module) = module() else { return };
    let bench = Bench::with_engine(settings(), Engine::new(module).unwrap()).await;
    bench.campaign(&CAMPAIGN.replace("positions = 400", "positions = 100_000_000")).await;
    let token = bench.account("vera", Role::Volunteer).await;
    let browser = Browser::start(PHONE).await;
    browser.open(&format!("http://{}/en", bench.address)).await;
    browser.click("#join a[href='/en/play']").await;
    browser.wait_for("h1", "Play games in this browser").await;
    browser.write("#token", &token).await;
    browser.click("form button.main").await;
    wait_long(&browser, "return document.querySelector('tbody [data-show=uploaded]').textContent !== '0'").await;
    keep(&browser, "play").await;
    browser.click("[data-do=stop]").await;
    wait_long(&browser, "return document.querySelector('tbody [data-state=finished]').hidden === false").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());

    bench.validate().await;
    let shown = browser.run("return Number(document.querySelector('tbody [data-show=uploaded]').textContent)").await;
    assert!(shown.as_i64().unwrap() > 0);
    assert_eq!(bench.number("SELECT SUM(games) FROM shards WHERE state = 'validated'").await, shown.as_i64().unwrap());
    assert_eq!(bench.number("SELECT COUNT(*) FROM shards WHERE state <> 'validated'").await, 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM leases WHERE state = 'active'").await, 0, "the rest is released");

    bench.execute("UPDATE shards SET audit = 'wanted'".to_owned()).await;
    let (ann, mut asked) = (bench.account("ann", Role::Volunteer).await, 0);
    let worker = bench.worker(&ann, "machine").await;
    while bench.number("SELECT COUNT(*) FROM shards WHERE audit = 'wanted' AND account = 1").await > 0 {
        bench.draw_auditors().await;
        asked += 1;
        assert!(asked < 200, "the audit is never leased");
        if let Work::Games(lease) = bench.ask(&ann, worker, &asked.to_string()).await.work {
            let games = shard(&lease.terms, &play(&lease.terms, lease.games));
            assert!(bench.upload(&ann, &lease, games).await.status().is_success());
        }
        bench.validate().await;
    }
    // Those of the auditor may be drawn for an audit themselves.
    let others = "SELECT COUNT(*) FROM shards WHERE audit NOT IN ('clean', 'none') AND account = 1";
    assert_eq!(bench.number(others).await, 0);
    assert!(bench.number("SELECT COUNT(*) FROM comparisons WHERE state = 'equal'").await > 0);
    assert_eq!(bench.number("SELECT COUNT(*) FROM comparisons WHERE state <> 'equal'").await, 0);
}

/// Output that a session's thread shares with the test.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines of the native engine, without what depends on the clock.
fn native(lines: &[&str]) -> Vec<String> {
    let kernel = Kernel::best();
    let evaluation = published::evaluation(kernel);
    let output = Output::default();
    let mut session =
        uci::Session::new(output.clone(), Setup::new(Settings { evaluation, ..Settings::default() }, kernel));
    for line in lines {
        assert!(session.execute_line(line).unwrap().is_continue());
    }
    session.finish();
    let written = output.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    String::from_utf8(written).unwrap().lines().map(without_times).collect()
}

fn without_times(line: &str) -> String {
    let mut words = Vec::new();
    let mut parts = line.split(' ');
    while let Some(word) = parts.next() {
        if word == "nps" || word == "time" {
            parts.next();
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The analysis begins when asked, follows the steps through the game, and says what the native
/// engine says after as many nodes.
#[tokio::test]
async fn a_position_is_analysed_in_the_browser_as_natively() {
    let Some(module) = module() else { return };
    let bench = Bench::with_engine(settings(), Engine::new(module).unwrap()).await;
    bench.campaign(CAMPAIGN).await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en/judge?moves=h2e2+h9g7&rules=wxf", bench.address)).await;
    assert_eq!(browser.run("return crossOriginIsolated").await, json!(true), "a search is stopped at once");
    let loaded = "return performance.getEntriesByType('resource').some((it) => it.name.includes('/engine/'))";
    assert_eq!(browser.run(loaded).await, json!(false), "nothing is loaded before it is asked");
    browser.click(".analysis [data-do=start]").await;
    let depth = "return Number(document.querySelector('.analysis tbody td')?.textContent ?? 0)";
    wait_long(&browser, &depth.replace("return ", "return 5 < ")).await;
    assert!(browser.has("svg .board-best").await);
    keep(&browser, "analysis").await;
    // One step back, another side is to move.
    browser.click(".viewer [data-step=back]").await;
    wait_long(
        &browser,
        &format!("{} && document.querySelector('svg .board-best') !== null", depth.replace("return ", "return 4 < ")),
    )
    .await;
    let from_black = "const y = document.querySelector('svg .board-best').getAttribute('y1'); return Number(y) < 250";
    wait_long(&browser, from_black).await;
    browser.click(".analysis [data-do=stop]").await;
    assert!(!browser.has("svg .board-best").await);
    assert_eq!(browser.complaints().await, Vec::<String>::new());

    let lines = ["position startpos moves h2e2 h9g7", "go nodes 20000"];
    let script = format!(
        "const done = arguments[0];
         const address = document.querySelector('.analysis').dataset.engine;
         import(`${{address}}/engine.js`).then(({{ Engine }}) => {{
           const written = [];
           const onLine = (line) => {{
             written.push(line);
             if (!line.startsWith('bestmove')) return;
             // A search that is stopped before it has begun ends too.
             engine.onLine = (line) => line.startsWith('bestmove') && done(written);
             engine.send('go infinite');
             engine.stop();
           }};
           const engine = new Engine({{ onLine, onError: done }});
           for (const line of {}) engine.send(line);
         }}, (error) => done(String(error)));",
        json!(lines)
    );
    let written = browser.run_until(&script).await;
    let written: Vec<String> = written
        .as_array()
        .unwrap_or_else(|| panic!("{written}"))
        .iter()
        .map(|line| without_times(Value::as_str(line).unwrap()))
        .collect();
    assert_eq!(written, native(&lines));
}
