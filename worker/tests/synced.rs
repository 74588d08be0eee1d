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
    let is_question = |call: &&Call| {
        call.is(&["write", "writev", "sendto", "sendmsg"]) && call.text.contains("\"PUT /api/v1/leases/")
    };
    let sent: Vec<_> = calls.iter().filter(is_question).collect();
    assert_eq!(sent.len(), 3);
    for request in sent {
        // The submission was read from the outbox just before.
        let opened = before("a result that is read", request, &|call| {
            call.is(&["openat"]) && call.text.contains(".result\"") && !call.text.contains("O_CREAT")
        });
        let path = String::from_utf8(opened.texts().swap_remove(0)).unwrap();
        let name = path.rsplit('/').next().unwrap();
        let folder = before("the folder is synced", request, &|call| is_sync(call, "/outbox>"));
        let named = before("the result gets its name", folder, &|call| call.is(&named) && call.text.contains(name));
        before("the file is synced", named, &|call| is_sync(call, &format!("/.{name}.")));
    }

    // A journal's name is durable before its first game.
    let mut journals: Vec<_> = calls
        .iter()
        .filter(|call| call.is(&["openat"]) && call.text.contains(".games\"") && call.text.contains("O_CREAT"))
        .collect();
    journals.dedup_by_key(|call| call.texts());
    assert_eq!(journals.len(), 3);
    for journal in journals {
        let path = String::from_utf8(journal.texts().swap_remove(0)).unwrap();
        let first = calls.iter().find(|call| call.is(&["write"]) && call.text.contains(&format!("{path}>")));
        let first = first.expect("games are written");
        let folder = before("the folder is synced", first, &|call| is_sync(call, "/leases>"));
        assert!(folder.began > journal.ended, "its folder is synced after it is made");
    }
}
