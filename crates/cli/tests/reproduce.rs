//! `scripts/reproduce` with programs that are there already.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/reproduce");

/// Writes a program of one line.
fn write_program(path: &Path, line: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn given_programs_are_not_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("release");
    for name in ["chuhe", "chuhe-trainer"] {
        write_program(&programs.join(name), r#"echo nodes 6583914; echo '{"elo": 0, "elo_error": 9999}'"#);
    }
    write_program(&folder.path().join("path/cargo"), "touch \"$BUILT\"");
    let (built, path) = (folder.path().join("built"), std::env::var("PATH").unwrap());
    for more in [&[][..], &["--programs", programs.to_str().unwrap()]] {
        let mut command = Command::new(SCRIPT);
        command.args(more).args(["season2-5-1", "timed"]).env("CARGO_TARGET_DIR", folder.path()).env("BUILT", &built);
        command.env("PATH", format!("{}:{path}", folder.path().join("path").display()));
        let output = command.output().unwrap();
        let (said, why) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && said.contains("    repeated ("), "{said}{why}");
        assert!(!built.exists(), "{why}");
        let line = format!("with the programs in {}\n", programs.display());
        assert_eq!(why.contains(&line), more.is_empty(), "{why}");
    }
}
