//! The language of the project, held against `docs/GLOSSARY.md`. No word is retired, doc comments
//! and functions have nouns, prose is within 100 columns, and sentences of comments and guides are
//! short.

mod comments;
mod glossary;
mod sentences;
mod source;

use std::path::Path;
use std::process::Command;
use std::{fs, str};

use anyhow::{Context, Result, bail};

use self::glossary::Glossary;

/// Columns of a line of prose, indentation included.
const MAX_COLUMNS: usize = 100;

/// Documents with short sentences: the most words on average, and of one sentence.
const GUIDES: [(&str, f64, usize); 14] = [
    ("README.md", 14.0, 25),
    ("CONTRIBUTING.md", 16.0, 30),
    ("docs/README.md", 16.0, 30),
    ("docs/DATA.md", 16.0, 30),
    ("docs/DEMO.md", 16.0, 30),
    ("docs/ENGINE.md", 16.0, 30),
    ("docs/FAQ.md", 16.0, 30),
    ("docs/OPERATIONS.md", 16.0, 30),
    ("docs/PAGES.md", 16.0, 30),
    ("docs/REPRODUCE.md", 16.0, 30),
    ("docs/RULES.md", 16.0, 30),
    ("docs/TRAINING.md", 16.0, 30),
    ("docs/WORKER.md", 16.0, 30),
    ("nets/README.md", 16.0, 30),
];

/// Data, other people's work, and bytes that are a contract.
const SKIPPED: [&str; 21] = [
    "docs/GLOSSARY.md",
    "openapi.json",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    ".lock",
    ".min.js",
    ".min.css",
    ".sql",
    ".png",
    ".svg",
    ".nnue",
    ".chuhe",
    ".jsonl",
    ".csv",
    ".json",
    ".epd",
    ".perft",
    ".txt",
    ".ico",
    ".woff2",
    ".parquet",
];

/// Which files are read.
#[derive(clap::Args, Default)]
pub(crate) struct Arguments {
    /// Print words per sentence of each guide
    #[arg(long)]
    figures: bool,
}

/// Fails if a tracked file breaks a rule; prints each finding with its place.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = crate::root();
    let glossary = Glossary::read(&root.join("docs/GLOSSARY.md"))?;
    let mut findings = Vec::new();
    let mut files = 0;
    for name in tracked(&root)? {
        if name.contains("/fuzz/corpus/") || SKIPPED.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        // A tracked file may just have been removed, and what is no text holds no words.
        let Ok(text) = fs::read_to_string(root.join(&name)) else { continue };
        files += 1;
        findings.extend(source::findings(&name, &text, &glossary).into_iter().map(|found| format!("{name}:{found}")));
    }
    for (name, mean, longest) in GUIDES {
        let text = fs::read_to_string(root.join(name)).with_context(|| name.to_owned())?;
        let figures = sentences::Figures::of(&text);
        if arguments.figures {
            println!(
                "{name}: {} sentences, mean {:.1}, longest {}",
                figures.sentences, figures.mean, figures.longest.0
            );
        }
        if figures.mean > mean {
            findings.push(format!("{name}: {:.1} words per sentence, at most {mean} are wanted", figures.mean));
        }
        if figures.longest.0 > longest {
            let (words, sentence) = figures.longest;
            findings.push(format!("{name}: a sentence of {words} words, at most {longest} are wanted: {sentence}"));
        }
    }
    let readme = fs::read_to_string(root.join("README.md"))?.lines().count();
    if readme > 120 {
        findings.push(format!("README.md: {readme} lines, at most 120 are wanted"));
    }
    for found in &findings {
        eprintln!("language: {found}");
    }
    println!("{files} files, {} findings", findings.len());
    if !findings.is_empty() {
        bail!("the language breaks rules of docs/GLOSSARY.md");
    }
    Ok(())
}

/// The files that git tracks.
fn tracked(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("git ls-files")?;
    if !listed.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr).trim());
    }
    let names = str::from_utf8(&listed.stdout).context("a file's name is no UTF-8")?;
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}
