//! What libtorch reads from the environment when a process begins, and only then.

use std::env;

/// What its results on the processor depend on, so that a run that is gone on with ends with the same bytes: sums are
/// taken in an order that depends neither on where memory lies nor on how busy the machine is.
const SAME_BYTES: [(&str, &str); 3] = [("MKL_CBWR", "AUTO,STRICT"), ("MKL_DYNAMIC", "FALSE"), ("OMP_DYNAMIC", "FALSE")];

/// What it is fastest with, unless somebody knows better: memory that stays with the process, threads that do not spin.
const FAST: [(&str, &str); 4] = [
    ("MALLOC_MMAP_THRESHOLD_", "8589934592"),
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
    ("MALLOC_TOP_PAD_", "1073741824"),
    ("OMP_WAIT_POLICY", "passive"),
];

/// The settings that results depend on, as they are in this process.
#[must_use]
pub fn in_force() -> String {
    let set = SAME_BYTES.iter().filter(|(name, value)| is(name, value));
    let mut words: Vec<_> = set.map(|(name, value)| format!("{name}={value}")).collect();
    // Which of its loops libtorch takes, where somebody has chosen: it takes the widest otherwise.
    words.extend(env::var("ATEN_CPU_CAPABILITY").map(|value| format!("ATEN_CPU_CAPABILITY={value}")));
    if words.is_empty() { "no settings".to_owned() } else { words.join(" ") }
}

/// Begins the program again with these settings, if it has begun without them.
///
/// # Errors
///
/// If it cannot be begun again.
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
