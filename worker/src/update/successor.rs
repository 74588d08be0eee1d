//! The one program that a worker starts: its own successor, after its signature was checked.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

/// A self-test takes some seconds, and on slow machines some more.
const LONGEST: Duration = Duration::from_mins(5);

/// Lets a new program test itself.
///
/// # Errors
///
/// If it cannot be started, fails, or does not come to an end.
pub fn try_out(program: &Path) -> Result<()> {
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
    for _ in 0..LONGEST.as_millis() / step.as_millis() {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("its self-test ended with {status}"),
            None => thread::sleep(step),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    bail!("its self-test did not end within {} minutes", LONGEST.as_secs() / 60)
}

/// Gives a new program the name of the old one, which is kept beside.
///
/// # Errors
///
/// If the files cannot be named so; then the old one has its name still.
pub fn take_place(program: &Path, new: &Path) -> io::Result<()> {
    let old = old(program);
    let _ = fs::remove_file(&old);
    if cfg!(windows) {
        // A program that runs can be renamed there, not replaced.
        fs::rename(program, &old)?;
        return fs::rename(new, program).inspect_err(|_| drop(fs::rename(&old, program)));
    }
    fs::hard_link(program, &old).or_else(|_| fs::copy(program, &old).map(drop))?;
    fs::rename(new, program)
}

/// Gives the old program its name back.
///
/// # Errors
///
/// If it is not there.
pub fn bring_back(program: &Path) -> io::Result<()> {
    let old = old(program);
    fs::metadata(&old)?;
    if cfg!(windows) {
        fs::rename(program, program.with_extension("failed"))?;
    }
    fs::rename(old, program)
}

/// Becomes the program that has this name now, with the same arguments. Where a program cannot do that it starts the other
/// one, and ends.
#[must_use]
pub fn become_it(program: &Path) -> io::Error {
    #[cfg(unix)]
    return std::os::unix::process::CommandExt::exec(Command::new(program).args(std::env::args_os().skip(1)));
    #[cfg(not(unix))]
    match Command::new(program).args(std::env::args_os().skip(1)).spawn() {
        Ok(_) => std::process::exit(0),
        Err(error) => error,
    }
}

fn old(program: &Path) -> PathBuf {
    let mut name = program.file_name().unwrap_or_default().to_owned();
    name.push(".old");
    program.with_file_name(name)
}
