//! The coordinator's database, on SQLite and on PostgreSQL: each operation by itself (`contract`),
//! and thousands of random sequences of them (`simulation`).

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped tests are reported")]
#![allow(clippy::unused_self, reason = "what a laboratory does reads best as its own")]
#![allow(clippy::doc_markdown, reason = "SQLite is a name")]

#[path = "../common/mod.rs"]
mod common;

mod contract;
mod simulation;
