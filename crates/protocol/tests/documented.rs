//! The documents agree with the source.

use dataset::Digest;
use protocol::{api::problem::Code, campaign::Campaign};

const PROTOCOL: &str = include_str!("../../../docs/PROTOCOL.md");
const FORMATS: &str = include_str!("../../../docs/FORMATS.md");

#[test]
fn every_problem_code_is_documented() {
    let table = PROTOCOL.split_once("| code | status | title |").expect("it has the table").1;
    let table = table.split_once("\n\n").expect("it ends").0;
    let documented: Vec<&str> = table.lines().skip(2).collect();
    let row = |code: &Code| format!("| `{}` | {} | {} |", code.name(), code.status(), code.title());
    assert_eq!(documented, Code::ALL.iter().map(row).collect::<Vec<_>>());
}

/// Returns the names of all keys of a table, without those of tables below it.
fn keys(table: &toml::Table, found: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(_) if key == "recipe" => {}
            toml::Value::Table(inner) if key != "filter" => keys(inner, found),
            _ => found.push(key.clone()),
        }
    }
}

#[test]
fn every_key_of_a_campaign_is_documented() {
    let text = include_str!("campaigns/all.toml");
    let campaign = Campaign::from_text(text).expect("it is one").to_text();
    let section = FORMATS.split_once("## Campaign\n").expect("it is there").1;
    let section = section.split_once("\n## ").expect("it ends").0;
    let mut found = Vec::new();
    keys(&campaign.parse().expect("it is TOML"), &mut found);
    assert!(found.len() > 30, "{found:?}");
    for key in found {
        assert!(section.contains(&key), "{key}");
    }
}

#[test]
fn the_table_of_priors_is_the_documented_one() {
    let hash = Digest::of(include_bytes!("../../dataset/src/codec/priors.bin"));
    assert!(FORMATS.contains(&hash.to_string()), "{hash}");
}
