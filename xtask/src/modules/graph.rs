//! The graph of uses between the modules of a package.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// The path of a module within its package; empty for the root.
type Module = Vec<String>;

/// Uses between modules.
pub(super) struct Graph {
    uses: BTreeMap<Module, BTreeSet<Module>>,
}

impl Graph {
    /// Parses all files of a package.
    pub(super) fn parse(sources: &BTreeMap<PathBuf, String>) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (path, text) in sources {
            let file = syn::parse_file(text).with_context(|| path.display().to_string())?;
            let mut paths = Paths::default();
            paths.visit_file(&file);
            files.insert(module_of(path), paths);
        }
        let mut reexports = BTreeMap::new();
        for (module, paths) in &files {
            for path in &paths.reexported {
                if let (Some((child, _)), Some(name)) = (locate(&files, module, path), path.last())
                    && child.len() > module.len()
                {
                    reexports.insert((module.clone(), name.clone()), child);
                }
            }
        }
        let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, paths) in &files {
            let used = uses.entry(module.clone()).or_default();
            // What a facade re-exports of its children is no use of them.
            let foreign = |path: &&Vec<String>| {
                locate(&files, module, path).is_some_and(|(target, _)| !target.starts_with(module))
            };
            for path in paths.used.iter().chain(paths.reexported.iter().filter(foreign)) {
                let Some((mut target, item)) = locate(&files, module, path) else { continue };
                if let Some(child) = item.and_then(|item| reexports.get(&(target.clone(), item))) {
                    target.clone_from(child);
                }
                if target != *module {
                    used.insert(target);
                }
            }
        }
        Ok(Self { uses })
    }

    /// Circles between files, then between folders. A folder is a module with those below it.
    pub(super) fn circles(&self) -> Vec<String> {
        let mut found = self.circles_of_files();
        for folders in self.folders().into_values() {
            let circles = folders.circles_of_files();
            found.extend(circles.into_iter().filter(|circle| !found.contains(circle)).collect::<Vec<_>>());
        }
        found
    }

    /// For each folder the uses between its parts, whatever files cause them.
    fn folders(&self) -> BTreeMap<Module, Self> {
        let mut folders: BTreeMap<Module, Self> = BTreeMap::new();
        for (module, used) in &self.uses {
            for target in used {
                let shared = module.iter().zip(target).take_while(|(left, right)| left == right).count();
                if shared < module.len().min(target.len()) {
                    let folder =
                        folders.entry(module[..shared].to_vec()).or_insert_with(|| Self { uses: BTreeMap::new() });
                    folder.uses.entry(module[..=shared].to_vec()).or_default().insert(target[..=shared].to_vec());
                }
            }
        }
        folders
    }

    /// One circle from each part of the graph that has any, as `a → b → a`.
    pub(super) fn circles_of_files(&self) -> Vec<String> {
        let mut done = BTreeSet::new();
        let mut found = Vec::new();
        for module in self.uses.keys() {
            self.search(module, &mut Vec::new(), &mut done, &mut found);
        }
        found
    }

    /// Depth-first search. `path` leads to the module; modules in `done` are searched.
    fn search<'a>(
        &'a self,
        module: &'a Module,
        path: &mut Vec<&'a Module>,
        done: &mut BTreeSet<&'a Module>,
        found: &mut Vec<String>,
    ) {
        if let Some(start) = path.iter().position(|other| *other == module) {
            let circle = path[start..].iter().copied().chain([module]).map(name);
            found.push(circle.collect::<Vec<_>>().join(" → "));
            return;
        }
        if done.contains(module) {
            return;
        }
        path.push(module);
        for next in self.uses.get(module).into_iter().flatten() {
            self.search(next, path, done, found);
        }
        path.pop();
        done.insert(module);
    }
}

fn name(module: &Module) -> String {
    if module.is_empty() { "lib".to_owned() } else { module.join("::") }
}

/// The module of a file.
fn module_of(path: &Path) -> Module {
    let mut module: Module = path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(module.last().map(String::as_str), Some("lib" | "main" | "mod")) {
        module.pop();
    }
    module
}

/// Finds the module that a path leads to from `here`, and the name of its item; none outside of the
/// package.
fn locate<T>(files: &BTreeMap<Module, T>, here: &Module, path: &[String]) -> Option<(Module, Option<String>)> {
    let mut rest = path;
    let mut module = here.clone();
    match rest.first()?.as_str() {
        "crate" => {
            module.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                module.pop()?;
                rest = &rest[1..];
            }
        }
        first => {
            module.push(first.to_owned());
            if !files.contains_key(&module) {
                return None;
            }
            rest = &rest[1..];
        }
    }
    while let Some(part) = rest.first() {
        module.push(part.clone());
        if !files.contains_key(&module) {
            module.pop();
            break;
        }
        rest = &rest[1..];
    }
    Some((module, rest.first().cloned()))
}

/// The paths in a file.
#[derive(Default)]
struct Paths {
    /// Depth of modules within the file.
    depth: usize,
    used: BTreeSet<Vec<String>>,
    /// Paths of `pub use`.
    reexported: BTreeSet<Vec<String>>,
}

impl Paths {
    /// A path as seen from the file, for one that is seen from a module within it.
    fn of_file(&self, mut path: Vec<String>) -> Option<Vec<String>> {
        for _ in 0..self.depth {
            match path.first().map(String::as_str) {
                Some("crate") => return Some(path),
                Some("super") => path.remove(0),
                // An item of the inner module, or of another package.
                _ => return None,
            };
        }
        Some(path)
    }

    fn tree(&self, before: &[String], tree: &UseTree, found: &mut BTreeSet<Vec<String>>) {
        let with = |part: String| before.iter().cloned().chain([part]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.tree(&with(path.ident.to_string()), &path.tree, found),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(before, item, found)),
            UseTree::Name(name) if name.ident == "self" => found.extend(self.of_file(before.to_vec())),
            UseTree::Name(name) => found.extend(self.of_file(with(name.ident.to_string()))),
            UseTree::Rename(rename) => found.extend(self.of_file(with(rename.ident.to_string()))),
            UseTree::Glob(_) => found.extend(self.of_file(before.to_vec())),
        }
    }
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if is_test(&item.attrs) || item.content.is_none() {
            return;
        }
        self.depth += 1;
        visit::visit_item_mod(self, item);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = BTreeSet::new();
        self.tree(&[], &item.tree, &mut found);
        if matches!(item.vis, Visibility::Inherited) { self.used.extend(found) } else { self.reexported.extend(found) }
    }

    // `pub(in path)` names a module, and uses nothing of it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let parts = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.used.extend(self.of_file(parts));
        }
        visit::visit_path(self, path);
    }

    // The arguments of a macro are tokens: paths are read from them as text.
    fn visit_macro(&mut self, of: &'ast Macro) {
        let text = of.tokens.to_string().replace(" :: ", "::");
        let is_path = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ':');
        for path in text.split(|letter| !is_path(letter)).filter(|path| path.contains("::")) {
            self.used.extend(self.of_file(path.split("::").map(str::to_owned).collect()));
        }
        self.visit_path(&of.path);
    }
}
