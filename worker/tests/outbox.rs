//! After any operations and a crash in the middle of the last, the outbox holds every result that nobody has thanked for,
//! once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{collections::BTreeSet, fs, path::Path};

use dataset::Digest;
use proptest::prelude::*;
use worker::outbox::{Label, Outbox, Parcel};

#[derive(Clone, Debug)]
enum Operation {
    Put(u8),
    Thanked(u8),
    Refused(u8),
    Restart,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0u8..6).prop_map(Operation::Put),
        2 => (0u8..6).prop_map(Operation::Thanked),
        1 => (0u8..6).prop_map(Operation::Refused),
        1 => Just(Operation::Restart),
    ]
}

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

fn bytes(number: u8) -> Vec<u8> {
    parcel(number).to_bytes().unwrap()
}

/// What a crash in the middle of an operation can leave, by its moment: before it, after it, and in between.
fn crash(root: &Path, outbox: &Outbox, operation: &Operation, moment: u8) {
    let name = |number: u8| format!("{number}");
    match *operation {
        Operation::Put(number) if moment < 4 && !outbox.has(&name(number)) => {
            // A file without its name, cut anywhere.
            let bytes = bytes(number);
            let cut = bytes.len() * usize::from(moment) / 3;
            fs::write(root.join(format!("outbox/.{number}.result.77.part")), &bytes[..cut]).unwrap();
        }
        Operation::Refused(number) if moment > 0 && outbox.has(&name(number)) => {
            // What goes to `refused` is there, whole or not, and has not left the outbox.
            let cut = if moment == 1 { ".1" } else { "1" };
            fs::write(root.join(format!("refused/{cut}.chuhe{}", if moment == 1 { ".77.part" } else { "" })), b"x")
                .unwrap();
        }
        _ => {}
    }
}

fn check(root: &Path, model: &BTreeSet<u8>) {
    let outbox = Outbox::open(root).unwrap();
    let names: Vec<_> = model.iter().map(|number| format!("{number}")).collect();
    assert_eq!(outbox.names().unwrap(), names);
    for &number in model {
        assert_eq!(outbox.read(&format!("{number}")).unwrap(), parcel(number));
    }
    let leftovers = fs::read_dir(root.join("outbox")).unwrap().count();
    assert_eq!(leftovers, model.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whoever_was_not_thanked_is_there_once(
        operations in prop::collection::vec(operation(), 1..30),
        last in operation(),
        moment in 0u8..5,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut outbox = Outbox::open(root).unwrap();
        let mut model = BTreeSet::new();
        for operation in operations {
            match operation {
                Operation::Put(number) => {
                    outbox.put(&format!("{number}"), &parcel(number)).unwrap();
                    model.insert(number);
                }
                Operation::Thanked(number) => {
                    outbox.thanked(&format!("{number}")).unwrap();
                    model.remove(&number);
                }
                Operation::Refused(number) => {
                    if model.remove(&number) {
                        outbox.refuse(&format!("{number}"), "no").unwrap();
                        assert_eq!(fs::read(root.join(format!("refused/{number}.chuhe"))).unwrap(), parcel(number).shard);
                    }
                }
                Operation::Restart => outbox = Outbox::open(root).unwrap(),
            }
        }
        crash(root, &outbox, &last, moment);
        check(root, &model);
    }
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
