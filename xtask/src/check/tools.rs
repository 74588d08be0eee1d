//! Tools that only some tests need.

use std::env;
use std::path::Path;
use std::process::Command;

use super::{step, succeeds};

/// A tool that only some tests need: they are skipped where it cannot be installed.
pub(super) struct Optional {
    /// Title of the step that installs it.
    title: &'static str,
    /// Debian's packages.
    packages: &'static [&'static str],
    /// Whether it can be used.
    found: fn() -> bool,
    /// The variable that makes its tests skip; those without one look for the tool themselves.
    pub(super) skip: Option<&'static str>,
    /// The report where it is missing.
    pub(super) skipped: &'static str,
}

/// Why a missing opponent is no failure: docs/decisions/032-skip-tests-of-missing-tools-visibly.md.
pub(super) const TOOLS: [Optional; 6] = [
    Optional {
        title: "an engine to play against",
        packages: &["fairy-stockfish"],
        found: || Path::new("/usr/games/fairy-stockfish").exists(),
        skip: None,
        skipped: "SKIPPED the match against another engine: fairy-stockfish could not be installed",
    },
    Optional {
        title: "PostgreSQL",
        packages: &["postgresql"],
        found: || {
            let versions = Path::new("/usr/lib/postgresql").read_dir();
            versions.is_ok_and(|mut found| {
                found.any(|version| version.is_ok_and(|at| at.path().join("bin/initdb").exists()))
            })
        },
        skip: Some("CHUHE_SKIP_POSTGRES"),
        skipped: "SKIPPED the coordinator on PostgreSQL: it could not be installed",
    },
    Optional {
        title: "strace, which counts the syncs before a response",
        packages: &["strace"],
        found: || succeeds("strace", &["-o", "/dev/null", "true"]),
        skip: Some("CHUHE_SKIP_STRACE"),
        skipped: "SKIPPED counting the syncs before a response: strace could not be had",
    },
    Optional {
        title: "minisign, which checks signatures for the installer",
        packages: &["minisign"],
        found: || on_path("minisign"),
        skip: Some("CHUHE_SKIP_MINISIGN"),
        skipped: "SKIPPED signatures at the installer: minisign could not be installed",
    },
    Optional {
        title: "Node.js, which runs the engine as WebAssembly",
        packages: &["nodejs", "npm"],
        found: || succeeds("node", &["--version"]) && succeeds("npm", &["--version"]),
        skip: None,
        skipped: "SKIPPED the npm package: Node.js could not be installed",
    },
    Optional {
        title: "a browser",
        packages: &["chromium", "chromium-driver", "fonts-noto-cjk"],
        found: || on_path("chromium") && on_path("chromedriver"),
        skip: Some("CHUHE_SKIP_BROWSER"),
        skipped: "SKIPPED the pages in a browser: chromium could not be installed",
    },
];

impl Optional {
    pub(super) fn is_there(&self) -> bool {
        (self.found)()
    }

    /// Installs the tool if it is missing; whether it is there then.
    pub(super) fn install(&self) -> bool {
        if !self.is_there() {
            step(self.title);
            // Its own message names the packages and the log.
            let _ = Command::new("scripts/prepare").args(self.packages).status();
        }
        self.is_there()
    }
}

fn on_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
