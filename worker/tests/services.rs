//! Units that systemd itself parses, for any path of the program.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped checks and counts are printed")]

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use worker::service::systemd;

#[test]
fn the_system_unit_is_refused_for_a_program_that_it_would_not_see() {
    for hidden in ["/home/ann/.local/bin/chuhe-worker", "/root/chuhe-worker", "chuhe-worker", "/opt/a\nb", "/opt/a\\b"]
    {
        assert!(systemd(hidden, false).is_err(), "{hidden}");
    }
    assert!(systemd("/home/ann/.local/bin/chuhe-worker", true).is_ok());
    // No variable can name a folder that the unit may not write.
    assert!(systemd("/opt/chuhe-worker", false).unwrap().contains("run --state %S/chuhe-worker\n"));
}

#[test]
fn systemd_reads_every_path_as_it_is() {
    let verify = |unit: &std::path::Path| Command::new("systemd-analyze").arg("verify").arg(unit).output();
    let folder = tempfile::Builder::new().prefix("units").tempdir_in("/var/tmp").unwrap();
    for name in ["plain", "with blank", "100%h", "%n of $HOME", "楚河"] {
        let place = folder.path().join(name);
        fs::create_dir(&place).unwrap();
        let program = place.join("chuhe-worker");
        fs::write(&program, "").unwrap();
        let unit = folder.path().join("chuhe-worker.service");
        for is_there in [true, false] {
            // A missing program is reported only if its path was parsed correctly.
            let mode = if is_there { 0o755 } else { 0o644 };
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
            fs::write(&unit, systemd(program.to_str().unwrap(), false).unwrap()).unwrap();
            let Ok(output) = verify(&unit) else {
                println!("SKIPPED: there is no systemd-analyze here, so the units were not checked");
                return;
            };
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let of_ours: Vec<_> = said.lines().filter(|line| line.contains("chuhe-worker")).collect();
            assert_eq!(of_ours.is_empty(), is_there, "{name}: {said}");
        }
    }
}
