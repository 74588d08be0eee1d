//! A disk that blocks: neither games nor the owner wait for it.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;

use std::{
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
#[cfg(target_os = "linux")]
use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt as _, path::Path, process::Command};

#[cfg(target_os = "linux")]
use common::{clock, wait_until};
use common::{coordinator::Coordinator, digest_of, header, in_process::Worker};
use engine::Evaluation;
use testkit::{FastClock, Gate};
use worker::spool::Disk;
#[cfg(target_os = "linux")]
use worker::{control::ControlCommand, status::Doing};

/// A disk whose syncs wait at a gate, except the first ones.
struct SlowDisk {
    gate: Arc<Gate>,
    passing: AtomicUsize,
}

impl Disk for SlowDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        if self.passing.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            self.gate.pass();
        }
        file.sync_data()
    }
}

#[test]
fn games_go_on_while_a_sync_is_blocked() {
    let coordinator = Coordinator::new(header(300), 400, 200);
    let state = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    gate.close();
    // A request, its lease and the name of that are synced before the first game.
    let disk = Arc::new(SlowDisk { gate: Arc::clone(&gate), passing: AtomicUsize::new(3) });
    // Its clock is fast, so that syncs are due soon.
    let worker = Worker::start_on(&coordinator.url(), state.path(), Arc::new(FastClock::new(50)), disk);
    // The writer waits for the disk, and the games of the lease are played all the same.
    worker.said.wait_for(|snapshot| snapshot.games == 200 && gate.waiting() > 0);
    assert!(coordinator.state().accepted.is_empty());
    gate.open();
    coordinator.wait_for(400);
    worker.finish();
    coordinator.check(digest_of(&header(300), Evaluation::Plain, None, 400));
}

/// Pipes without another end stand for files of a disk that hangs: the status file, and the
/// request that the spool reads at its start.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_worker_on_a_hanging_disk() {
    use common::process::{Process, log_of};

    // Before the worker has begun, a signal ends it at once.
    for (file, expected) in [(".status.new", Some(0)), ("asking", None)] {
        let coordinator = Coordinator::new(header(2000), 10_000, 10_000);
        let state = tempfile::tempdir().unwrap();
        let pipe = state.path().join(file);
        make_pipe(&pipe);
        let worker = Process::start(&coordinator.url(), state.path(), &[]);
        let mut writer = None;
        wait_until(|| {
            if file == "asking" {
                // This fails until the worker reads.
                writer = OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(&pipe).ok();
            }
            coordinator.state().asked > 0 || writer.is_some()
        });
        worker.signal("TERM");
        assert_eq!(worker.end(), expected, "{file}: {}", log_of(state.path()));
    }
}

/// From Linux's `fcntl.h`.
#[cfg(target_os = "linux")]
const O_NONBLOCK: i32 = 0o4000;

/// Makes a pipe: who opens it waits for its other end.
#[cfg(target_os = "linux")]
fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Status file and pause file are on a disk that hangs.
#[cfg(target_os = "linux")]
#[test]
fn the_screen_and_the_owners_signals_do_not_wait_for_a_hanging_disk() {
    let coordinator = Coordinator::new(header(2000), 10_000, 10_000);
    let state = tempfile::tempdir().unwrap();
    make_pipe(&state.path().join(".status.new"));
    let worker = Worker::start(&coordinator.url(), state.path(), clock());
    worker.said.wait_for(|snapshot| snapshot.games > 0);
    make_pipe(&state.path().join("paused"));
    worker.control.add(ControlCommand::Pause);
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Resting);
    worker.control.add(ControlCommand::Resume);
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Playing);
    worker.stop();
}

/// A full pipe stands for a terminal whose output is stopped.
#[cfg(target_os = "linux")]
#[test]
fn an_error_does_not_wait_for_a_stopped_terminal() {
    use std::{io::Write as _, os::fd::AsRawFd as _, process::Stdio};

    use common::process::PROGRAM;

    let (_reader, writer) = io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let mut filler = OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(path).unwrap();
    for size in [1 << 12, 1] {
        while filler.write(&vec![0; size]).is_ok() {}
    }
    let state = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["run", "--server", "localhost"]).env("CHUHE_CONFIG", state.path().join("none.toml"));
    let mut worker = command.env("CHUHE_STATE", state.path()).stdin(Stdio::null()).stderr(writer).spawn().unwrap();
    let mut status = None;
    wait_until(|| {
        status = worker.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(2), "no token is given");
}
