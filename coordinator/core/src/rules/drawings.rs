//! The tables of states in docs/ARCHITECTURE.md, held against the code.

use std::{collections::BTreeSet, fmt::Display};

use crate::model::{AccountState, AuditState, ComparisonState, LeaseState, SegmentState, ShardState};

const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ARCHITECTURE.md"));

/// The rows of the table whose first column has this name: from, to.
fn drawn(name: &str) -> BTreeSet<(String, String)> {
    let head = format!("| {name} | becomes | ");
    let rows = DOCUMENT.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|line| line.split('|').map(str::trim).collect());
    cells.map(|cells: Vec<&str>| (cells[1].to_owned(), cells[2].to_owned())).collect()
}

fn compare<T: Copy + Display>(name: &str, transitions: &[(T, T)]) {
    let coded: BTreeSet<_> = transitions.iter().map(|(from, to)| (from.to_string(), to.to_string())).collect();
    assert_eq!(coded.len(), transitions.len(), "{name}: a transition is listed twice");
    assert_eq!(drawn(name), coded, "docs/ARCHITECTURE.md draws {name} otherwise than the code (left: the document)");
}

#[test]
fn the_drawings_show_the_code() {
    compare("lease", LeaseState::TRANSITIONS);
    compare("segment", SegmentState::TRANSITIONS);
    compare("shard", ShardState::TRANSITIONS);
    compare("audit", AuditState::TRANSITIONS);
    compare("comparison", ComparisonState::TRANSITIONS);
    compare("account", AccountState::TRANSITIONS);
}
