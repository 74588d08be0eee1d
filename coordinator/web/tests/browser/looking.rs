//! The look of the pages: on desktops and phones, in light and dark, in both languages; and their
//! accessibility.

use std::{fs, path::PathBuf};

use coordinator_core::settings::Settings;
use protocol::api::{path, work::Role};
use serde_json::json;

use crate::{
    bench::{Bench, CAMPAIGN, settings},
    doing::hosts,
    driver::{Browser, DESKTOP, Look, PHONE},
    is_skipped, live_match,
    paging::PASSWORD,
    rulebook, stage,
};

const AXE: &str = include_str!("axe.min.js");

/// Every page with its picture's name.
fn pages() -> Vec<(&'static str, String)> {
    let fixed = [
        ("home", ""),
        ("campaigns", "/campaigns"),
        ("campaign", "/campaigns/yangtze"),
        ("campaign-stuck", "/campaigns/yellow"),
        ("campaign-new", "/campaigns/new"),
        ("campaign-edit", "/campaigns/yangtze/edit"),
        ("net-candidate", "CANDIDATE"),
        ("matches", "/matches"),
        ("match", "/matches/290"),
        ("match-over", "/matches/289"),
        ("match-openings", "/matches/289/openings"),
        ("nets", "/nets"),
        ("data", "/data"),
        ("workers", "/workers"),
        ("people", "/people"),
        ("person", "/people/cannon88"),
        ("me", "/me"),
        ("sprt", "/sprt"),
        ("tour", "/tour"),
        ("games", "/games"),
        ("judge-form", "/judge"),
        ("judge-verdict", "/judge?fen=3k5/9/9/9/9/9/9/9/1cr2Rn2/3AK4+w&moves=d0e1+c1c2+e1d0+c2c1+d0e1+c1c2+e1d0+c2c1"),
        ("live-game-none", "/live-game"),
        ("admin-users", "/admin"),
        ("admin-audits", "/admin/audits"),
        ("admin-trust", "/admin/trust"),
        ("admin-events", "/admin/events"),
        ("admin-settings", "/admin/settings"),
        ("error", "/nothing-here"),
    ];
    let place = |path: &str| if path == "CANDIDATE" { format!("/nets/{}", stage::net(6)) } else { path.to_owned() };
    let mut pages: Vec<_> = fixed.into_iter().map(|(name, path)| (name, place(path))).collect();
    pages.push(("net", format!("/nets/{}", stage::net(3))));
    pages
}

async fn sign_in(browser: &Browser, bench: &Bench) {
    browser.open(&format!("http://{}/en/sign-in", bench.address)).await;
    browser.write("#name", "mei").await;
    browser.write("#password", PASSWORD).await;
    browser.click("main form button").await;
    browser.wait_for(".who", "mei").await;
}

/// Keeps a screenshot, if a folder is given.
pub(crate) async fn keep(browser: &Browser, name: &str) {
    let Ok(folder) = std::env::var("CHUHE_SCREENSHOTS") else { return };
    fs::create_dir_all(&folder).unwrap();
    let bytes = unpacked(&browser.picture().await);
    fs::write(PathBuf::from(folder).join(format!("{name}.png")), bytes).unwrap();
}

/// Decodes base64.
fn unpacked(text: &str) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|known| *known == letter).expect("it is base64");
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// Accessibility violations found by axe-core, also in closed details.
pub(crate) async fn barriers(browser: &Browser) -> Vec<String> {
    browser.run(AXE).await;
    let open =
        "document.querySelectorAll('details:not([open])').forEach((it) => { it.open = true; it.dataset.shut = ''; })";
    browser.run(open).await;
    let found = found(browser).await;
    let shut =
        "document.querySelectorAll('details[data-shut]').forEach((it) => { it.open = false; delete it.dataset.shut; })";
    browser.run(shut).await;
    found
}

async fn found(browser: &Browser) -> Vec<String> {
    let found = browser
        .run_until(
            "const done = arguments[arguments.length - 1];
             axe.run(document, { resultTypes: ['violations'] }).then((all) => done(all.violations
               .filter((it) => it.impact === 'serious' || it.impact === 'critical')
               .map((it) => it.id + ': ' + it.help + ' ' + it.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | '))),
               (error) => done(['axe failed: ' + error]));",
        )
        .await;
    found.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// A coordinator that names the source of its programs.
async fn bench_with_source() -> Bench {
    let source = Some("https://git.example.org/xiangqi/chuhe.git".to_owned());
    Bench::with(Settings { source, ..settings() }).await
}

/// Checks every page, and gathers all faults.
async fn look(look: Look, language: &str, suffix: &str, kept: &[&str]) {
    let bench = bench_with_source().await;
    stage::fill(&bench).await;
    // Shards with viewable games.
    rulebook::keep(&bench, "closed").await;
    stage::openings(&bench).await;
    let browser = Browser::start(look).await;
    let mut wrong = Vec::new();
    browser.open(&format!("http://{}/{language}/sign-in", bench.address)).await;
    if kept.contains(&"sign-in") {
        keep(&browser, &format!("sign-in{suffix}")).await;
    }
    wrong.extend(barriers(&browser).await.into_iter().map(|it| format!("sign-in: {it}")));
    browser.open(&format!("http://{}/{language}/register", bench.address)).await;
    if kept.contains(&"register") {
        keep(&browser, &format!("register{suffix}")).await;
    }
    wrong.extend(barriers(&browser).await.into_iter().map(|it| format!("register: {it}")));
    sign_in(&browser, &bench).await;
    let host = bench.address.to_string();
    for (name, path) in pages() {
        browser.open(&format!("http://{host}/{language}{path}")).await;
        let wide =
            browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
        if wide.as_i64() != Some(0) {
            let culprits = browser
                .run("return [...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > innerWidth + 1
                      && !it.closest('.table, pre, svg')).slice(0, 3).map((it) => it.outerHTML.slice(0, 120)).join(' | ')")
                .await;
            wrong.push(format!("{name} is {wide} pixels too wide: {culprits}"));
        }
        wrong.extend(
            hosts(&browser)
                .await
                .into_iter()
                .filter(|other| *other != host)
                .map(|other| format!("{name} requests {other}")),
        );
        // The judge's form is kept by the test that fills it in.
        if kept.contains(&name) || (kept.is_empty() && name != "judge-form") {
            keep(&browser, &format!("{name}{suffix}")).await;
        }
        wrong.extend(barriers(&browser).await.into_iter().map(|it| format!("{name}: {it}")));
        // The missing page is an error on purpose.
        let complaints = browser.complaints().await;
        wrong.extend(complaints.into_iter().filter(|_| name != "error").map(|it| format!("{name}: {it}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn pages_look_right_on_a_desktop() {
    if !is_skipped() {
        look(DESKTOP, "en", "", &[]).await;
    }
}

#[tokio::test]
async fn pages_look_right_in_the_dark() {
    if !is_skipped() {
        look(Look { dark: true, ..DESKTOP }, "en", "-dark", &["home", "campaign", "match", "net", "data"]).await;
    }
}

#[tokio::test]
async fn pages_look_right_on_a_phone() {
    if !is_skipped() {
        look(
            PHONE,
            "en",
            "-phone",
            &["home", "tour", "campaign", "match", "net", "data", "person", "sign-in", "register"],
        )
        .await;
    }
}

#[tokio::test]
async fn pages_look_right_in_chinese() {
    if !is_skipped() {
        look(
            DESKTOP,
            "zh",
            "-zh",
            &["home", "campaign", "match", "data", "workers", "admin-events", "admin-settings", "sign-in"],
        )
        .await;
    }
}

/// The home page of a new, empty server, and of one at work, as visitors see it.
#[tokio::test]
async fn home_looks_right_to_a_visitor() {
    if is_skipped() {
        return;
    }
    let (new, busy) = (Bench::start().await, bench_with_source().await);
    stage::fill(&busy).await;
    let job = live_match::begin(&busy).await;
    let (boss, ann) = (busy.account("boss", Role::Maintainer).await, busy.account("ann", Role::Volunteer).await);
    let worker = busy.worker(&ann, "one").await;
    assert!(busy.post(&format!("/api/v1/matches/{job}/live"), &boss, &json!({})).await.status().is_success());
    // The worker gets a game of this match, and at once.
    let first = format!(
        "UPDATE jobs SET state = 'closed' WHERE state = 'open' AND id <> {job};
         UPDATE jobs SET spread = 0 WHERE id = {job}"
    );
    busy.execute(first).await;
    let lease = busy.lease(&ann, worker, "watched").await;
    let position = live_match::live(&lease, "h2e2 h9g7 h0g2 i9h9 i0h0 b9c7 g3g4 c6c5");
    let position = protocol::api::work::Live { variation: "b0c2".to_owned(), ..position };
    let shown = busy.post(&path::live(&lease.token), &ann, &position).await;
    assert!(shown.status().is_success(), "{}", shown.text().await.unwrap());
    let mut wrong = Vec::new();
    for (look, device) in [(DESKTOP, "desktop"), (PHONE, "phone")] {
        let browser = Browser::start(look).await;
        for (bench, server) in [(&new, "new"), (&busy, "busy")] {
            for language in ["en", "zh"] {
                let name = format!("home-{server}-{device}-{language}");
                browser.open(&format!("http://{}/{language}", bench.address)).await;
                keep(&browser, &name).await;
                let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
                if browser.run(wide).await != 0 {
                    wrong.push(format!("{name} is too wide"));
                }
                let boards = browser.run("return document.querySelectorAll('#live svg.board').length").await;
                if boards != usize::from(server == "busy") {
                    wrong.push(format!("{name} has {boards} live boards"));
                }
                wrong.extend(barriers(&browser).await.into_iter().map(|it| format!("{name}: {it}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Responses to forms, some of which are shown only once.
#[tokio::test]
async fn answers_to_forms_look_right() {
    if is_skipped() {
        return;
    }
    let bench = bench_with_source().await;
    stage::fill(&bench).await;
    for (look, language, suffix) in [(DESKTOP, "en", ""), (PHONE, "zh", "-phone-zh")] {
        let browser = Browser::start(look).await;
        let open = async |path: &str| browser.open(&format!("http://{}/{language}{path}", bench.address)).await;
        let see = async |name: &str| {
            keep(&browser, &format!("{name}{suffix}")).await;
            assert_eq!(barriers(&browser).await, [""; 0], "{name}");
            let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.run(wide).await, 0, "{name} is too wide");
        };
        open("/register").await;
        browser.write("#name", &format!("new{suffix}")).await;
        browser.write("#password", PASSWORD).await;
        browser.click("input[name=consent]").await;
        browser.click("main form button").await;
        browser.wait_for("#token", "chuhe_").await;
        see("registered").await;
        browser.click(".who form button").await;
        browser.wait_until("return document.querySelector('.who form') === null").await;
        open("/sign-in").await;
        browser.write("#name", "mei").await;
        browser.write("#password", PASSWORD).await;
        browser.click("main form button").await;
        browser.wait_for(".who", "mei").await;
        open("/me").await;
        browser.write("#token-name", "garden shed").await;
        browser.click("form.fields button.main").await;
        browser.wait_for("#token", "chuhe_").await;
        see("me-token").await;
        open("/campaigns/new").await;
        browser.write("#text", &CAMPAIGN.replace("hard_nodes = 60", "hard_nodes = \"many\"")).await;
        browser.click("main form button").await;
        browser.wait_for("#fault", "5").await;
        see("campaign-fault").await;
        open("/admin").await;
        browser.click("form[action$='/admin/invitations'] button").await;
        browser.wait_for(".notice", "invitation_").await;
        see("invitation").await;
    }
}

/// Self-test: planted violations are found.
#[tokio::test]
async fn accessibility_violations_are_found() {
    if is_skipped() {
        return;
    }
    let bench = Bench::start().await;
    let browser = Browser::start(DESKTOP).await;
    browser.open(&format!("http://{}/en", bench.address)).await;
    assert_eq!(barriers(&browser).await, Vec::<String>::new());
    for (fault, name) in [
        ("<img src='/favicon.ico'>", "image-alt"),
        ("<button></button>", "button-name"),
        ("<input name='nameless'>", "label"),
        ("<p class='pale'>This can hardly be read.</p>", "color-contrast"),
    ] {
        // The policy forbids inline styles, but not styles set by the driver's script.
        let put = format!(
            "const it = document.createElement('div'); it.id = 'fault'; it.innerHTML = \"{fault}\";
             it.querySelectorAll('.pale').forEach((pale) => {{ pale.style.color = '#e8e4da'; }});
             document.querySelector('main').append(it);"
        );
        browser.run(&put).await;
        let found = barriers(&browser).await;
        assert!(found.len() == 1 && found[0].starts_with(&format!("{name}:")), "{name}: {found:?}");
        browser.run("document.getElementById('fault').remove()").await;
    }
    assert_eq!(barriers(&browser).await, Vec::<String>::new());
}
