//! Service definitions for systemd, launchd and Windows.

use anyhow::{Result, ensure};

/// Folders that the system unit hides from the worker.
const HIDDEN: [&str; 4] = ["/home/", "/root/", "/run/user/", "/tmp/"];

/// Returns a systemd unit, sandboxed to its own state folder.
///
/// # Errors
///
/// If the unit could not start the program: systemd needs an absolute path, and the system unit
/// sees no home folders.
pub fn systemd(program: &str, user: bool) -> Result<String> {
    ensure!(program.starts_with('/'), "`{program}`: systemd wants the whole path");
    let forbidden = |letter: char| letter.is_control() || "\"'\\".contains(letter);
    ensure!(!program.contains(forbidden), "{program:?}: systemd starts no program with such signs in its path");
    let hidden = HIDDEN.iter().any(|folder| program.starts_with(folder));
    ensure!(
        user || !hidden,
        "`{program}`: the machine's services do not see this folder; copy the program to /usr/local/bin and name it with \
         `--program`, or take `--user`"
    );
    let text = include_str!("service/chuhe-worker.service").replace("@PROGRAM@", &quote(program));
    if !user {
        return Ok(text
            // An explicit folder: no variable can name another one, which the sandbox forbids.
            .replace("@STATE@", " --state %S/chuhe-worker")
            .replace("@USER@", "DynamicUser=yes\nStateDirectory=chuhe-worker\nEnvironmentFile=/etc/chuhe/worker.env")
            .replace("@TARGET@", "multi-user.target"));
    }
    // A user manager has no other users and cannot mount.
    let unwanted = ["@USER@", "Protect", "Private", "Restrict", "Capability", "IPAddress", "RemoveIPC", "ProcSubset"];
    let lines = text.lines().filter(|line| !unwanted.iter().any(|unwanted| line.starts_with(unwanted)));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    Ok(text.replace("@STATE@", "").replace("@TARGET@", "default.target"))
}

/// Quotes a path for a unit's command line, in which `%` begins a specifier.
fn quote(path: &str) -> String {
    let path = path.replace('%', "%%");
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}

/// Returns a property list for launchd.
#[must_use]
pub fn launchd(program: &str) -> String {
    let program = program.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    include_str!("service/org.chuhe.worker.plist").replace("@PROGRAM@", &program)
}

/// Returns the command that starts the worker at logon on Windows.
#[must_use]
pub fn windows(program: &str) -> String {
    format!("schtasks /Create /TN chuhe-worker /SC ONLOGON /RL LIMITED /F /TR \"\\\"{program}\\\" run\"\n")
}
