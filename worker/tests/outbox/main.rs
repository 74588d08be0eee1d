//! The outbox: its content, also after a crash.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
#![allow(clippy::print_stdout, reason = "skipped checks and counts are printed")]

#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod disk;

use std::fs;

use dataset::Digest;
use worker::outbox::{Outbox, Submission, SubmissionMeta};

fn submission(number: u8) -> Submission {
    let shard: Vec<u8> = (0..500u32).map(|index| (index * u32::from(number) + 7) as u8).collect();
    let meta = SubmissionMeta {
        server: "https://games.example.org".to_owned(),
        lease: format!("lease {number}"),
        first: u64::from(number),
        games: 3,
        sha256: Some(Digest::of(&shard)),
        release_from: None,
        until: 0,
    };
    Submission { meta, shard }
}

#[test]
fn a_result_that_the_disk_has_changed_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(folder.path()).unwrap();
    outbox.put("1", &submission(1)).unwrap();
    let file = folder.path().join("outbox/1.result");
    let sound = fs::read(&file).unwrap();
    for place in [0, 64, 100, sound.len() - 1] {
        let mut bytes = sound.clone();
        bytes[place] ^= 1;
        fs::write(&file, bytes).unwrap();
        assert_eq!(outbox.read("1").unwrap_err().kind(), std::io::ErrorKind::InvalidData, "{place}");
    }
    outbox.reject("1", "the file was damaged on this disk").unwrap();
    assert_eq!(outbox.names().unwrap(), [""; 0]);
    assert_eq!(outbox.refused().unwrap(), ["1"]);
}

/// An obstacle is not mistaken for a stored result, which would lose games.
#[test]
fn a_failed_put_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(folder.path()).unwrap();
    fs::remove_dir(folder.path().join("outbox")).unwrap();
    fs::write(folder.path().join("outbox"), "").unwrap();
    assert!(outbox.put("1", &submission(1)).is_err());
    fs::remove_file(folder.path().join("outbox")).unwrap();
    outbox.put("1", &submission(1)).unwrap();
    // A damaged file is replaced.
    fs::write(folder.path().join("outbox/1.result"), "nonsense").unwrap();
    outbox.put("1", &submission(1)).unwrap();
    outbox.put("1", &submission(1)).unwrap();
    assert_eq!(outbox.read("1").unwrap(), submission(1));
}
