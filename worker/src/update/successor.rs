//! The only program that a worker starts: its own verified successor.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};

/// Result of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selftest {
    /// This machine computes what every machine computes.
    Passed,
    /// The program is not for this machine.
    Failed(ExitStatus),
    /// The machine may have been busy.
    TimedOut,
}

/// Runs the self-test of a new program.
///
/// # Errors
///
/// If it cannot be started: disk or memory may be short, which passes.
pub fn run_selftest(program: &Path, timeout: Duration) -> Result<Selftest> {
    #[cfg(unix)]
    fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let mut child = Command::new(program)
        .args(["selftest", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let step = Duration::from_millis(100);
    for _ in 0..timeout.as_millis() / step.as_millis() {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(Selftest::Passed),
            Some(status) => return Ok(Selftest::Failed(status)),
            None => thread::sleep(step),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Ok(Selftest::TimedOut)
}

/// Installs a new program; the old one is kept beside it as `.old`.
///
/// # Errors
///
/// If renaming fails; then the old program is unchanged.
pub fn replace(program: &Path, new: &Path) -> io::Result<()> {
    // Another worker with this program was faster, or its owner: `.old` stays the old one.
    if fs::read(program)? == fs::read(new)? {
        return fs::remove_file(new);
    }
    let old = old_path(program);
    let _ = fs::remove_file(&old);
    if cfg!(windows) {
        // Windows can rename a running program, but not replace it.
        fs::rename(program, &old)?;
        return fs::rename(new, program).inspect_err(|_| drop(fs::rename(&old, program)));
    }
    fs::hard_link(program, &old).or_else(|_| fs::copy(program, &old).map(drop))?;
    fs::rename(new, program)
}

/// Restores the old program.
///
/// # Errors
///
/// If it is missing.
pub fn restore(program: &Path) -> Result<()> {
    let old = old_path(program);
    fs::metadata(&old).with_context(|| format!("the old version, {}", old.display()))?;
    let rename = || {
        if cfg!(windows) {
            fs::rename(program, program.with_extension("failed"))?;
        }
        fs::rename(&old, program)
    };
    rename().with_context(|| program.display().to_string())
}

/// Replaces this process by the program, with the same arguments. On Windows it starts a new
/// process and exits.
#[must_use]
pub fn exec(program: &Path) -> io::Error {
    #[cfg(unix)]
    return std::os::unix::process::CommandExt::exec(Command::new(program).args(std::env::args_os().skip(1)));
    #[cfg(not(unix))]
    match Command::new(program).args(std::env::args_os().skip(1)).spawn() {
        Ok(_) => std::process::exit(0),
        Err(error) => error,
    }
}

fn old_path(program: &Path) -> PathBuf {
    let mut name = program.file_name().unwrap_or_default().to_owned();
    name.push(".old");
    program.with_file_name(name)
}
