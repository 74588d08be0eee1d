//! After any operations and a crash at any time, the spool holds every unacknowledged lease once.
//!
//! The file operations are observed, not assumed. A process works under `strace`, and each of its
//! calls is replayed on a simulated disk that may lose power after it.

use std::{collections::BTreeMap, env, fs, path::Path, process::Command};

use client::JitterRng;
use proptest::prelude::*;
use testkit::trace::{calls, can_watch};
use worker::spool::{Contents, Record, Refused, Spool, State};

use crate::{contents, disk::Disk, open, records};

const ROOT: &str = "CHUHE_TEST_SPOOL";
const SCRIPT: &str = "CHUHE_TEST_OPERATIONS";
const CALLS: &str = "trace=openat,write,fsync,fdatasync,link,linkat,rename,renameat,renameat2,unlink,unlinkat";

fn operation() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0u8..4).prop_map(|number| format!("p{number}")),
        2 => (0u8..4).prop_map(|number| format!("t{number}")),
        1 => (0u8..4).prop_map(|number| format!("r{number}")),
        1 => Just("o".to_owned()),
    ]
}

/// The traced process. It writes the begin and end of each operation to a file.
#[test]
fn traced_process() {
    let (Ok(root), Ok(script)) = (env::var(ROOT), env::var(SCRIPT)) else { return };
    let root = Path::new(&root);
    let say = |text: &str| fs::write(root.join("said"), text).unwrap();
    let (mut spool, refused) = (open(root), Refused::open(root).unwrap());
    for operation in script.split_whitespace() {
        say(&format!("begin {operation}"));
        let (kind, name) = operation.split_at(1);
        let is_there = spool.names().unwrap().iter().any(|known| known == name);
        match kind {
            "p" if !is_there => put(&spool, name),
            "t" => spool.remove(name).unwrap(),
            "r" if is_there => {
                refused.put(name, &bytes_of(name), "no").unwrap();
                spool.remove(name).unwrap();
            }
            "p" | "r" => {}
            _ => spool = open(root),
        }
        say(&format!("end {operation}"));
    }
}

/// Requests a lease, plays its games, and closes it, like a worker.
fn put(spool: &Spool, name: &str) {
    let records = records(name);
    let mut file = spool.ask(name).unwrap();
    let append = |file: &mut worker::spool::SpoolFile, records: &[Record]| {
        let bytes: Vec<_> = records.iter().map(|record| record.to_bytes().unwrap()).collect();
        file.append(&bytes.concat()).unwrap();
        file.sync().unwrap();
    };
    append(&mut file, &records[1..2]);
    spool.grant(name, &mut file).unwrap();
    append(&mut file, &records[2..]);
}

fn bytes_of(name: &str) -> Vec<u8> {
    contents(name).games.into_values().flatten().collect()
}

/// Expected state of a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Absent,
    /// A put or acknowledgement is in progress.
    Perhaps,
    There,
    /// Being moved to `refused`.
    Refusing,
    Refused,
}

fn check(root: &Path, fates: &BTreeMap<String, Fate>, moment: &str) {
    let spool = open(root);
    let names = spool.names().unwrap();
    for (name, &fate) in fates {
        let found = spool.read(name).ok().map(|(contents, _)| contents);
        let is_whole = found.as_ref() == Some(&contents(name));
        if let Some(found) = &found {
            let is_part = found.games.iter().all(|(number, game)| contents(name).games.get(number) == Some(game));
            assert!(is_part && found.state() >= Some(State::Open), "{moment}: {name}: {found:?}");
        }
        let is_refused =
            fs::read(root.join(format!("refused/{name}.chuhe"))).is_ok_and(|bytes| bytes == bytes_of(name));
        let refused = Refused::open(root).unwrap().names().unwrap();
        let holds = match fate {
            Fate::Absent => found.is_none(),
            Fate::Perhaps => true,
            Fate::There => is_whole,
            Fate::Refusing => is_whole || is_refused,
            Fate::Refused => found.is_none() && is_refused && refused.contains(name),
        };
        assert!(holds, "{moment}: {name} should be {fate:?}");
    }
    assert!(names.iter().all(|name| fates.contains_key(name)), "{moment}: {names:?}");
    let files = fs::read_dir(root.join("spool")).unwrap().count();
    assert_eq!(files, names.len(), "{moment}: something is left over");
    if let Ok(asked) = fs::read(root.join("asking")) {
        assert_eq!(Contents::read(&asked).0.state(), Some(State::Asked), "{moment}");
    }
}

/// Traces and replays a script; returns the number of simulated power losses.
fn watch(script: &[String], rng: &mut JitterRng) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("worker");
    fs::create_dir(&root).unwrap();
    let trace = folder.path().join("trace");
    let status = Command::new("strace")
        .args(["-f", "-y", "-s", "100000", "-e", CALLS, "-o"])
        .arg(&trace)
        .arg(env::current_exe().unwrap())
        .args(["--exact", "crash::traced_process"])
        .env(ROOT, &root)
        .env(SCRIPT, script.join(" "))
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    let trace = String::from_utf8_lossy(&fs::read(trace).unwrap()).into_owned();
    let (mut disk, mut moments) = (Disk::new(&root), 0);
    let mut fates = BTreeMap::<String, Fate>::new();
    let said = format!("<{}>", root.join("said").display());
    for call in calls(&trace) {
        if call.is(&["write"]) && call.text.contains(&said) {
            let text = String::from_utf8(call.texts().swap_remove(0)).unwrap();
            let (when, operation) = text.split_once(' ').unwrap();
            let (kind, name) = operation.split_at(1);
            if name.is_empty() {
                continue;
            }
            let fate = fates.entry(name.to_owned()).or_default();
            *fate = match (kind, when, *fate) {
                ("p", "begin", Fate::There) => Fate::There,
                ("p" | "t", "begin", _) => Fate::Perhaps,
                ("p", ..) => Fate::There,
                ("r", "begin", Fate::There) => Fate::Refusing,
                ("r", "end", Fate::Refusing) => Fate::Refused,
                ("r", _, fate) => fate,
                _ => Fate::Absent,
            };
            continue;
        }
        if !disk.act(&call) {
            continue;
        }
        moments += 1;
        for _ in 0..3 {
            let after = folder.path().join("after");
            disk.lose_power(rng, &after);
            check(&after, &fates, &format!("{script:?}, after {}", call.text.get(..120).unwrap_or(&call.text)));
            fs::remove_dir_all(after).unwrap();
        }
    }
    moments
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_unacknowledged_lease_is_stored_once(
        script in prop::collection::vec(operation(), 1..16),
        seed in any::<u64>(),
    ) {
        if can_watch("what the spool does with its files") {
            watch(&script, &mut JitterRng::new(seed));
        }
    }
}

/// A lease is created under another name, written, synced and renamed, and its folder is synced: at
/// least these steps are seen.
#[test]
fn every_step_is_traced() {
    if can_watch("what the spool does with its files") {
        let script = ["p1", "r1", "p2", "t2"].map(str::to_owned);
        let moments = watch(&script, &mut JitterRng::new(1));
        assert!(moments >= 24, "only {moments} moments were seen");
    }
}
