//! The outbox: what is in it, and what a crash leaves of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "what is passed by, or was seen, is said")]

#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod disk;

use std::fs;

use dataset::Digest;
use worker::outbox::{Label, Outbox, Parcel};

fn parcel(number: u8) -> Parcel {
    let shard: Vec<u8> = (0..500u32).map(|index| (index * u32::from(number) + 7) as u8).collect();
    let label = Label {
        server: "https://games.example.org".to_owned(),
        lease: format!("lease {number}"),
        first: u64::from(number),
        games: 3,
        sha256: Some(Digest::of(&shard)),
        give_back: None,
        until: 0,
    };
    Parcel { label, shard }
}

#[test]
fn what_the_disk_has_changed_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(folder.path()).unwrap();
    outbox.put("1", &parcel(1)).unwrap();
    let file = folder.path().join("outbox/1.result");
    let sound = fs::read(&file).unwrap();
    for place in [0, 64, 100, sound.len() - 1] {
        let mut bytes = sound.clone();
        bytes[place] ^= 1;
        fs::write(&file, bytes).unwrap();
        assert_eq!(outbox.read("1").unwrap_err().kind(), std::io::ErrorKind::InvalidData, "{place}");
    }
    outbox.refuse("1", "the file was damaged on this disk").unwrap();
    assert_eq!(outbox.names().unwrap(), [""; 0]);
    assert_eq!(outbox.refused().unwrap(), ["1"]);
}

/// What is in the way is no result: who took it for one lost games.
#[test]
fn a_result_that_cannot_be_put_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(folder.path()).unwrap();
    fs::remove_dir(folder.path().join("outbox")).unwrap();
    fs::write(folder.path().join("outbox"), "").unwrap();
    assert!(outbox.put("1", &parcel(1)).is_err());
    fs::remove_file(folder.path().join("outbox")).unwrap();
    outbox.put("1", &parcel(1)).unwrap();
    // One that the disk has damaged meanwhile is written again.
    fs::write(folder.path().join("outbox/1.result"), "nonsense").unwrap();
    outbox.put("1", &parcel(1)).unwrap();
    outbox.put("1", &parcel(1)).unwrap();
    assert_eq!(outbox.read("1").unwrap(), parcel(1));
}
