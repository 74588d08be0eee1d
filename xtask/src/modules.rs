//! The modules of the worker and the coordinator's packages, held against their design: no import
//! circle between files or folders, and SQL only under `store`.
//!
//! A module is a file. It uses another if it names one of its items, by `use` or by a path. A
//! facade that re-exports an item of its child does not use it. A use of the re-exported item is a
//! use of the child. Tests within a file count as no part of it.

mod graph;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::graph::Graph;

/// The packages that are held against the rules.
const PACKAGES: [&str; 6] =
    ["coordinator/core", "coordinator/shell", "coordinator/web", "coordinator/referee", "coordinator", "worker"];

/// The package whose folders may still make a circle, if its files make none: the game threads and
/// the live view use each other's folders.
const WITH_CIRCLES_OF_FOLDERS: &str = "worker";

/// Which modules are checked: all.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {}

/// Runs the check.
pub(crate) fn run(_: &Arguments) -> Result<()> {
    let findings = findings(&crate::root())?;
    for finding in &findings {
        eprintln!("modules: {finding}");
    }
    println!("modules: {} findings", findings.len());
    if findings.is_empty() { Ok(()) } else { bail!("the modules break their design") }
}

fn findings(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for package in PACKAGES {
        let sources = sources(&root.join(package).join("src"))?;
        for (module, text) in &sources {
            let name = format!("{package}/src/{}", module.display());
            let is_store = module.starts_with("store") || module == Path::new("store.rs");
            if text.contains("sqlx::") && !is_store {
                found.push(format!("{name}: SQL stands under coordinator/core/src/store only"));
            }
        }
        let graph = Graph::parse(&sources).with_context(|| package.to_owned())?;
        let circles = if package == WITH_CIRCLES_OF_FOLDERS { graph.circles_of_files() } else { graph.circles() };
        found.extend(circles.into_iter().map(|circle| format!("{package}: an import circle: {circle}")));
    }
    Ok(found)
}

/// All Rust files below a folder, by their relative paths.
fn sources(folder: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                found.insert(path.strip_prefix(folder)?.to_path_buf(), text);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let sources = files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
        Graph::parse(&sources).expect("the files can be parsed").circles()
    }

    #[test]
    fn coordinator_and_worker_follow_their_design() {
        assert_eq!(findings(&crate::root()).expect("the sources can be read"), Vec::<String>::new());
    }

    #[test]
    fn a_circle_is_found_however_the_items_are_named() {
        let a = "use crate::b::{self, Thing as Other};";
        for b in [
            "use crate::a::Item;",
            "use super::a::Item;",
            "use crate::{c, a::Item};",
            "fn f() -> crate::a::Item { todo!() }",
            "fn f() { let _ = super::a::item(); }",
            "fn f() { println!(\"{}\", crate::a::item()); }",
            "mod inner { fn f() { super::super::a::item(); } }",
            "pub use crate::a::Item;",
        ] {
            assert_eq!(circles(&[("a.rs", a), ("b.rs", b), ("c.rs", "")]), ["a → b → a"], "{b}");
        }
    }

    #[test]
    fn a_longer_circle_is_found() {
        let files = [("a.rs", "use crate::b::X;"), ("b.rs", "use crate::c::X;"), ("c.rs", "use crate::a::X;")];
        assert_eq!(circles(&files), ["a → b → c → a"]);
    }

    #[test]
    fn folders_make_a_circle_without_one_of_files() {
        let files = [
            ("a.rs", ""),
            ("a/x.rs", "use crate::b::y::Item;"),
            ("a/z.rs", ""),
            ("b.rs", ""),
            ("b/y.rs", ""),
            ("b/w.rs", "use crate::a::z::Item;"),
        ];
        assert_eq!(circles(&files), ["a → b → a"]);
        // Within a folder too.
        let inner: Vec<_> =
            files.iter().map(|(path, text)| (format!("inner/{path}"), text.replace("crate", "crate::inner"))).collect();
        let mut inner: Vec<_> = inner.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        inner.push(("inner.rs", ""));
        assert_eq!(circles(&inner), ["inner::a → inner::b → inner::a"]);
    }

    #[test]
    fn a_facade_may_name_its_children() {
        let root = "mod a; pub use a::Item;";
        assert_eq!(
            circles(&[("lib.rs", root), ("a.rs", "pub use b::Deep; mod b;"), ("a/b.rs", "")]),
            Vec::<String>::new()
        );
        // A child that uses its sibling through the facade uses the sibling.
        let child = ("a/c.rs", "use super::Deep;");
        assert_eq!(circles(&[("a.rs", "mod b; mod c; pub use b::Deep;"), ("a/b.rs", ""), child]), Vec::<String>::new());
        let parent = ("a.rs", "mod b; mod c; fn f() { b::g(); } struct Own;");
        assert_eq!(circles(&[parent, ("a/b.rs", "use super::Own;"), ("a/c.rs", "")]), ["a → a::b → a"]);
    }

    #[test]
    fn tests_and_comments_are_no_part_of_a_file() {
        let b = "// crate::a::Item\n#[cfg(test)] mod tests { use crate::a::Item; }";
        assert_eq!(circles(&[("a.rs", "use crate::b::X;"), ("b.rs", b)]), Vec::<String>::new());
    }
}
