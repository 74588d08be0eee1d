//! The HTTP interface over real connections: workers' requests, attacks, and rejections.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]
#![allow(clippy::print_stdout, reason = "measured figures are printed")]

mod bench;
mod choosing;
mod crowded;
mod described;
mod dishonest;
mod disturbed;
mod engine;
mod first_byte;
#[path = "../../../../crates/dataset/fuzz/forge.rs"]
mod forge;
mod games;
mod greedy;
mod hostile;
mod hosts;
mod live;
mod live_match;
mod long;
mod matches;
mod pages;
mod paging;
mod plenty;
mod refereed;
mod refused;
mod restored;
mod rights;
mod rulebook;
mod security;
mod sessions;
mod short_matches;
#[path = "../../../tests/common/started.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod started;
mod steering;
mod strangers;
mod swept;
mod timed;
mod webhooks;
mod whole;
mod written;
