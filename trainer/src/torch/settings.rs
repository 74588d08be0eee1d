//! Environment variables that libtorch reads only at the start of a process.

use std::env;

/// Settings for reproducible results on the CPU, so that a resumed run ends with the same bytes.
/// The order of summation then depends neither on memory addresses nor on the load of the machine.
const SAME_BYTES: [(&str, &str); 3] = [("MKL_CBWR", "AUTO,STRICT"), ("MKL_DYNAMIC", "FALSE"), ("OMP_DYNAMIC", "FALSE")];

/// Settings for speed, unless the user has set them: memory stays with the process, and idle
/// threads sleep.
const FAST: [(&str, &str); 4] = [
    ("MALLOC_MMAP_THRESHOLD_", "8589934592"),
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
    ("MALLOC_TOP_PAD_", "1073741824"),
    ("OMP_WAIT_POLICY", "passive"),
];

/// The reproducibility settings in force in this process.
#[must_use]
pub fn in_force() -> String {
    let set = SAME_BYTES.iter().filter(|(name, value)| is(name, value));
    let mut words: Vec<_> = set.map(|(name, value)| format!("{name}={value}")).collect();
    // The instruction set of libtorch's loops, where the user has chosen one; the default is the
    // widest.
    words.extend(env::var("ATEN_CPU_CAPABILITY").map(|value| format!("ATEN_CPU_CAPABILITY={value}")));
    if words.is_empty() { "no settings".to_owned() } else { words.join(" ") }
}

/// Restarts the program with these settings, if it was started without them.
///
/// # Errors
///
/// If the program cannot restart.
pub fn apply() -> std::io::Result<()> {
    let wanted = SAME_BYTES.iter().filter(|(name, value)| !is(name, value));
    let missing: Vec<_> = wanted.chain(FAST.iter().filter(|(name, _)| env::var_os(name).is_none())).collect();
    if missing.is_empty() {
        return Ok(());
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let mut command = std::process::Command::new(env::current_exe()?);
        command.args(env::args_os().skip(1)).envs(missing.into_iter().copied());
        Err(command.exec())
    }
    #[cfg(not(unix))]
    Ok(())
}

fn is(name: &str, value: &str) -> bool {
    env::var_os(name).is_some_and(|found| found == value)
}
