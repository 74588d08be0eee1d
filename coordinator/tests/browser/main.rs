//! The pages in a real browser. `CHUHE_SKIP_BROWSER=1` leaves these tests out where there is none, and says so;
//! `CHUHE_SCREENSHOTS=FOLDER` keeps pictures of what was looked at.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "what is left out is worth a line")]
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
#[path = "../common/started.rs"]
mod started;

mod doing;
mod following;
mod games;
mod looking;

/// Whether there is to be no browser.
fn is_skipped() -> bool {
    let is = std::env::var("CHUHE_SKIP_BROWSER").is_ok_and(|value| value == "1");
    if is {
        println!("SKIPPED: no browser, because CHUHE_SKIP_BROWSER=1");
    }
    is
}
