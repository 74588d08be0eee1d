//! What must hold of the coordinator's database, on SQLite and on PostgreSQL: each operation by itself (`contract`), and
//! thousands of random sequences of them (`simulation`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../common/mod.rs"]
mod common;

mod contract;
