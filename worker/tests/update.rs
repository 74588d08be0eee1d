//! Updates: what is believed, what is tried, and what comes back. The signatures in `data/update` are by a key that is worth
//! nothing; `key.pub` beside is its public half.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use common::{
    coordinator::Coordinator,
    header,
    in_process::Worker,
    process::{PROGRAM, Process, log_of},
};
use testkit::{
    JumpingClock,
    http::{Answer, Listener, Request},
};
use worker::{
    keeper::End,
    status::Doing,
    update::{Source, Start, at_start, ended_well, give_back, install, is_on_trial, judge, works},
    wishes::Wish,
};

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
    works(root, "0.1.0");
    assert!(is_on_trial(root, "9.0.0"), "what the old one shows is nothing of the new one");
    works(root, "9.0.0");
    assert!(!is_on_trial(root, "9.0.0"));
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

/// Its owner may stop it as often as he likes before it has shown anything.
#[test]
fn a_start_that_ends_in_order_is_none_that_failed() {
    let Place { root, program, new, .. } = &place("newer.program");
    install(root, program, new, "0.1.0", "9.0.0").unwrap();
    for _ in 0..8 {
        assert_eq!(at_start(root, program, "9.0.0").unwrap(), Start::Usual);
        ended_well(root, "9.0.0");
    }
    assert!(is_on_trial(root, "9.0.0"));
    assert_eq!(fs::read(program).unwrap(), data("newer.program"));
}

/// Serves a release.
fn releases() -> Listener {
    Listener::start(|mut stream| {
        let Ok((request, _)) = Request::read(&mut stream) else { return };
        let name = format!("/chuhe-worker-{SYSTEM}");
        let file = match request.path.strip_prefix(&name) {
            Some(".release") => "newer.release",
            Some(".release.minisig") => "newer.release.minisig",
            Some("-9.0.0") => "newer.program",
            _ => return,
        };
        let _ = stream.write_all(&Answer::new(200, "application/octet-stream", data(file)).to_bytes());
    })
    .unwrap()
}

/// A worker finds a newer version while it plays; what its owner wants then comes first.
#[test]
fn a_newer_version_goes_on_unless_the_owner_wants_an_end() {
    if worker::update::system() != SYSTEM {
        return;
    }
    for (wish, end, said) in [
        (None, End::Updated, ""),
        (Some(Wish::Finish), End::Stopped, "Finishing the games at hand; once more ends at once."),
        (Some(Wish::Stop), End::Stopped, ""),
    ] {
        let coordinator = Coordinator::new(header(100_000), 400, 100);
        let state = tempfile::tempdir().unwrap();
        let program = state.path().join("chuhe-worker");
        fs::write(&program, "the old one").unwrap();
        let server = releases();
        let updates = Some(Source { key: KEY.to_owned(), url: server.url() });
        let clock = Arc::new(JumpingClock::default());
        let worker = Worker::start_from(&coordinator.url(), state.path(), clock.clone(), updates, |_| {});
        worker.said.wait_for(|snapshot| snapshot.doing == Doing::Playing);
        clock.jump(Duration::from_mins(11));
        worker.said.wait_to_hear("Version 9.0.0 is here; it goes on when the games at hand are finished.");
        assert_eq!(fs::read(&program).unwrap(), data("newer.program"));
        let heard = worker.said.clone();
        if let Some(wish) = wish {
            worker.wishes.add(wish);
        }
        assert_eq!(worker.end(), end, "{wish:?}");
        assert!(heard.lines().contains(said), "{}", heard.lines());
        // Whoever wishes for the first time that it ends lets it finish.
        let played = heard.games();
        assert_eq!(coordinator.state().accepted.len() as u64, played);
        assert!(played > 0 || wish == Some(Wish::Stop));
    }
}

/// A worker that looks for releases and is ended meanwhile is not started again.
#[test]
fn what_is_found_after_the_end_began_changes_nothing() {
    if worker::update::system() != SYSTEM {
        return;
    }
    let coordinator = Coordinator::new(header(100_000), 400, 100);
    let state = tempfile::tempdir().unwrap();
    let program = state.path().join("chuhe-worker");
    fs::write(&program, "the old one").unwrap();
    let server = releases();
    let updates = Some(Source { key: KEY.to_owned(), url: server.url() });
    let clock = Arc::new(JumpingClock::default());
    let worker = Worker::start_from(&coordinator.url(), state.path(), clock.clone(), updates, |_| {});
    worker.said.wait_for(|snapshot| snapshot.doing == Doing::Playing);
    clock.jump(Duration::from_mins(11));
    worker.wishes.add(Wish::Finish);
    assert_eq!(worker.end(), End::Stopped);
}

/// A place with the real program as the newer version, on trial, and a script as the old one, which says that it is there.
struct Trial {
    _folder: tempfile::TempDir,
    state: PathBuf,
    program: PathBuf,
}

fn on_trial(starts: u32) -> Trial {
    let folder = tempfile::tempdir().unwrap();
    let (state, program) = (folder.path().join("state"), folder.path().join("chuhe-worker"));
    fs::create_dir(&state).unwrap();
    fs::copy(PROGRAM, &program).unwrap();
    let old = folder.path().join("chuhe-worker.old");
    fs::write(&old, "#!/bin/sh\necho \"$@\" > \"$CHUHE_STATE/old\"\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let trial = format!("{{\"from\":\"0.0.9\",\"to\":\"{}\",\"starts\":{starts}}}", env!("CARGO_PKG_VERSION"));
    fs::write(state.join("update-trial.json"), trial).unwrap();
    Trial { _folder: folder, state, program }
}

impl Trial {
    /// What the old version was started with, if it was; then the new one is refused.
    fn old(&self) -> Option<String> {
        let words = fs::read_to_string(self.state.join("old")).ok()?;
        let refused = fs::read_to_string(self.state.join("update-refused")).unwrap();
        assert_eq!(refused, concat!(env!("CARGO_PKG_VERSION"), "\n"));
        assert!(!self.state.join("update-trial.json").exists());
        assert!(fs::read_to_string(&self.program).is_ok_and(|text| text.starts_with("#!/bin/sh")));
        Some(words)
    }

    fn is_going_on(&self) -> bool {
        self.state.join("update-trial.json").exists()
    }
}

/// What the old version could read and the new one cannot is the new one's failure.
#[test]
fn a_successor_that_cannot_read_the_settings_gives_the_name_back() {
    let trial = on_trial(0);
    let config = trial.state.join("worker.toml");
    fs::write(&config, "colour = \"red\"\n").unwrap();
    let mut command = Command::new(&trial.program);
    command.args(["run", "--name", "some name"]).env("CHUHE_CONFIG", config).env("CHUHE_STATE", &trial.state);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("This version fails here, and the old one goes on: ") && said.contains("colour"), "{said}");
    assert_eq!(trial.old().as_deref(), Some("run --name some name\n"));
}

#[test]
fn a_successor_that_breaks_off_again_and_again_gives_the_name_back() {
    // Nobody answers: no result is ever taken.
    let coordinator = Coordinator::new(header(200), 0, 1);
    let trial = on_trial(0);
    for _ in 0..3 {
        let asked = coordinator.state().asked;
        let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
        wait_until(&trial.state, || coordinator.state().asked > asked);
        worker.signal("KILL");
        drop(worker);
        assert!(trial.old().is_none() && trial.is_going_on());
    }
    let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
    assert_eq!(worker.end(), Some(0), "{}", log_of(&trial.state));
    assert!(trial.old().is_some());
}

#[test]
fn a_successor_works_when_the_server_has_taken_a_result_of_it() {
    let coordinator = Coordinator::new(header(200), 8, 4);
    let trial = on_trial(2);
    let worker = Process::start_by(Command::new(&trial.program), &coordinator.url(), &trial.state, &[]);
    coordinator.wait_for(8);
    wait_until(&trial.state, || !trial.is_going_on());
    worker.signal("TERM");
    assert_eq!(worker.end(), Some(0), "{}", log_of(&trial.state));
    assert!(trial.old().is_none());
}

fn wait_until(state: &Path, done: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not happen:\n{}", log_of(state));
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
        let mut script = Command::new("sh");
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
