//! What makes a system start the worker by itself.

use anyhow::{Result, ensure};

/// Folders that the machine's unit hides from the worker.
const HIDDEN: [&str; 4] = ["/home/", "/root/", "/run/user/", "/tmp/"];

/// A unit for systemd. It may write its own folder alone, and its process may do little.
///
/// # Errors
///
/// If the unit could not start the program: systemd wants to know all of its path, and the machine's unit sees no homes.
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
    let text = include_str!("service/chuhe-worker.service").replace("@PROGRAM@", &word(program));
    if !user {
        return Ok(text
            // Its folder stands in the line itself: no variable can name one that it may not write.
            .replace("@STATE@", " --state %S/chuhe-worker")
            .replace("@USER@", "DynamicUser=yes\nStateDirectory=chuhe-worker\nEnvironmentFile=/etc/chuhe/worker.env")
            .replace("@TARGET@", "multi-user.target"));
    }
    // A user's own systemd has no other users to give, and mounts nothing.
    let unwanted = ["@USER@", "Protect", "Private", "Restrict", "Capability", "IPAddress", "RemoveIPC", "ProcSubset"];
    let lines = text.lines().filter(|line| !unwanted.iter().any(|unwanted| line.starts_with(unwanted)));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    Ok(text.replace("@STATE@", "").replace("@TARGET@", "default.target"))
}

/// A path as one word of a unit's line, in which `%` begins what systemd fills in.
fn word(path: &str) -> String {
    let path = path.replace('%', "%%");
    if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path }
}

/// A property list for launchd.
#[must_use]
pub fn launchd(program: &str) -> String {
    let program = program.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    include_str!("service/org.chuhe.worker.plist").replace("@PROGRAM@", &program)
}

/// The line that makes Windows start it at logon.
#[must_use]
pub fn windows(program: &str) -> String {
    format!("schtasks /Create /TN chuhe-worker /SC ONLOGON /RL LIMITED /F /TR \"\\\"{program}\\\" run\"\n")
}
