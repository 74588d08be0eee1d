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

/// Returns the paths of all keys of a campaign, such as `gate.elo0`, without those of its recipe.
fn keys(path: &str, value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::Table(_) if path == ".recipe" => Vec::new(),
        toml::Value::Table(table) => {
            table.iter().flat_map(|(key, value)| keys(&format!("{path}.{key}"), value)).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// Returns the paths of all keys in the first cells of a table's rows. Some rows name a section.
fn documented_keys(text: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found = Vec::new();
    let rows = text.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    for cell in rows.skip(2) {
        // Names are in backticks.
        for name in cell.split('`').skip(1).step_by(2) {
            match name.strip_prefix('[') {
                Some(name) => section = format!(".{}", name.trim_end_matches(']')),
                None => found.push(format!("{section}.{name}")),
            }
        }
    }
    found
}

#[test]
fn every_key_of_a_campaign_is_documented() {
    let text = include_str!("campaigns/all.toml");
    let campaign = Campaign::from_text(text).expect("it is one").to_text();
    let section = FORMATS.split_once("## Campaign\n").expect("it is there").1;
    let section = section.split_once("\n## ").expect("it ends").0;
    let found = keys("", &toml::Value::Table(campaign.parse().expect("it is TOML")));
    assert!(found.len() > 30, "{found:?}");
    let sorted = |mut keys: Vec<String>| {
        keys.sort();
        keys
    };
    assert_eq!(sorted(documented_keys(section)), sorted(found));
}

#[test]
fn the_table_of_priors_is_the_documented_one() {
    let hash = Digest::of(include_bytes!("../../dataset/src/codec/priors.bin"));
    assert!(FORMATS.contains(&hash.to_string()), "{hash}");
}
