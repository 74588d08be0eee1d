//! What makes a system start the worker by itself.

/// A unit for systemd. It may write its own folder alone, and its process may do little.
#[must_use]
pub fn systemd(program: &str, user: bool) -> String {
    let text = include_str!("service/chuhe-worker.service").replace("@PROGRAM@", program);
    if !user {
        return text
            .replace("@USER@", "DynamicUser=yes\nStateDirectory=chuhe-worker\nEnvironmentFile=/etc/chuhe/worker.env")
            .replace("@TARGET@", "multi-user.target");
    }
    // A user's own systemd has no other users to give, and mounts nothing.
    let unwanted = ["@USER@", "Protect", "Private", "Restrict", "Capability", "IPAddress", "RemoveIPC", "ProcSubset"];
    let lines = text.lines().filter(|line| !unwanted.iter().any(|unwanted| line.starts_with(unwanted)));
    (lines.collect::<Vec<_>>().join("\n") + "\n").replace("@TARGET@", "default.target")
}

/// A property list for launchd.
#[must_use]
pub fn launchd(program: &str) -> String {
    include_str!("service/org.chuhe.worker.plist").replace("@PROGRAM@", program)
}

/// The line that makes Windows start it at logon.
#[must_use]
pub fn windows(program: &str) -> String {
    format!("schtasks /Create /TN chuhe-worker /SC ONLOGON /RL LIMITED /F /TR \"\\\"{program}\\\" run\"\n")
}
