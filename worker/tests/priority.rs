//! Priority of the worker's session.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use std::{
    env, fs,
    process::{Command, Stdio},
};

use worker::priority::YieldingSession;

/// The nice value of the session's autogroup; none without autogroups.
fn share() -> Option<i32> {
    let line = fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    line.rsplit_once(" nice ")?.1.trim().parse().ok()
}

/// Runs this test again, as leader or member of a session; returns its output.
fn again(command: &mut Command) -> String {
    let name = "a_session_of_its_own_gives_way_for_as_long_as_wanted";
    let output = command.args(["--exact", name, "--nocapture"]).env("CHUHE_AGAIN", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[allow(clippy::print_stdout, reason = "one process tells another what it saw")]
fn a_session_of_its_own_gives_way_for_as_long_as_wanted() {
    let Some(before) = share() else { return };
    if env::var_os("CHUHE_AGAIN").is_none() {
        let program = env::current_exe().unwrap();
        let alone = again(Command::new("setsid").arg("--wait").arg(&program));
        assert!(alone.contains("shares 0, 19, 0\n"), "{alone}");
        // Here the test neither leads the session nor reads a terminal.
        let among_others = again(Command::new(&program).stdin(Stdio::null()));
        assert!(among_others.contains(&format!("shares {before}, {before}, {before}\n")), "{among_others}");
        return;
    }
    let yielding = YieldingSession::begin();
    let while_playing = share().unwrap();
    drop(yielding);
    println!("shares {before}, {while_playing}, {}", share().unwrap());
}
