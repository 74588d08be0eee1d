//! `chuhe selfplay`: reproducible games, written whole or not at all.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use dataset::{Record, RunDigest, shard::Shard, verify::verify_shard};
use serde_json::Value;

/// A path that does not exist yet.
fn new_folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

fn run(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    command.args(["selfplay", "--games", "4", "--nodes", "200", "--seed", "7", "--hash", "1", "--out"]);
    command.arg(folder).args(more).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn digests_and_files_are_equal_with_one_and_two_threads() {
    let play = |threads: &str| {
        let folder = new_folder(&format!("selfplay-{threads}"));
        let output = run(&folder, &["--threads", threads, "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = answer.as_object_mut().unwrap();
        assert!(answer.remove("seconds").is_some() && answer.remove("file").is_some());
        assert_eq!(names(&folder), ["games-seed7-4.chuhe"]);
        (answer.clone(), fs::read(folder.join("games-seed7-4.chuhe")).unwrap())
    };
    let (answer, bytes) = play("1");
    let printed = run(&new_folder("selfplay-text"), &[]).stdout;
    let last = format!("\ndigest {}\n", answer["digest"].as_str().unwrap());
    assert!(String::from_utf8(printed).unwrap().ends_with(&last));
    assert_eq!((answer.clone(), bytes.clone()), play("2"));
    let shard = Shard::new(bytes).unwrap();
    let header = shard.header();
    assert_eq!((header.settings.hard_nodes, header.openings.plies, header.seed, header.first_game), (200, 8, 7, 0));
    let records: Vec<Record> = shard.records().map(|game| game.unwrap().1).collect();
    let mut digest = RunDigest::default();
    for record in &records {
        digest.add(record);
    }
    assert_eq!(answer["digest"], digest.digest().to_string());
    let scored: usize = records.iter().map(|record| record.moves.len()).sum();
    assert_eq!(
        (&answer["games"], &answer["positions"], &answer["plies"]),
        (&4.into(), &scored.into(), &(scored + 32).into())
    );
    let words = |record: &Record| [("outcomes", record.outcome.name()), ("reasons", record.reason.name())];
    for what in ["outcomes", "reasons"] {
        for (name, count) in answer[what].as_object().unwrap() {
            let found = records.iter().filter(|record| words(record).contains(&(what, name))).count();
            assert_eq!(count, found, "{name}");
        }
    }
    assert_eq!(verify_shard(&shard, None, NonZeroUsize::MIN).unwrap().faults, []);
}

/// Readers compare it with the digest of their own machine.
#[test]
fn the_documented_digest_is_that_of_its_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = fs::read_to_string(root.join("docs/REPRODUCE.md")).unwrap();
    let (_, rest) = document.split_once("\n$ chuhe selfplay ").unwrap();
    let mut lines = rest.split("\n```").next().unwrap().lines();
    let (arguments, _) = lines.next().unwrap().split_once(" --out ").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
    command.arg("selfplay").args(arguments.split(' ')).arg("--out").arg(new_folder("selfplay-documented"));
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let documented: Vec<&str> = lines.filter(|line| *line != "…").collect();
    assert!(documented.len() == 2 && printed.ends_with(&format!("\n{}\n", documented.join("\n"))), "{printed}");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(
        readme.contains(&format!(" # {}… ", &documented[1][.."digest ".len() + 16])),
        "the README has its beginning"
    );
}

#[test]
fn a_run_can_be_played_in_parts() {
    let folder = new_folder("selfplay-parts");
    for more in [&[][..], &["--first", "3"]] {
        assert!(run(&folder, more).status.success());
    }
    let shard = |name: &str| Shard::new(fs::read(folder.join(name)).unwrap()).unwrap();
    let (whole, part) = (shard("games-seed7-4.chuhe"), shard("games-seed7-4-from3.chuhe"));
    assert_eq!(part.header().first_game, 3);
    assert_eq!(part.game(3).unwrap(), whole.game(3).unwrap());
    assert_eq!(part.game(6).unwrap().opening.seed, whole.header().seed_of(6));
    let output = run(&folder, &["--first", &u64::MAX.to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stderr, b"chuhe: --first: so many games from there on have no numbers\n");
}

#[test]
fn nothing_is_written_over_and_nothing_half_written() {
    let folder = new_folder("selfplay-kept");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("games-seed7-4.chuhe");
    fs::write(&file, "precious").unwrap();
    let output = run(&folder, &[]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    let expected = format!("chuhe: --out: {} exists already; nothing is written over\n", file.display());
    assert_eq!(complaint, expected);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(names(&folder), ["games-seed7-4.chuhe"]);
    // A failing run leaves nothing: two chariots against a bare king are never even.
    let folder = new_folder("selfplay-failed");
    let hopeless = ["--random-plies", "1", "--opening-bound", "0", "--opening-nodes", "1", "--book"];
    let book = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hopeless.epd");
    fs::write(&book, "4k4/9/9/9/9/9/9/R8/R8/3K5 w\n").unwrap();
    let output = run(&folder, &[&hopeless[..], &[book.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.starts_with("chuhe: game ") && complaint.contains("no opening of 1 random plies"), "{complaint}");
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn an_interrupted_run_resumes_to_the_same_bytes() {
    let name = "games-seed7-130.chuhe";
    let more = ["--games", "130", "--nodes", "20"];
    let play = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chuhe"));
        command.args(["selfplay", "--seed", "7", "--hash", "1", "--ply-cap", "60", "--out"]).arg(folder).args(more);
        command
    };
    let folder = new_folder("selfplay-whole");
    let whole = play(&folder).output().unwrap();
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let bytes = fs::read(folder.join(name)).unwrap();
    let digest = |output: &Output| {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        text.lines().last().unwrap().to_owned()
    };
    // A killed run has whole blocks in its partial file, and the beginning of another.
    let folder = new_folder("selfplay-killed");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!(".{name}.1.part")), &bytes[..bytes.len() * 3 / 4]).unwrap();
    // Files of other settings, and those without a head, are nothing to resume.
    fs::write(folder.join(format!(".{name}.2.part")), b"CHU").unwrap();
    let output = play(&folder).output().unwrap();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.status.success() && said == "resumed after 64 games\n", "{said}");
    assert_eq!(digest(&output), digest(&whole));
    assert!(fs::read(folder.join(name)).unwrap() == bytes);
    assert_eq!(names(&folder).len(), 2, "the resumed file is gone: {:?}", names(&folder));
    // Ctrl-C keeps every finished game.
    #[cfg(unix)]
    {
        let folder = new_folder("selfplay-interrupted");
        let output = loop {
            let child = play(&folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            while !folder.exists() || names(&folder).is_empty() {
                std::thread::yield_now();
            }
            let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
            let output = child.wait_with_output().unwrap();
            if !output.status.success() {
                break output;
            }
            // On a busy machine all games may be finished before the signal.
            fs::remove_dir_all(&folder).unwrap();
        };
        let said = String::from_utf8(output.stderr).unwrap();
        let (count, rest) = said.strip_prefix("chuhe: interrupted: ").unwrap().split_once(' ').unwrap();
        let expected = format!("of 130 games are kept in {}; the same command continues\n", folder.display());
        assert_eq!((output.status.code(), rest), (Some(130), expected.as_str()));
        let output = play(&folder).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("resumed after {count} games\n"));
        assert!(fs::read(folder.join(name)).unwrap() == bytes);
        assert_eq!(names(&folder), [name]);
    }
}
