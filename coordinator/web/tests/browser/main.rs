//! The pages in a real browser. `CHUHE_SKIP_BROWSER=1` skips these tests where there is no browser,
//! with a message; `CHUHE_SCREENSHOTS=FOLDER` keeps screenshots.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]
#![allow(clippy::print_stdout, reason = "skipped tests are reported")]
#![allow(dead_code, reason = "the bench has more than browsers need")]

#[path = "../http/bench.rs"]
mod bench;
mod driver;
#[path = "../http/live_match.rs"]
mod live_match;
#[path = "../http/paging.rs"]
mod paging;
#[path = "../http/rulebook.rs"]
mod rulebook;
mod stage;
#[path = "../../../tests/common/started.rs"]
mod started;

mod doing;
mod engine;
mod following;
mod games;
mod looking;

/// Whether browser tests are skipped.
fn is_skipped() -> bool {
    let is = std::env::var("CHUHE_SKIP_BROWSER").is_ok_and(|value| value == "1");
    if is {
        println!("SKIPPED: no browser, because CHUHE_SKIP_BROWSER=1");
    }
    is
}
