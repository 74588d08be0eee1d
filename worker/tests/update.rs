//! Updates: what is believed, what is tried, and what comes back. The signatures in `data/update` are by a key that is worth
//! nothing; `key.pub` beside is its public half.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{fs, path::PathBuf};

use worker::update::{Start, at_start, give_back, install, is_on_trial, judge, source, works};

const KEY: &str = "RWRDSFVIRVRTVDT9OkuzSnOfzpVVAYH9TfpmWD5WeMBFILzy1j17UP4/";
const OTHER: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
const SYSTEM: &str = "linux-x86_64";

fn data(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from("tests/data/update").join(name)).unwrap()
}

fn signature(name: &str) -> String {
    String::from_utf8(data(name)).unwrap()
}

#[test]
fn without_a_key_in_the_build_nothing_is_asked() {
    assert!(option_env!("CHUHE_UPDATE_KEY").is_some() || source().is_none());
}

#[test]
fn only_what_is_signed_newer_and_for_this_system_is_taken() {
    let (text, sign) = (data("newer.release"), signature("newer.release.minisig"));
    let release = judge(&text, &sign, KEY, SYSTEM, "0.1.0", "").unwrap().unwrap();
    assert_eq!((release.version.as_str(), release.bytes), ("9.0.0", 17));
    // No downgrade, nothing twice, and nothing that has failed before.
    for running in ["9.0.0", "9.0.1", "10.0.0"] {
        assert_eq!(judge(&text, &sign, KEY, SYSTEM, running, "").unwrap(), None, "{running}");
    }
    assert_eq!(judge(&text, &sign, KEY, SYSTEM, "0.1.0", "8.0.0\n9.0.0\n").unwrap(), None);

    let error = |text: &[u8], sign: &str, key, system| {
        format!("{:#}", judge(text, sign, key, system, "0.1.0", "").unwrap_err())
    };
    assert_eq!(error(&text, &sign, KEY, "macos-aarch64"), "the release is for linux-x86_64, not macos-aarch64");
    let mut changed = text.clone();
    changed[13] = b'8';
    assert!(error(&changed, &sign, KEY, SYSTEM).starts_with("the release's signature: "));
    assert!(error(&text, &signature("broken.release.minisig"), KEY, SYSTEM).starts_with("the release's signature: "));
    assert!(error(&text, &sign, OTHER, SYSTEM).starts_with("the release's signature: "));
    assert!(error(&text, "nonsense", KEY, SYSTEM).starts_with("the release's signature: "));
}

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    program: PathBuf,
    new: PathBuf,
}

fn place(new: &str) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    let place =
        Place { program: root.join("chuhe-worker"), new: root.join(".chuhe-worker.new"), root, _folder: folder };
    fs::write(&place.program, "the old one").unwrap();
    fs::write(&place.new, data(new)).unwrap();
    place
}

#[test]
fn a_successor_that_fails_its_test_never_gets_the_name() {
    let Place { root, program, new, .. } = &place("broken.program");
    let error = format!("{:#}", install(root, program, new, "0.1.0", "9.0.1").unwrap_err());
    assert!(error.starts_with("version 9.0.1 failed its self-test here and is not taken: "), "{error}");
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert!(!new.exists() && !is_on_trial(root, "9.0.1"));
    let refused = fs::read_to_string(root.join("update-refused")).unwrap();
    let (text, sign) = (data("broken.release"), signature("broken.release.minisig"));
    assert_eq!(judge(&text, &sign, KEY, SYSTEM, "0.1.0", &refused).unwrap(), None);
}

#[test]
fn a_successor_that_works_stays() {
    let Place { root, program, new, .. } = &place("newer.program");
    install(root, program, new, "0.1.0", "9.0.0").unwrap();
    assert_eq!(fs::read(program).unwrap(), data("newer.program"));
    assert_eq!(at_start(root, program, "9.0.0").unwrap(), Start::Usual);
    assert!(is_on_trial(root, "9.0.0") && !is_on_trial(root, "0.1.0"));
    works(root);
    for _ in 0..3 {
        assert_eq!(at_start(root, program, "9.0.0").unwrap(), Start::Usual);
    }
    assert_eq!(fs::read(program).unwrap(), data("newer.program"));
}

#[test]
fn a_successor_that_does_not_come_far_gives_the_name_back() {
    let Place { root, program, new, .. } = &place("newer.program");
    install(root, program, new, "0.1.0", "9.0.0").unwrap();
    // It breaks off before it can say that it works.
    for _ in 0..3 {
        assert_eq!(at_start(root, program, "9.0.0").unwrap(), Start::Usual);
    }
    assert_eq!(at_start(root, program, "9.0.0").unwrap(), Start::Back);
    assert_eq!(fs::read(program).unwrap(), b"the old one");
    assert_eq!(at_start(root, program, "0.1.0").unwrap(), Start::Usual);
    assert_eq!(fs::read_to_string(root.join("update-refused")).unwrap(), "9.0.0\n");
}

#[test]
fn who_has_no_old_one_keeps_what_there_is() {
    let Place { root, program, .. } = &place("newer.program");
    assert!(give_back(root, program, "9.0.0").is_err());
    assert_eq!(fs::read(program).unwrap(), b"the old one");
}

/// Releases are laid out for both alike: what the script has put there is what an update replaces.
#[test]
fn what_is_installed_is_what_is_updated() {
    if worker::update::system() != SYSTEM {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (releases, bin) = (folder.path().join("releases"), folder.path().join("bin"));
    fs::create_dir(&releases).unwrap();
    fs::write(releases.join(format!("chuhe-worker-{SYSTEM}.release")), data("newer.release")).unwrap();
    let program = releases.join(format!("chuhe-worker-{SYSTEM}-9.0.0"));
    let run = || {
        let mut script = std::process::Command::new("sh");
        script.arg("../scripts/install.sh").arg(&bin);
        script.env("CHUHE_RELEASES", format!("file://{}", releases.display())).output().unwrap()
    };
    fs::write(&program, "another program").unwrap();
    let refused = run();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(!bin.exists());
    fs::write(&program, data("newer.program")).unwrap();
    let done = run();
    assert!(done.status.success(), "{done:?}");
    let installed = bin.join("chuhe-worker");
    assert_eq!(fs::read(&installed).unwrap(), data("newer.program"));

    let new = bin.join(".chuhe-worker.new");
    fs::write(&new, "#!/bin/sh\nexit 0 # the next\n").unwrap();
    install(folder.path(), &installed, &new, "9.0.0", "9.0.2").unwrap();
    assert_eq!(fs::read_to_string(&installed).unwrap(), "#!/bin/sh\nexit 0 # the next\n");
    let names = fs::read_dir(&bin).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["chuhe-worker", "chuhe-worker.old"]);
}
