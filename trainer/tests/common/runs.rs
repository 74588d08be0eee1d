//! Runs as processes.

#![allow(dead_code, reason = "every test uses some of it")]

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use dataset::random::{Stream, Use};

use crate::games::Folder;

/// Trains by the folder's recipe into a subfolder.
pub(crate) fn trainer(folder: &Folder, out: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe-trainer"));
    command.arg("train").arg(folder.file("recipe.toml")).arg("--out").arg(folder.file(out)).args(more);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

pub(crate) fn run(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
}

pub(crate) fn done(command: &mut Command) -> Output {
    let output = run(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Expects a rejection, and returns its one sentence.
pub(crate) fn rejected(command: &mut Command) -> String {
    let output = run(command);
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), sentence.lines().count()), (Some(2), 1), "{sentence}");
    assert!(output.stdout.is_empty());
    sentence
}

/// Kills a run repeatedly, each time with other arguments, at a random time after its checkpoint
/// was written `changes` times; then lets it end. Expects at least two kills.
pub(crate) fn killed_and_resumed(folder: &Folder, out: &str, all: &[&str], each: &[(usize, &[&str])]) {
    let mut killed = 0;
    let mut dice = Stream::new(Use::BookOrder, 31, each.len() as u64);
    for (changes, more) in each {
        let mut child = trainer(folder, out, &[all, more].concat()).spawn().unwrap();
        wait_for_changes(&mut child, &folder.file(out).join("checkpoint.safetensors"), *changes);
        thread::sleep(Duration::from_micros(dice.below(40_000)));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(killed >= 2, "it ended before it could be killed");
    done(&mut trainer(folder, out, all));
}

/// Waits until a file was replaced `changes` times, or the process has ended.
pub(crate) fn wait_for_changes(child: &mut Child, file: &Path, changes: usize) {
    let which = || fs::metadata(file).map(|metadata| (metadata.ino(), metadata.modified().ok())).ok();
    let mut last = which();
    let mut seen = 0;
    while seen < changes && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
        let now = which();
        seen += usize::from(now != last);
        last = now;
    }
}

/// Expects two runs to have the same bytes, except for the number of threads.
pub(crate) fn same(folder: &Folder, one: &str, other: &str) {
    for name in [
        "net.nnue",
        "best.nnue",
        "metrics.jsonl",
        "checkpoint.safetensors",
        "best.safetensors",
        "curves.svg",
        "events.out.tfevents.chuhe",
    ] {
        let read = |run: &str| fs::read(folder.file(run).join(name)).unwrap();
        assert!(read(one) == read(other), "{name}");
    }
}
