//! A result is sent only after it is durable: `strace` records the worker's system calls.
//!
//! `kill -9` cannot show that: the system still holds the writes of a killed process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped checks and counts are printed")]

mod common;

use std::{fs, process::Command};

use common::{
    coordinator::Coordinator,
    digest_of, header,
    process::{PROGRAM, Process, log_of},
};
use engine::Evaluation;
use testkit::trace::{Call, calls, can_watch};

const CALLS: &str = "trace=openat,write,writev,sendto,sendmsg,fsync,fdatasync,link,linkat,rename,renameat,renameat2";

const WRITES: [&str; 4] = ["write", "writev", "sendto", "sendmsg"];

#[test]
fn a_result_is_sent_after_the_syncs() {
    if !can_watch("the syncs before a result is sent") {
        return;
    }
    let coordinator = Coordinator::new(header(150), 12, 4);
    let folder = tempfile::tempdir().unwrap();
    let (state, file) = (folder.path().join("state"), folder.path().join("trace"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "64", "-e", CALLS, "-o"]).arg(&file).arg(PROGRAM);
    let worker = Process::start_by(strace, &coordinator.url(), &state, &["--leases", "3"]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(&state));
    coordinator.check(digest_of(&header(150), Evaluation::Plain, None, 12));

    let trace = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    let calls = calls(&trace);
    let before = |what: &str, end: &Call, holds: &dyn Fn(&Call) -> bool| {
        let found = calls.iter().rev().find(|call| call.ended < end.began && call.went_well() && holds(call));
        found.unwrap_or_else(|| panic!("not before {}: {what}", end.text))
    };
    let is_sync = |call: &Call, path: &str| call.is(&["fsync", "fdatasync"]) && call.text.contains(path);
    let named = ["link", "linkat", "rename", "renameat", "renameat2"];
    let is_write = |call: &Call, path: &str| call.is(&["write"]) && call.text.contains(&format!("{path}>"));
    let is_question = |call: &&Call| call.is(&WRITES) && call.text.contains("\"PUT /api/v1/leases/");
    let sent: Vec<_> = calls.iter().filter(is_question).collect();
    assert_eq!(sent.len(), 3);
    for request in sent {
        // The lease was read from the spool just before.
        let opened = before("a lease that is read", request, &|call| {
            call.is(&["openat"]) && call.text.contains("/spool/") && call.text.contains(".lease\"")
        });
        let path = String::from_utf8(opened.texts().swap_remove(0)).unwrap();
        let name = path.rsplit('/').next().unwrap();
        let written = before("its games are written", opened, &|call| is_write(call, &path));
        let synced = before("the file is synced", opened, &|call| is_sync(call, &path));
        assert!(written.ended < synced.began, "{path} is synced after its last record");
        let folder = before("the folder is synced", request, &|call| is_sync(call, "/spool>"));
        before("the lease gets its name", folder, &|call| call.is(&named) && call.text.contains(name));
    }

    // A lease and its name are durable before its first game, and a request before it is sent.
    let granted: Vec<_> = calls.iter().filter(|call| call.is(&named) && call.text.contains("/spool/")).collect();
    assert_eq!(granted.len(), 3);
    for granted in granted {
        let path = String::from_utf8(granted.texts().swap_remove(1)).unwrap();
        before("the lease is synced", granted, &|call| is_sync(call, "/asking"));
        let first = calls.iter().find(|call| is_write(call, &path)).expect("games are written");
        let folder = before("the folder is synced", first, &|call| is_sync(call, "/spool>"));
        assert!(folder.began > granted.ended, "its folder is synced after it is made");
    }
    let asked = calls.iter().filter(|call| call.is(&WRITES) && call.text.contains("\"POST /api/v1/leases "));
    for request in asked {
        let created = before("a request", request, &|call| call.is(&["openat"]) && call.text.contains("/asking\""));
        let synced = before("the request is synced", request, &|call| is_sync(call, "/asking>"));
        assert!(created.ended < synced.began);
    }
}
