//! The tables of states in docs/ARCHITECTURE.md, held against the code.

use std::{collections::BTreeSet, fmt::Display, fs, path::Path};

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

/// The text of all sources below a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_name_of_a_walk_exists() {
    let walks = DOCUMENT.split_once("### Three walks\n").unwrap().1.split("\n### ").next().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = String::new();
    for folder in ["coordinator/core/src", "coordinator/web/src", "crates/dataset/src"] {
        sources(&root.join(folder), &mut text);
    }
    let defined: BTreeSet<&str> = text
        .lines()
        .flat_map(|line| ["fn ", "struct ", "enum "].into_iter().filter_map(|word| line.split_once(word)))
        .filter_map(|(_, rest)| rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next())
        .collect();
    let names = walks.split('`').skip(1).step_by(2).filter(|name| !name.contains(['/', ' ']));
    let names: Vec<&str> = names.flat_map(|name| name.split("::")).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert!(defined.contains(name), "docs/ARCHITECTURE.md walks by `{name}`, which does not exist");
    }
    for walk in walks.split("\n*").skip(1) {
        let steps =
            walk.lines().filter(|line| line.split_once(". ").is_some_and(|(head, _)| head.parse::<u32>().is_ok()));
        assert!((5..=10).contains(&steps.count()), "{walk}");
    }
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
