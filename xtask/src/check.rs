//! Everything a change must pass. Each step prints its title; the first failure ends the check.
//!
//! A tool that only some tests need is installed when it is missing. Where it cannot be had, these
//! tests are skipped, which is reported at once and again at the end. `--long` fails instead.

mod tools;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use self::tools::TOOLS;

const MUSL: &str = "x86_64-unknown-linux-musl";
const WASM: &str = "wasm32-unknown-unknown";

/// The packages that build and test on every platform, without libtorch, databases and browsers.
const PORTABLE: [&str; 10] = [
    "xiangqi",
    "chuhe-stats",
    "chuhe-command-line",
    "chuhe-nnue",
    "chuhe-dataset",
    "chuhe-protocol",
    "chuhe-engine",
    "chuhe-selfplay",
    "chuhe-client",
    "chuhe-worker",
];

/// Which checks run.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Also run what takes longer, before a capability is called done (`docs/LONG_CHECKS.md`)
    #[arg(long)]
    long: bool,
    /// Run only what every platform can: build and unit tests of what volunteers run
    #[arg(long, conflicts_with = "long")]
    portable: bool,
}

/// Runs the checks.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    env::set_current_dir(crate::root()).context("the repository's root cannot be entered")?;
    if arguments.portable {
        return portable();
    }
    step("format");
    cargo(&["fmt", "--all", "--check"])?;

    step("language: words, sentences, widths");
    crate::language::run(&crate::language::Arguments::default())?;

    step("modules: circles, SQL");
    crate::modules::run(&crate::modules::Arguments::default())?;

    let mut missing = Vec::new();
    // The trainer's libtorch is half a gigabyte; without it all but the backend on top of it is
    // checked.
    step("libtorch");
    let libtorch = find_libtorch();
    if libtorch.is_none() {
        missing.push("SKIPPED the backend of libtorch: libtorch could not be had");
    }
    let with_libtorch = libtorch.is_some();
    for tool in &TOOLS {
        if !tool.install() {
            missing.push(tool.skipped);
        }
    }
    let wasm = install_target(WASM);
    if !wasm {
        missing.push("SKIPPED the engine as WebAssembly: the target wasm32-unknown-unknown could not be had");
    }
    for skipped in &missing {
        eprintln!("scripts/check: {skipped}");
    }
    if arguments.long && !missing.is_empty() {
        bail!("--long leaves nothing out");
    }

    let features: &[&str] = if with_libtorch {
        &["--all-features"]
    } else {
        &["--features", "chuhe-dataset/tuning,chuhe-stats/serde,xiangqi/serde"]
    };
    let mut skip: Vec<_> = TOOLS.iter().filter(|tool| !tool.is_there()).filter_map(|tool| tool.skip).collect();
    if !wasm {
        skip.push("CHUHE_SKIP_WASM");
    }
    let runner = Runner { libtorch, skip };
    let workspace =
        |words: &[&str], rest: &[&str]| runner.cargo(&[words, &["--workspace", "--locked"], features, rest].concat());

    step("lints");
    workspace(&["clippy"], &["--all-targets", "--", "-D", "warnings"])?;

    if wasm {
        step("the engine as WebAssembly");
        script("scripts/wasm", &[])?;
    }

    // The tests of e2e start the programs, which lie beside them: all are built before the first
    // test runs.
    step("tests");
    if succeeds("cargo", &["nextest", "--version"]) {
        workspace(&["nextest", "run", "--no-fail-fast"], &[])?;
    } else {
        workspace(&["test", "--no-fail-fast"], &["--lib", "--bins", "--tests"])?;
    }

    if wasm && succeeds("node", &["--version"]) {
        step("the npm package");
        script("scripts/wasm", &["--check"])?;
    }

    step("documentation and its examples");
    workspace(&["test"], &["--doc"])?;
    run_command(
        runner
            .command("cargo")
            .args(["doc", "--workspace", "--locked", "--no-deps", "--document-private-items"])
            .args(features)
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;

    step("claims of nets, their cards and pictures");
    script("scripts/reproduce", &["--check"])?;
    script("scripts/tools/trust-curves", &["--check"])?;

    step("licences, sources and layers of dependencies");
    script("scripts/tools/dependencies", &[])?;

    step("workflows and the site of the documents");
    script("scripts/tools/workflows", &[])?;
    script("scripts/tools/site", &[])?;

    for skipped in &missing {
        eprintln!("scripts/check: {skipped}");
    }
    if arguments.long {
        step("the Python package");
        script("scripts/wheel", &["--check"])?;
        step("the worker as a static program");
        static_worker()?;
        script("scripts/check-long", &[])?;
    }
    Ok(())
}

/// Builds and tests what volunteers run, on any platform.
fn portable() -> Result<()> {
    let packages: Vec<&str> = PORTABLE.iter().flat_map(|name| ["-p", name]).collect();
    step("build");
    cargo(&[&["build", "--locked", "-p", "chuhe"], &packages[..]].concat())?;
    step("unit tests");
    cargo(&[&["test", "--locked", "--lib"], &packages[..]].concat())
}

/// Runs commands in the environment that the optional tools ask for.
struct Runner {
    libtorch: Option<PathBuf>,
    /// The variables that make tests skip.
    skip: Vec<&'static str>,
}

impl Runner {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Some(folder) = &self.libtorch {
            let path = env::var("LD_LIBRARY_PATH").unwrap_or_default();
            let library = folder.join("lib");
            command.env("LIBTORCH", folder).env("LD_LIBRARY_PATH", format!("{}:{path}", library.display()));
        }
        command.envs(self.skip.iter().map(|variable| (variable, "1")));
        command
    }

    fn cargo(&self, words: &[&str]) -> Result<()> {
        run_command(self.command("cargo").args(words))
    }
}

/// Builds the program that volunteers run, which needs nothing of the system, and runs its
/// self-test.
fn static_worker() -> Result<()> {
    if !install_target(MUSL) {
        bail!("the target {MUSL} could not be had");
    }
    // The C parts of ring and zstd need no more of a library than every one has: the system's
    // compiler will do.
    let mut build = Command::new("cargo");
    build
        .args(["build", "--locked", "-p", "chuhe-worker", "--target", MUSL])
        .env("CC_x86_64_unknown_linux_musl", "gcc");
    run_command(&mut build)?;
    let target = env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let worker = Path::new(&target).join(MUSL).join("debug/chuhe-worker");
    let headers = Command::new("readelf").arg("--program-headers").arg(&worker).output().context("readelf")?;
    if !headers.status.success() {
        bail!("readelf cannot read {}", worker.display());
    }
    // A program that needs a loader names it.
    if String::from_utf8_lossy(&headers.stdout).contains("INTERP") {
        bail!("{} is not static", worker.display());
    }
    run_command(Command::new(&worker).arg("selftest"))
}

/// The folder of libtorch, if it is there or can be fetched.
fn find_libtorch() -> Option<PathBuf> {
    let found = Command::new("scripts/libtorch").stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8(found.stdout).ok()?;
    found.status.success().then(|| PathBuf::from(text.trim()))
}

fn install_target(triple: &str) -> bool {
    let is_there = || {
        let list = Command::new("rustup").args(["target", "list", "--installed"]).output();
        list.is_ok_and(|list| String::from_utf8_lossy(&list.stdout).lines().any(|line| line == triple))
    };
    is_there() || (succeeds("rustup", &["target", "add", triple]) && is_there())
}

fn step(title: &str) {
    println!("\n== {title}");
}

fn cargo(words: &[&str]) -> Result<()> {
    run_command(Command::new("cargo").args(words))
}

fn script(path: &str, words: &[&str]) -> Result<()> {
    run_command(Command::new(path).args(words))
}

fn run_command(command: &mut Command) -> Result<()> {
    let name =
        format!("{} {}", command.get_program().display(), command.get_args().next().unwrap_or_default().display());
    let status = command.status().with_context(|| format!("{name} cannot be started"))?;
    if !status.success() {
        bail!("{name}: {status}");
    }
    Ok(())
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    let status = Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
