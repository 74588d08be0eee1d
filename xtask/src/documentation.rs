//! The documentation of the crates, with a landing page that leads to each of them. A workspace
//! without a root package has none of its own.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// How the documentation is built.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Open the landing page in a browser
    #[arg(long)]
    open: bool,
}

/// Crates from the ground up, as in `docs/ARCHITECTURE.md`; others follow in the order of names.
const ORDER: [&str; 15] = [
    "xiangqi",
    "stats",
    "nnue",
    "dataset",
    "protocol",
    "client",
    "engine",
    "selfplay",
    "chuhe",
    "worker",
    "trainer",
    "coordinator",
    "coordinator_web",
    "coordinator_core",
    "testkit",
];

/// Runs `cargo doc` and writes `index.html` beside the crates.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = crate::root();
    let status =
        Command::new("cargo").args(["doc", "--workspace", "--locked", "--no-deps"]).current_dir(&root).status();
    if !status.context("cargo doc")?.success() {
        bail!("cargo doc failed");
    }
    let metadata = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
    let metadata = Command::new("cargo").args(metadata).current_dir(&root).output().context("cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout).context("cargo metadata")?;
    let folder = metadata["target_directory"].as_str().context("cargo metadata names no target_directory")?;
    let landing = format!("{folder}/doc/index.html");
    fs::write(&landing, page(&crates(&metadata))).with_context(|| landing.clone())?;
    println!("{landing}");
    if arguments.open {
        let program = if cfg!(target_os = "macos") {
            "open"
        } else if cfg!(windows) {
            "explorer"
        } else {
            "xdg-open"
        };
        Command::new(program).arg(&landing).status().with_context(|| program.to_owned())?;
    }
    Ok(())
}

/// Names and descriptions of all documented crates.
fn crates(metadata: &Value) -> Vec<(String, String)> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut crates: Vec<_> = packages
        .filter_map(|package| {
            let targets = package["targets"].as_array()?;
            let is_library =
                |target: &&Value| target["kind"].as_array().is_some_and(|kind| kind.contains(&"lib".into()));
            let name = targets.iter().find(is_library)?["name"].as_str()?;
            Some((name.to_owned(), package["description"].as_str().unwrap_or_default().to_owned()))
        })
        .collect();
    let place = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    crates.sort_by(|(a, _), (b, _)| (place(a), a).cmp(&(place(b), b)));
    crates
}

fn page(crates: &[(String, String)]) -> String {
    let row = |(name, about): &(String, String)| {
        format!("<dt><a href=\"{name}/index.html\"><code>{name}</code></a></dt><dd>{}</dd>\n", escaped(about))
    };
    let rows = crates.iter().map(row).collect::<Vec<_>>().concat();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Chuhe: crates</title>\n\
         <style>body{{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;\
         color-scheme:light dark}}dt{{margin-top:.8rem}}dd{{margin:0}}</style>\n\
         <h1>Chuhe 楚河: crates</h1>\n\
         <p>From the ground up: each crate uses only those above it. The map is docs/ARCHITECTURE.md.</p>\n\
         <dl>\n{rows}</dl>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_landing_page_leads_from_the_ground_up() {
        let package = |name: &str, kind: &str| serde_json::json!({ "description": "A <part>", "targets": [{ "name": name, "kind": [kind] }] });
        let packages = [package("worker", "lib"), package("xtask", "bin"), package("xiangqi", "lib")];
        let found = crates(&serde_json::json!({ "packages": packages }));
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["xiangqi", "worker"]);
        assert!(page(&found).contains("A &lt;part>"));
    }
}
